"""Beside a writer that goes on: what moved is no damage, and what is damaged does not move."""

import errno
import os
import shutil
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from build import Example  # noqa: E402
from waymark_reader import (  # noqa: E402
    Closed,
    CorruptManifest,
    CorruptRecord,
    Moving,
    NotStored,
    StoreIoError,
    open_store,
)

TOKENS = [11, 12, 13, 14]


class Live(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.directory)
        Example().write(self.directory)

    def _move(self, times=1):
        """The first record is copied to the end of its segment, and its old place punched."""
        example = Example()
        data = example.files["append-1.seg"]
        place = 20480
        old = 8192
        for _ in range(times):
            data = data.ljust(place, b"\0") + data[old : old + 4096]
            data = data[:old] + bytes(4096) + data[old + 4096 :]
            example.add(
                "RecordMoved", key=example.edits("RowsAdded")[0]["key"], namespaceId=1, kind=1,
                fromSegmentId=1, fromOffsetBytes=old, toSegmentId=1, toOffsetBytes=place,
            )  # fmt: skip
            old, place = place, place + 4096
        # So that the moved record is within its segment.
        example.batches[2] = [e for e in example.batches[2] if e[1].get("segmentId") != 1]
        example.files["append-1.seg"] = data
        example.write(self.directory)

    def test_a_record_that_moved_is_found_at_its_new_place(self):
        with open_store(self.directory) as store:
            want = bytes(store.restore(1, tokens=TOKENS)["k"])
            self._move()
            self.assertEqual(bytes(store.restore(1, tokens=TOKENS)["k"]), want)
            self.assertTrue(store.verify("decode").ok)

    def test_a_boundary_that_was_dropped_is_not_stored_rather_than_damaged(self):
        with open_store(self.directory) as store:
            example = Example()
            example.batches[1] = example.batches[1][:6]
            data = example.files["append-1.seg"]
            example.files["append-1.seg"] = data[:8192] + bytes(4096) + data[12288:]
            example.write(self.directory)
            with self.assertRaises(NotStored):
                store.restore(1, tokens=TOKENS)

    def test_damage_is_damage(self):
        with open_store(self.directory) as store:
            path = os.path.join(self.directory, "append-1.seg")
            with open(path, "r+b") as file:
                file.seek(8192 + 0x140)
                file.write(b"\1")
            with self.assertRaises(CorruptRecord):
                store.restore(1, tokens=TOKENS)

    def test_a_store_that_moves_on_every_try(self):
        with open_store(self.directory, tries=3) as store:
            times = [0]
            refresh = store.refresh

            def moved_again():
                times[0] += 1
                self._move(times[0])
                refresh()
                # Before the next look it moves once more.
                self._move(times[0] + 1)

            store.refresh = moved_again
            path = os.path.join(self.directory, "append-1.seg")
            with open(path, "r+b") as file:
                file.seek(8192)
                file.write(bytes(4096))
            with self.assertRaises(Moving) as caught:
                store.restore(1, tokens=TOKENS)
            self.assertEqual(caught.exception.code, "moving")

    def test_a_manifest_that_was_replaced_while_it_was_opened(self):
        import waymark_reader.store as module

        read = module.read_manifest
        calls = []

        def first_fails(*args):
            calls.append(1)
            if len(calls) == 1:
                raise CorruptManifest("manifest-missing")
            return read(*args)

        module.read_manifest = first_fails
        try:
            with open_store(self.directory) as store:
                self.assertEqual(len(store.points()), 1)
        finally:
            module.read_manifest = read
        self.assertEqual(len(calls), 2)

    def test_an_error_of_the_system_is_no_damage(self):
        failure = OSError(errno.EIO, os.strerror(errno.EIO))
        with open_store(self.directory) as store:
            with mock.patch("os.pread", side_effect=failure):
                with self.assertRaises(StoreIoError) as caught:
                    store.restore(1, tokens=TOKENS)
            self.assertEqual(caught.exception.code, "io")

    def test_closed(self):
        store = open_store(self.directory)
        store.close()
        with self.assertRaises(Closed) as caught:
            store.refresh()
        self.assertEqual(caught.exception.code, "closed")


if __name__ == "__main__":
    unittest.main()
