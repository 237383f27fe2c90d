"""Arbitrary input raises declared errors only, and allocates little. Seeds are fixed.

More rounds: `WAYMARK_FUZZ=20000 python3 -m unittest tests/test_fuzz.py`.
"""

import os
import random
import shutil
import sys
import tempfile
import tracemalloc
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import build  # noqa: E402
from test_format_page import spec_of  # noqa: E402
from waymark_reader import Corruption, WaymarkError, codecs, open_store  # noqa: E402
from waymark_reader.layout import CodecPlan, Layout, parse_identity  # noqa: E402

ROUNDS = int(os.environ.get("WAYMARK_FUZZ", "400"))
INTERESTING = [0, 1, 0x7F, 0x80, 0xFF]


def mutate(rnd, data):
    data = bytearray(data)
    for _ in range(rnd.randint(1, 4)):
        if not data:
            return bytes(data)
        at = rnd.randrange(len(data))
        kind = rnd.randrange(6)
        if kind == 0:
            data[at] ^= 1 << rnd.randrange(8)
        elif kind == 1:
            data[at] = rnd.choice(INTERESTING)
        elif kind == 2:
            width = rnd.choice((2, 4, 8))
            value = rnd.choice((0, 1, -1, 1 << 8 * width - 1, rnd.getrandbits(8 * width)))
            data[at : at + width] = (value % (1 << 8 * width)).to_bytes(width, "little")
        elif kind == 3:
            del data[at : at + rnd.randint(1, 64)]
        elif kind == 4:
            data[at:at] = rnd.randbytes(rnd.randint(1, 64))
        else:
            other = rnd.randrange(len(data))
            data[at : at + 32] = data[other : other + 32]
    return bytes(data)


def mutate_and_seal(rnd, data, frames):
    """Changes the inside of a frame and gives it a fitting checksum, so that more is reached."""
    at, length = rnd.choice(frames)
    data = bytearray(data)
    inner = mutate(rnd, data[at + 12 : at + length])
    inner = inner[: length - 12].ljust(length - 12, b"\0")
    data[at + 12 : at + length] = inner
    if rnd.random() < 0.8:
        data[at + 12 : at + 16] = rnd.choice((data[at + 12 : at + 16], b"\1\0\0\0", b"\2\0\0\0"))
    data[at : at + length] = build.seal(bytes(data[at : at + length]))
    return bytes(data)


class Fuzz(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.directory)
        self.files = build.page.example_files()
        self.files["manifest-1.log"] = self.files["manifest-1.log"][:1680]
        self.frames = {}
        import re

        blocks = build.page.blocks()
        for file, block in build.page.EXAMPLE.items():
            found = re.findall(r"^-- \w+, (\d+) bytes at (\d+)", blocks[block], re.M)
            self.frames[file] = [(int(at), int(length)) for length, at in found]

    def _use(self):
        with open_store(self.directory) as store:
            store.verify("decode")
            for b in store.points():
                store.restore(b.namespace, key=b.key, max_bytes=1 << 20)

    def _round(self, rnd):
        for name, data in self.files.items():
            with open(os.path.join(self.directory, name), "wb") as file:
                file.write(data)
        victim = rnd.choice(list(self.files))
        if rnd.random() < 0.7:
            data = mutate_and_seal(rnd, self.files[victim], self.frames[victim])
        else:
            data = mutate(rnd, self.files[victim])
        if rnd.random() < 0.3:
            os.remove(os.path.join(self.directory, "STATUS"))
        with open(os.path.join(self.directory, victim), "wb") as file:
            file.write(data)
        try:
            self._use()
            return "read"
        except WaymarkError as e:
            return e.code

    def test_stores(self):
        codes = set()
        tracemalloc.start()
        try:
            for seed in range(ROUNDS):
                with self.subTest(seed=seed):
                    codes.add(self._round(random.Random(seed)))
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        self.assertLess(peak, 64 << 20)
        self.assertGreater(len(codes), 15, codes)

    def test_chunks(self):
        for seed in range(ROUNDS * 4):
            rnd = random.Random(seed)
            dtype = rnd.choice(("F32", "BF16", "F16", "F64", "U8"))
            spec = spec_of(dtype, 4, rnd.choice((1, 4, 16, 64)))
            codec = rnd.randrange(6)
            if not codecs.takes(codec, spec):
                continue
            raw = spec.elements * spec.element
            stored = rnd.randbytes(rnd.randrange(raw + 8))
            if codec == codecs.PLANES and rnd.random() < 0.8:
                lines = build.page.named_lines(build.page.blocks()["chunk-PLANES"])
                stored, raw, spec = mutate(rnd, bytes.fromhex(lines["stored"])), 256, spec_of("BF16", 128)
            with self.subTest(seed=seed):
                try:
                    codecs.check_stored(codec, spec, raw, len(stored), False)
                    got = codecs.decode_chunk(codec, spec, stored, raw)
                    self.assertEqual(len(got), raw)
                except WaymarkError:
                    pass

    def test_texts(self):
        texts = [build.page.blocks()[b] for b in ("json-layout", "json-identity", "json-codecs")]
        for seed in range(ROUNDS * 4):
            rnd = random.Random(seed)
            data = mutate(rnd, rnd.choice(texts).encode()).decode("utf-8", "replace")
            for parse in (Layout.parse, parse_identity, CodecPlan.parse):
                with self.subTest(seed=seed):
                    try:
                        parse(data)
                    except Corruption:
                        pass


if __name__ == "__main__":
    unittest.main()
