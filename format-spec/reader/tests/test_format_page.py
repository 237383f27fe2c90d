"""The reader against what the format page says, example by example."""

import os
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import build  # noqa: E402
import page  # noqa: E402
from waymark_reader import codecs, open_store, zstd  # noqa: E402
from waymark_reader import crc32c as crc  # noqa: E402
from waymark_reader.frame import MESSAGES, check_frame, decode  # noqa: E402
from waymark_reader.layout import (  # noqa: E402
    CODECS,
    CodecPlan,
    Layout,
    block_key,
    fingerprint,
    parse_identity,
    root_key,
    tenant_root_key,
)

BLOCKS = page.blocks()


def spec_of(dtype, *shape):
    dims = ",".join(map(str, shape))
    text = (
        '{"block_tokens":1,"tensors":[{"name":"x","dtype":"%s","growth":"fixed","shape":[%s]}]}'
        % (dtype, dims)
    )
    return Layout.parse(text).tensors[0]


class FormatPage(unittest.TestCase):
    def test_crc32c(self):
        stated = int(BLOCKS["crc32c"], 16)
        for function in (crc.crc32c, crc.crc32c_python):
            self.assertEqual(function(b"123456789"), stated)

    def test_tables_of_messages(self):
        tables = page.message_tables()
        self.assertEqual(
            {t: m.name for t, m in MESSAGES.items()}, {t: n for n, (t, _) in tables.items()}
        )
        for name, (template, rows) in tables.items():
            message = MESSAGES[template]
            mine = []
            self._rows(mine, message.fixed, 24, "", "")
            for group, row in message.groups:
                mine.append(("next", f"4 + n × {row.size}", group))
                self._rows(mine, row, 0, "+", group + ".")
            mine += [("next", "4 + n", t) for t in message.texts]
            self.assertEqual(rows, mine, name)

    def _rows(self, out, row, at, sign, prefix):
        for name, kind in row.fields:
            width = int(kind[1:]) if kind[0] == "z" else {
                "n": 8, "id1": 8, "i": 8, "u": 4, "ns": 4, "w": 2, "v": 2, "b": 1, "key": 32, "id": 16,
            }[kind]  # fmt: skip
            if name == "readVersion":
                name, width = "formatVersions", 4
            elif name == "writeVersion":
                continue
            out.append((f"{sign}{at}", str(width), prefix + name))
            at += width

    def test_every_frame_of_the_example(self):
        import re

        for file, block in page.EXAMPLE.items():
            data = page.dump_bytes(BLOCKS[block])
            tag = {"CURRENT": 0, "STATUS": 0, "delta-2.seg": 2}.get(file, 1)
            for name, length, at in re.findall(r"^-- (\w+), (\d+) bytes at (\d+)", BLOCKS[block], re.M):
                at = int(at)
                frame = check_frame(data, at, len(data) - at, tag, 4 << 20, at).require(file, at)
                self.assertEqual(frame.length, int(length))
                message = MESSAGES[frame.template]
                self.assertEqual(message.name, name)
                values = decode(frame, message)
                self.assertEqual(build.frame(frame.template, values, tag), frame.data)

    def test_keys(self):
        want = {k: bytes.fromhex(v) for k, v in page.named_lines(BLOCKS["keys"]).items()}
        layout = Layout.parse(BLOCKS["json-layout"])
        self.assertEqual(layout.json(), BLOCKS["json-layout"].strip())
        plan = CodecPlan.parse(BLOCKS["json-codecs"])
        mine = fingerprint(layout, parse_identity(BLOCKS["json-identity"]), plan)
        self.assertEqual(mine, want["fingerprint"])
        self.assertEqual(root_key(mine), want["root"])
        self.assertEqual(tenant_root_key(mine, bytes(range(16))), want["tenant root"])
        first = block_key(root_key(mine), [11, 12])
        self.assertEqual(first, want["first block"])
        self.assertEqual(block_key(first, [13, 14]), want["second block"])
        self.assertEqual(block_key(root_key(mine), [11, 12], b"lora-7"), want["with extra"])

    def test_sign_diagonal(self):
        words = codecs.sign_words(64)
        lines = page.named_lines(BLOCKS["sign-diagonal"])
        for line in BLOCKS["sign-diagonal"].splitlines():
            parts = line.split()
            if parts[0] == "word":
                self.assertEqual(words[int(parts[1])], int(parts[2], 16))
        signs = "".join("-" if s < 0 else "+" for s in codecs.signs()[:32])
        self.assertEqual(lines["signs"], signs)

    def test_restored_example(self):
        directory = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, directory)
        page.write_example(directory)
        want = page.named_lines(BLOCKS["restored"])
        with open_store(directory) as store:
            self.assertEqual(store.store_id, "00112233445566778899aabbccddeeff")
            report = store.verify("decode")
            self.assertEqual(report.findings, [])
            self.assertEqual((report.boundaries, report.points, report.records), (2, 1, 4))
            got = store.restore(1, tokens=[11, 12, 13, 14])
            self.assertEqual({k: bytes(t).hex() for k, t in got.items()}, want)
            self.assertEqual(got["w"].window_start, 1)
            self.assertEqual(got["w"].sink_rows, 1)
            self.assertEqual(got["k"].shape, (2, 4, 2))

    VECTORS = {
        "BF16": ("F32", 4),
        "INT8": ("F32", 8),
        "RHT_INT8": ("BF16", 16),
        "RHT_INT16": ("F32", 16),
        "PLANES": ("BF16", 128),
    }

    def _vectors(self):
        for name, shape in self.VECTORS.items():
            if name == "PLANES" and not zstd.available():
                continue
            spec = spec_of(*shape)
            lines = page.named_lines(BLOCKS["chunk-" + name])
            raw, stored, decoded = (bytes.fromhex(lines[k]) for k in ("raw", "stored", "decoded"))
            codec = CODECS.index(name)
            self.assertTrue(codecs.takes(codec, spec), name)
            codecs.check_stored(codec, spec, len(raw), len(stored), False)
            got = codecs.decode_chunk(codec, spec, stored, len(raw))
            self.assertEqual(got.hex(), decoded.hex(), name)

    def test_vectors(self):
        self._vectors()

    def test_vectors_without_numpy(self):
        try:
            codecs.use_numpy(False)
            self._vectors()
        finally:
            try:
                codecs.use_numpy(True)
            except ImportError:
                pass


if __name__ == "__main__":
    unittest.main()
