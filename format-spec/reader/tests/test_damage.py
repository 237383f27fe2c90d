"""What the reader says of a store in which one rule is broken."""

import os
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from build import BY_NAME, Example, frame, seal  # noqa: E402
from cases import CASES as BROKEN, NEEDS_ZSTD, patch, reseal  # noqa: E402
from waymark_reader import (  # noqa: E402
    CODES,
    CorruptManifest,
    CorruptRecord,
    InvalidArgument,
    NotRestorable,
    NotStored,
    TooLarge,
    WaymarkError,
    open_store,
    zstd,
)

# Requests, of a store that is well.

CASES = dict(BROKEN)


def case(error, code, action):
    def add(function):
        CASES[function.__name__] = (error, code, function, action)
        return function

    return add


@case(NotStored, "not-stored", "other tokens")
def well(e):
    pass


@case(NotRestorable, "not-restorable", "at 2")
def well_but_no_point(e):
    pass


@case(InvalidArgument, "invalid-argument", "short key")
def well_but_asked_wrongly(e):
    pass


@case(TooLarge, "too-large", "little room")
def well_but_larger_than_wanted(e):
    pass


TOKENS = [11, 12, 13, 14]
SECOND = Example().edits("RowsAdded")[1]["key"]
ACTIONS = {
    "open": lambda s: None,
    "restore": lambda s: s.restore(1, key=SECOND),
    "other tokens": lambda s: s.restore(1, tokens=[1, 2, 3, 4]),
    "at 2": lambda s: s.restore(1, tokens=TOKENS, at=2),
    "short key": lambda s: s.restore(1, key="zz"),
    "little room": lambda s: s.restore(1, tokens=TOKENS, max_bytes=10),
}


class Damage(unittest.TestCase):
    def _write(self, change):
        directory = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, directory)
        example = Example()
        change(example)
        example.write(directory)
        return directory

    def test_every_case(self):
        for name, (error, code, change, action) in CASES.items():
            if name in NEEDS_ZSTD and not zstd.available():
                continue
            with self.subTest(name):
                directory = self._write(change)
                if action == "verify":
                    with open_store(directory) as store:
                        codes = [f.code for f in store.verify("decode").findings]
                    self.assertIn(code, codes)
                    continue
                with self.assertRaises(WaymarkError) as caught:
                    with open_store(directory) as store:
                        ACTIONS[action](store)
                self.assertEqual(caught.exception.code, code, str(caught.exception))
                self.assertIs(type(caught.exception), error, str(caught.exception))
                if action == "restore" and error is CorruptRecord:
                    with open_store(directory) as store:
                        report = store.verify("decode")
                    self.assertIn(code, [f.code for f in report.findings])
                    self.assertEqual(report.lost, [(1, "70d5977f", 4)])

    def test_every_code_has_a_case(self):
        tested = {code for _, code, _, _ in CASES.values()}
        # Tested elsewhere, each with its own file.
        elsewhere = {"missing-extra", "moving", "io", "closed"}
        self.assertEqual(set(CODES) - tested - elsewhere, set())

    def test_the_unchanged_example_is_well(self):
        with open_store(self._write(lambda e: None)) as store:
            self.assertTrue(store.verify("decode").ok)
            self.assertEqual(store.restore(1, tokens=TOKENS).tokens, 4)

    def test_skippable_edits_are_counted_and_skipped(self):
        def change(e):
            e.batches[1].append((0x8000, {}))
            e.batches[1].append((0xFFFF, {}))

        with open_store(self._write(change)) as store:
            self.assertEqual(len(store.boundaries()), 2)

    def test_newer_write_version_opens(self):
        def change(e):
            e.header["writeVersion"] = 2

        with open_store(self._write(change)) as store:
            self.assertTrue(store.read_only_for_writers)

    def test_a_delta_outlives_its_point(self):
        def change(e):
            key = e.edits("RowsAdded")[1]["key"]
            e.add("PointDropped", key=key, namespaceId=1, reason=2, deltaToo=0)
            again = dict(e.edits("PointAdded")[0], coveredFrom=4)
            again["records"] = again["records"][1:]
            e.add("PointAdded", **again)

        with open_store(self._write(change)) as store:
            got = store.restore(1, tokens=TOKENS)
            self.assertEqual(bytes(got["w"])[-4:].hex(), "0c400d40")

    def test_a_delta_takes_the_place_of_a_kept_one(self):
        def change(e):
            point = e.edits("PointAdded")[0]
            e.add("PointDropped", key=point["key"], namespaceId=1, reason=2, deltaToo=0)
            e.add("PointAdded", **point)

        with open_store(self._write(change)) as store:
            got = store.restore(1, tokens=TOKENS)
            self.assertEqual(bytes(got["w"])[-4:].hex(), "0c400d40")


class Tails(unittest.TestCase):
    """Where a manifest's content ends, when STATUS does not say."""

    def _open(self, data):
        directory = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, directory)
        example = Example()
        example.rebuild_log = False
        del example.files["STATUS"]
        example.files["manifest-1.log"] = data
        example.write(directory)
        return open_store(directory)

    def test_clean(self):
        with self._open(Example().files["manifest-1.log"]) as store:
            self.assertEqual((store.tail, len(store.boundaries())), ("clean", 2))

    def test_a_batch_without_mark_does_not_count(self):
        log = Example().log()
        edit = frame(BY_NAME["NamespaceDropped"], {"namespaceId": 1}, 1)
        with self._open(log + edit) as store:
            self.assertEqual((store.tail, len(store.boundaries())), ("torn", 2))

    def test_what_no_mark_behind_the_hole_attests_is_torn(self):
        log = bytearray(Example().log())
        # The marks of the last two batches attest what is before them: cut these off too.
        end = 1440
        log[end - 20] ^= 1
        with self._open(bytes(log[:end])) as store:
            self.assertEqual((store.tail, len(store.boundaries())), ("torn", 0))

    def test_what_a_mark_behind_the_hole_attests_is_damage(self):
        log = bytearray(Example().log())
        log[1000] ^= 1
        with self.assertRaises(CorruptManifest) as caught:
            self._open(bytes(log))
        self.assertEqual(caught.exception.code, "frame-checksum")
        self.assertEqual(caught.exception.offset, 888)

    def test_cut_at_every_byte(self):
        """Of a prefix of a manifest whatever is not attested is torn, and the rest is the state."""
        log = Example().log()
        for end in range(176, len(log), 5):
            with self._open(log[:end]) as store:
                self.assertIn(len(store.boundaries()), (0, 2))

    def test_status_of_another_store_is_as_good_as_none(self):
        example = Example()
        patch(example, "STATUS", 24, b"\0")
        reseal(example, "STATUS", 0, 78)
        patch(example, "STATUS", 48, b"\xff\xff")
        directory = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, directory)
        example.rebuild_log = False
        example.write(directory)
        with open_store(directory) as store:
            self.assertEqual(store.tail, "clean")


if __name__ == "__main__":
    unittest.main()
