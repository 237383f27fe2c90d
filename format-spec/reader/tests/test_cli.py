"""The command line: what it prints, and its exit codes."""

import contextlib
import io
import json
import os
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import build  # noqa: E402
from waymark_reader.cli import main  # noqa: E402


class Cli(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.directory)
        self.path = os.path.join(self.directory, "store")
        build.Example().write(self.path)

    def _run(self, *args):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main([args[0], self.path, *args[1:]])
        return code, out.getvalue(), err.getvalue()

    def test_ls(self):
        code, out, _ = self._run("ls")
        self.assertEqual(code, 0)
        self.assertIn("70d5977f", out)
        self.assertNotIn("70d5977fe5db2cc7", out)
        code, out, _ = self._run("ls", "--json", "--keys")
        self.assertIn("70d5977fe5db2cc7", out)
        self.assertEqual(json.loads(out)["namespaces"][0]["boundaries"][1]["tokens"], 4)

    def test_verify(self):
        code, out, _ = self._run("verify", "--json", "--level", "decode")
        self.assertEqual((code, json.loads(out)["ok"]), (0, True))
        with open(os.path.join(self.path, "append-1.seg"), "r+b") as file:
            file.seek(8192 + 0x140)
            file.write(b"\1")
        code, out, _ = self._run("verify")
        self.assertEqual(code, 1)
        self.assertIn("chunk-checksum", out)
        self.assertEqual(self._run("verify", "--level", "structure")[0], 0)

    def test_restore(self):
        tokens = os.path.join(self.directory, "tokens.json")
        with open(tokens, "w", encoding="utf-8") as file:
            file.write("[11, 12, 13, 14]")
        target = os.path.join(self.directory, "out")
        code, out, _ = self._run("restore", "--tokens", tokens, "--out", target, "--json")
        self.assertEqual(code, 0)
        got = json.loads(out)
        self.assertEqual(got["tensors"][1]["first_row"], 1)
        with open(os.path.join(target, "1.bin"), "rb") as file:
            self.assertEqual(file.read().hex(), "0040014004400540084009400c400d40")
        self.assertEqual(self._run("restore", "--key", "70d5", "--tensor", "s")[0], 0)
        self.assertEqual(self._run("restore", "--key", "70d5", "--at", "2")[0], 3)
        self.assertEqual(self._run("restore", "--key", "ff")[0], 2)
        self.assertEqual(self._run("restore")[0], 2)

    def test_dump(self):
        code, out, _ = self._run("dump")
        self.assertEqual(code, 0)
        self.assertIn("NamespaceAdded", out)
        path = os.path.join(self.path, "manifest-1.log")
        with open(path, "r+b") as file:
            file.seek(950)
            file.write(b"\xff")
        code, out, _ = self._run("dump", "--json")
        self.assertEqual((code, json.loads(out)["ok"]), (1, False))

    def test_no_store(self):
        os.remove(os.path.join(self.path, "CURRENT"))
        code, _, err = self._run("ls")
        self.assertEqual(code, 3)
        self.assertIn("no-store", err)
        code, out, _ = self._run("ls", "--json")
        self.assertEqual(json.loads(out)["error"]["code"], "no-store")


if __name__ == "__main__":
    unittest.main()
