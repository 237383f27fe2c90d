"""Every vector, and that they are what their generator makes, and do not change."""

import os
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import vectors  # noqa: E402
from waymark_reader import CODES, MissingExtra, open_store, zstd  # noqa: E402
from waymark_reader.frame import READ_VERSION  # noqa: E402

#: Codes that are not about what is stored.
NOT_STORED = {
    "moving", "not-stored", "not-restorable", "missing-extra", "too-large", "invalid-argument",
    "io", "closed",
}  # fmt: skip


class Vectors(unittest.TestCase):
    def setUp(self):
        self.parent = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.parent)

    def _store(self, name):
        directory = os.path.join(self.parent, name.replace("/", "-"))
        vectors.write_files(vectors.files(vectors.load(name)), directory)
        return directory

    def test_stores_that_are_well(self):
        seen = 0
        for name in vectors.names():
            if not name.startswith("valid/"):
                continue
            with self.subTest(name):
                seen += 1
                expect = vectors.load(name)["expect"]
                directory = self._store(name)
                salts = {
                    point["chain"][0]: point["salt"]
                    for space in expect["namespaces"]
                    for point in space["points"]
                    if "salt" in point
                }
                with open_store(directory) as store:
                    by_root = {
                        b.parent_key.hex(): salts[b.key.hex()]
                        for b in store.boundaries()
                        if b.key.hex() in salts
                    }
                    try:
                        said = vectors.described(store, by_root)
                        damage = [
                            str(f) for f in store.verify("decode").findings if f.severity == "damage"
                        ]
                    except MissingExtra:
                        continue
                self.assertEqual(said, expect)
                self.assertEqual(damage, [])
        self.assertGreater(seen, 30)

    def test_stores_that_are_not(self):
        seen = 0
        for name in vectors.names():
            if not name.startswith("invalid/"):
                continue
            with self.subTest(name):
                seen += 1
                expect = vectors.load(name)["expect"]
                directory = self._store(name)
                if expect["when"] == "verify":
                    found = [f for f in vectors.findings(directory) if f.code == expect["rule"]]
                    self.assertTrue(found)
                    self.assertEqual(found[0].severity, expect["error"])
                    found = found[0]
                else:
                    found = vectors.failure(directory, expect)
                    if isinstance(found, MissingExtra):
                        continue
                    self.assertIsNotNone(found)
                    said = (vectors.ERRORS.get(type(found)), found.code)
                    self.assertEqual(said, (expect["error"], expect["rule"]), str(found))
                where = (found.file, found.offset)
                self.assertEqual(where, (expect.get("file"), expect.get("offset")), str(found))
        self.assertGreater(seen, 100)

    def test_every_rule_has_a_store_that_breaks_it(self):
        rules = {
            vectors.load(name)["expect"]["rule"]
            for name in vectors.names()
            if name.startswith("invalid/")
        }
        self.assertEqual(set(CODES) - rules - NOT_STORED, set())

    @unittest.skipUnless(zstd.available(), "no zstd: install waymark-reader[zstd]")
    def test_they_are_what_their_generator_makes(self):
        made = vectors.made()
        kept = [n for n in vectors.names() if not n.startswith("valid/release-")]
        self.assertEqual(sorted(made), sorted(kept))
        for name, text in made.items():
            with open(os.path.join(vectors.ROOT, name + ".json"), encoding="utf-8") as file:
                self.assertEqual(file.read(), text, name)

    def test_they_change_only_with_the_version_of_the_format(self):
        self.assertEqual(
            vectors.recorded().get(READ_VERSION),
            vectors.digest(),
            "what a reader of this version has to say has changed: raise the format's version",
        )


if __name__ == "__main__":
    unittest.main()
