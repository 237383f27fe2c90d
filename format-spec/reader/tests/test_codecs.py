"""Both ways of decoding give the same bits; checksums too."""

import math
import os
import random
import struct
import sys
import tracemalloc
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from test_format_page import spec_of  # noqa: E402  (also sets the path)
from waymark_reader import Corruption, MissingExtra, codecs, zstd  # noqa: E402
from waymark_reader import crc32c as crc  # noqa: E402

try:
    import numpy
except ImportError:
    numpy = None


class Codecs(unittest.TestCase):
    @unittest.skipUnless(numpy, "no numpy")
    def test_numpy_and_plain_python_give_the_same_bits(self):
        rnd = random.Random(7)
        for codec in (codecs.INT8, codecs.RHT_INT8, codecs.RHT_INT16):
            for dtype in ("F32", "BF16", "F16"):
                for width in (2, 4, 7, 8, 16, 128, 512, 1024, 4096):
                    spec = spec_of(dtype, 4, width)
                    if not codecs.takes(codec, spec):
                        continue
                    stored = self._stored(rnd, codec, width, rows=4)
                    raw = 4 * width * spec.element
                    codecs.check_stored(codec, spec, raw, len(stored), False)
                    one = codecs.decode_chunk(codec, spec, stored, raw)
                    try:
                        codecs.use_numpy(False)
                        two = codecs.decode_chunk(codec, spec, stored, raw)
                    finally:
                        codecs.use_numpy(True)
                    self.assertEqual(one, two, (codec, dtype, width))

    def _stored(self, rnd, codec, width, rows):
        # Scales from the smallest to the largest, so that F16 sees denormals and its limit.
        scales = [0.0] + [math.ldexp(1 + rnd.random(), rnd.choice((-112, -30, -8, 0, 20, 105)))
                          for _ in range(rows - 1)]  # fmt: skip
        most = 32767 if codec == codecs.RHT_INT16 else 127
        values = [rnd.randint(-most - 1, most) for _ in range(rows * width)]
        kind = "h" if codec == codecs.RHT_INT16 else "b"
        return struct.pack(f"<{rows}f{rows * width}{kind}", *scales, *values)

    def test_which_codec_takes_which_tensor(self):
        cases = [
            (codecs.RHT_INT16, "F32", 4, True), (codecs.RHT_INT16, "F32", 2, False),
            (codecs.RHT_INT16, "BF16", 64, False), (codecs.RHT_INT8, "BF16", 4, False),
            (codecs.RHT_INT8, "BF16", 8, True), (codecs.INT8, "F16", 5, True),
            (codecs.INT8, "F16", 4, False), (codecs.INT8, "F32", 2, True),
            (codecs.INT8, "F32", 1, False), (codecs.RHT_INT8, "F32", 8192, False),
            (codecs.RHT_INT8, "F32", 4096, True), (codecs.BF16, "BF16", 8, False),
            (codecs.INT8, "F32", 1 << 18, True), (codecs.INT8, "F32", (1 << 18) + 1, False),
            (codecs.INT8, "F64", 8, False), (codecs.PLANES, "BOOL", 1, True),
        ]  # fmt: skip
        for codec, dtype, width, want in cases:
            self.assertIs(codecs.takes(codec, spec_of(dtype, width)), want, (codec, dtype, width))

    def test_scales_out_of_range(self):
        spec = spec_of("F32", 8)
        for scale in (-1.0, math.inf, math.nan, 2.0**-113, 2.0**107):
            stored = struct.pack("<f8b", scale, *range(8))
            for on in (False, True) if numpy else (False,):
                codecs.use_numpy(on)
                with self.assertRaises(Corruption) as caught:
                    codecs.decode_chunk(codecs.INT8, spec, stored, 32)
                self.assertEqual(caught.exception.code, "codec-scale")

    def test_planes_of_impossible_lengths(self):
        spec = spec_of("BF16", 64)
        for lengths in ((0, 64), (65, 64), (64, 63), (1 << 31, 1)):
            stored = struct.pack("<2I", *lengths) + bytes(100)
            with self.assertRaises(Corruption) as caught:
                codecs.decode_chunk(codecs.PLANES, spec, stored, 128)
            self.assertEqual(caught.exception.code, "codec-planes")

    def test_turning_back(self):
        rnd = random.Random(3)
        for dtype, e in (("F16", 2), ("F32", 4), ("F64", 8)):
            raw = rnd.randbytes(64 * e)
            turned = bytearray()
            for at in range(0, len(raw), e):
                v = int.from_bytes(raw[at : at + e], "little")
                v = (v << 1 | v >> 8 * e - 1) & (1 << 8 * e) - 1
                turned += v.to_bytes(e, "little")
            planes = b"".join(turned[k::e] for k in range(e))
            stored = struct.pack(f"<{e}I", *[64] * e) + planes
            self.assertEqual(codecs.decode_chunk(codecs.PLANES, spec_of(dtype, 64), stored, 64 * e), raw)

    def test_zstd_frames(self):
        self.assertIsNone(zstd.content_size(b"\x50\x2a\x4d\x18\0\0\0\0"))  # skippable
        one = bytes.fromhex("28b52ffd2080450000107f7f01003b0558")
        self.assertEqual(zstd.content_size(one), 128)
        if not zstd.available():
            return
        self.assertEqual(len(zstd.decompress(one, 128)), 128)
        for bad, size in ((one + one, 128), (one + b"\0", 128), (one[:-1], 128), (one, 127),
                          (b"\0" + one[1:], 128)):  # fmt: skip
            with self.assertRaises(Corruption) as caught:
                zstd.decompress(bad, size)
            self.assertEqual(caught.exception.code, "codec-zstd")

    @unittest.skipUnless(zstd.available(), "no zstd")
    def test_a_frame_that_holds_more_than_it_states(self):
        # 1 MiB stated, and 4,000 blocks that repeat one byte 128 KiB times.
        size = 1 << 20
        block = (1 << 1 | (128 << 10) << 3).to_bytes(3, "little") + b"x"
        last = (1 << 1 | 1 | (128 << 10) << 3).to_bytes(3, "little") + b"x"
        frame = b"\x28\xb5\x2f\xfd\x80\x50" + struct.pack("<I", size) + block * 4000 + last
        self.assertEqual(zstd.content_size(frame), size)
        tracemalloc.start()
        try:
            with self.assertRaises(Corruption):
                zstd.decompress(frame, size)
            self.assertLess(tracemalloc.get_traced_memory()[1], 8 << 20)
        finally:
            tracemalloc.stop()

    def test_without_zstd_the_extra_is_named(self):
        before, available = zstd._decoder, zstd.available
        try:
            zstd._decoder, zstd.available = None, lambda: False
            with self.assertRaises(MissingExtra) as caught:
                zstd.decompress(bytes.fromhex("28b52ffd2080450000107f7f01003b0558"), 128)
            self.assertIn("waymark-reader[zstd]", str(caught.exception))
        finally:
            zstd._decoder, zstd.available = before, available

    @unittest.skipUnless(numpy, "no numpy")
    def test_checksums_agree(self):
        rnd = random.Random(11)
        data = rnd.randbytes(100_003)
        for n in (0, 1, 7, 8, 9, 8191, 8192, 8193, 16384, 65536, 100_003):
            want = crc.crc32c_python(data[:n])
            self.assertEqual(crc.crc32c_numpy(data[:n]), want, n)
            self.assertEqual(crc.crc32c(data[:n]), want, n)


if __name__ == "__main__":
    unittest.main()
