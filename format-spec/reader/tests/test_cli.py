"""The command line: what it prints, and its exit codes."""

import contextlib
import io
import json
import os
import shutil
import subprocess
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

    def test_the_store_is_known_by_one_id(self):
        shown = json.loads(self._run("ls", "--json")[1])["store"]
        for keys in ((), ("--keys",)):
            out = json.loads(self._run("dump", "--json", *keys)[1])
            self.assertEqual(out["current"]["store_id"], shown)
            self.assertEqual(out["status"]["store_id"], shown)

    def test_a_digit_that_is_no_number_is_no_namespace(self):
        code, _, err = self._run("restore", "--namespace", "\u00b2", "--key", "70")
        self.assertEqual(code, 3)
        self.assertIn("waymark_reader:", err)

    def test_a_reader_of_the_output_may_stop(self):
        command = [sys.executable, "-m", "waymark_reader", "dump", self.path]
        root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        out, into = os.pipe()
        os.close(out)
        done = subprocess.run(command, cwd=root, stdout=into, stderr=subprocess.PIPE, check=False)
        os.close(into)
        self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_what_is_no_regular_file_is_missing(self):
        for name in ("append-1.seg", "delta-2.seg", "STATUS"):
            for kind in ("link", "directory", "loop", "pipe"):
                path = os.path.join(self.path, name)
                kept = os.path.join(self.directory, "kept")
                os.rename(path, kept)
                if kind == "link":
                    os.symlink(kept, path)
                elif kind == "loop":
                    os.symlink(path, path)
                elif kind == "directory":
                    os.mkdir(path)
                else:
                    os.mkfifo(path)
                code, out, _ = self._run("verify", "--json")
                with self.subTest(name=name, kind=kind):
                    self.assertEqual(code, 0 if name == "STATUS" else 1)
                    self.assertIs(json.loads(out)["ok"], name == "STATUS")
                os.rmdir(path) if kind == "directory" else os.remove(path)
                os.rename(kept, path)

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
