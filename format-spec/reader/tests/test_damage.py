"""One store for each rule that can be broken, and what the reader calls it."""

import os
import shutil
import struct
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from build import BY_NAME, Example, frame, seal  # noqa: E402
from waymark_reader import (  # noqa: E402
    CODES,
    CorruptCurrent,
    CorruptManifest,
    CorruptRecord,
    InvalidArgument,
    NotAStore,
    NotRestorable,
    NotStored,
    TooLarge,
    UnsupportedFormat,
    WaymarkError,
    open_store,
)
from waymark_reader.crc32c import crc32c  # noqa: E402

KEY = bytes(range(32))
PLACE = {"segmentId": 1, "offsetBytes": 8192, "lengthBytes": 388}

#: Cases: name -> (exception, code, how the example is changed, what is then done).
CASES = {}


def case(error, code, action="open"):
    def add(function):
        CASES[function.__name__] = (error, code, function, action)
        return function

    return add


def patch(example, file, at, data):
    old = example.files[file]
    example.files[file] = old[:at] + data + old[at + len(data) :]


def reseal(example, file, at, length):
    old = example.files[file]
    example.files[file] = old[:at] + seal(old[at : at + length]) + old[at + length :]


# CURRENT.


@case(NotAStore, "no-store")
def no_current(e):
    del e.files["CURRENT"]


@case(CorruptCurrent, "frame-torn")
def current_cut_in_its_header(e):
    e.files["CURRENT"] = e.files["CURRENT"][:20]


@case(CorruptCurrent, "frame-torn")
def current_cut_in_its_message(e):
    e.files["CURRENT"] = e.files["CURRENT"][:50]


@case(CorruptCurrent, "frame-empty")
def current_of_zeros(e):
    e.files["CURRENT"] = bytes(56)


@case(CorruptCurrent, "frame-magic")
def current_with_another_magic(e):
    patch(e, "CURRENT", 0, b"WMRL")


@case(CorruptCurrent, "frame-length")
def current_with_a_length_below_a_header(e):
    patch(e, "CURRENT", 4, struct.pack("<I", 23))


@case(CorruptCurrent, "frame-length")
def current_with_a_length_above_the_most(e):
    patch(e, "CURRENT", 4, struct.pack("<I", 4097))


@case(CorruptCurrent, "frame-checksum")
def current_with_a_flipped_bit(e):
    patch(e, "CURRENT", 40, b"\3")


@case(CorruptCurrent, "frame-tag")
def current_with_a_tag(e):
    patch(e, "CURRENT", 12, b"\1")
    reseal(e, "CURRENT", 0, 56)


@case(CorruptCurrent, "frame-schema")
def current_of_another_schema(e):
    patch(e, "CURRENT", 20, b"\2")
    reseal(e, "CURRENT", 0, 56)


@case(CorruptCurrent, "frame-schema")
def current_of_version_0(e):
    patch(e, "CURRENT", 22, b"\0")
    reseal(e, "CURRENT", 0, 56)


@case(CorruptCurrent, "frame-block-length")
def current_with_a_fixed_part_beyond_its_frame(e):
    patch(e, "CURRENT", 16, b"\x21")
    reseal(e, "CURRENT", 0, 56)


@case(CorruptCurrent, "message-length")
def current_with_a_short_fixed_part(e):
    patch(e, "CURRENT", 16, b"\x1f")
    reseal(e, "CURRENT", 0, 56)


@case(CorruptCurrent, "frame-template")
def current_with_another_message(e):
    patch(e, "CURRENT", 18, b"\x0b")
    reseal(e, "CURRENT", 0, 56)


@case(CorruptCurrent, "reserved")
def current_with_reserved_bytes(e):
    patch(e, "CURRENT", 52, b"\1")
    reseal(e, "CURRENT", 0, 56)


@case(CorruptCurrent, "current-size")
def current_with_more_behind(e):
    e.files["CURRENT"] += b"\0"


@case(UnsupportedFormat, "newer-read-version")
def current_of_a_newer_read_version(e):
    # Even with reserved bytes set, which only the newer version may understand.
    patch(e, "CURRENT", 48, b"\2\0\2\0\1")
    reseal(e, "CURRENT", 0, 56)


# The manifest.


@case(CorruptManifest, "manifest-missing")
def manifest_missing(e):
    e.rebuild_log = False
    del e.files["manifest-1.log"]


@case(CorruptManifest, "manifest-short")
def manifest_shorter_than_published(e):
    e.rebuild_log = False
    e.files["manifest-1.log"] = e.files["manifest-1.log"][:1600]


@case(CorruptManifest, "manifest-short")
def published_length_inside_a_batch(e):
    e.status_length = 1392


@case(CorruptManifest, "frame-checksum")
def manifest_with_a_flipped_bit(e):
    e.after = lambda data: data.__setitem__(950, data[950] ^ 1)


@case(CorruptManifest, "frame-padding")
def manifest_with_padding_that_is_not_zero(e):
    # Behind NamespaceAdded, 426 bytes at 176.
    e.after = lambda data: data.__setitem__(176 + 426, 1)


@case(UnsupportedFormat, "newer-read-version")
def manifest_of_a_newer_read_version(e):
    e.header["readVersion"] = 2


@case(CorruptManifest, "manifest-header")
def manifest_of_another_store(e):
    e.header["storeId"] = bytes(16)


@case(CorruptManifest, "manifest-header")
def manifest_with_another_id(e):
    e.header["manifestId"] = 2


@case(CorruptManifest, "manifest-no-checkpoint")
def manifest_without_checkpoint(e):
    e.batches[0].clear()


@case(CorruptManifest, "manifest-second-checkpoint")
def manifest_with_two_checkpoints(e):
    e.batches[1].append(e.batches[0][0])


@case(CorruptManifest, "manifest-checkpoint-count")
def checkpoint_with_another_count(e):
    e.edits("CheckpointEnd")[0]["editCount"] = 1


@case(CorruptManifest, "batch-mark")
def mark_with_another_count(e):
    e.mark = lambda i, m: m.update(editCount=m["editCount"] + 1)


@case(CorruptManifest, "batch-mark")
def mark_that_stands_elsewhere(e):
    e.mark = lambda i, m: m.update(offsetBytes=m["offsetBytes"] + 8)


@case(CorruptManifest, "batch-mark")
def mark_that_attests_itself(e):
    e.mark = lambda i, m: m.update(durableLengthBytes=m["offsetBytes"] if i == 1 else 0)


@case(CorruptManifest, "batch-mark")
def mark_that_attests_less_than_the_one_before(e):
    e.mark = lambda i, m: m.update(durableLengthBytes=176 if i == 1 else 64 if i == 2 else 0)


@case(CorruptManifest, "batch-size")
def batch_that_goes_on_after_a_mebibyte(e):
    many = {"boundaries": [{"key": KEY, "sequence": 1, "namespaceId": 1}] * 24000}
    e.batches[1] += [(BY_NAME["Touched"], many), (BY_NAME["BudgetSpent"], {})]


@case(CorruptManifest, "edit-template")
def status_among_the_edits(e):
    e.add("Status", storeId=bytes(16), counters="{}")


@case(UnsupportedFormat, "unknown-edit")
def edit_that_is_not_known(e):
    e.batches[1].append((0x7FFF, {}))


@case(CorruptManifest, "message-length")
def edit_longer_than_its_version(e):
    e.after = lambda data: None
    e.batches[1].append((BY_NAME["ChainReleased"], {"namespaceId": 1, "name": "x"}))
    log = e.log()
    e.rebuild_log = False
    # The text's length is cut, and its byte is left over.
    at = log.rfind(b"\1\0\0\0x")
    data = bytearray(log)
    data[at] = 0
    start = data.rfind(b"WMRK", 0, at)
    data[start : start + 37] = seal(data[start : start + 37])
    e.files["manifest-1.log"] = bytes(data)
    patch(e, "STATUS", 48, struct.pack("<Q", len(data)))
    reseal(e, "STATUS", 0, 78)


@case(CorruptManifest, "message-truncated")
def text_longer_than_its_frame(e):
    e.batches[1].append((BY_NAME["ChainReleased"], {"namespaceId": 1, "name": "x"}))
    data = bytearray(e.log())
    e.rebuild_log = False
    at = data.rfind(b"\1\0\0\0x")
    data[at : at + 4] = b"\xff\xff\xff\xff"
    start = data.rfind(b"WMRK", 0, at)
    data[start : start + 37] = seal(data[start : start + 37])
    e.files["manifest-1.log"] = bytes(data)
    patch(e, "STATUS", 48, struct.pack("<Q", len(data)))
    reseal(e, "STATUS", 0, 78)


@case(CorruptManifest, "group-count")
def group_of_too_many_entries(e):
    many = {"boundaries": [{"key": KEY, "sequence": 1, "namespaceId": 1}] * 65535}
    e.batches[1].append((BY_NAME["Touched"], many))


@case(CorruptManifest, "text-utf8")
def name_that_is_not_utf8(e):
    e.add("ChainReleased", namespaceId=1, name=b"\xed\xa0\x80")


@case(CorruptManifest, "reserved")
def edit_with_reserved_bytes(e):
    e.add("NamespaceDropped", namespaceId=1, reserved=b"\0\0\0\1")


@case(CorruptManifest, "number-range")
def namespace_0(e):
    e.add("ChainReleased", namespaceId=0, name="x")


@case(CorruptManifest, "number-range")
def number_of_64_bits(e):
    e.add("BudgetSpent", epochDay=-1, writtenBytes=1 << 63)


@case(CorruptManifest, "number-range")
def record_off_the_grid(e):
    e.edits("RowsAdded")[0]["records"][0]["offsetBytes"] += 64


@case(CorruptManifest, "number-range")
def record_without_bytes(e):
    e.edits("RowsAdded")[0]["records"][0]["lengthBytes"] = 0


@case(CorruptManifest, "number-range")
def boundary_without_tokens(e):
    e.edits("RowsAdded")[0]["tokenTo"] = 0


@case(CorruptManifest, "number-range")
def covered_from_beyond_the_boundary(e):
    e.edits("PointAdded")[0]["coveredFrom"] = 5


@case(CorruptManifest, "number-range")
def footer_beyond_the_end(e):
    e.edits("SegmentSealed")[0]["footerOffsetBytes"] = 1 << 20


@case(CorruptManifest, "code-unknown")
def unknown_policy(e):
    e.edits("SessionOpened")[0]["policy"] = 5


@case(CorruptManifest, "code-unknown")
def unknown_outcome(e):
    e.edits("SessionClosed")[0]["outcome"] = 0


@case(CorruptManifest, "code-unknown")
def unknown_segment_kind(e):
    e.edits("SegmentCreated")[0]["kind"] = 3


@case(CorruptManifest, "code-unknown")
def unknown_reason(e):
    key = e.edits("RowsAdded")[1]["key"]
    e.add("PointDropped", key=key, namespaceId=1, reason=7, deltaToo=0)


@case(CorruptManifest, "code-unknown")
def state_before_delta(e):
    e.edits("PointAdded")[0]["records"].reverse()


@case(CorruptManifest, "namespace-exists")
def namespace_twice(e):
    e.add("NamespaceAdded", **e.edits("NamespaceAdded")[0])


@case(CorruptManifest, "namespace-unknown")
def rows_in_no_namespace(e):
    e.edits("RowsAdded")[0]["namespaceId"] = 9


@case(CorruptManifest, "namespace-not-empty")
def namespace_dropped_with_boundaries(e):
    e.add("NamespaceDropped", namespaceId=1)


@case(CorruptManifest, "namespace-text")
def layout_with_an_unknown_field(e):
    ns = e.edits("NamespaceAdded")[0]
    ns["layout"] = ns["layout"].replace('"dtype"', '"x":1,"dtype"', 1)


@case(CorruptManifest, "namespace-text")
def layout_nested_too_deep(e):
    e.edits("NamespaceAdded")[0]["layout"] = "[" * 100000


@case(CorruptManifest, "namespace-text")
def layout_too_large(e):
    ns = e.edits("NamespaceAdded")[0]
    ns["layout"] = ns["layout"].replace("[2,2]", "[4611686018427387904,4]")


@case(CorruptManifest, "namespace-text")
def layout_with_a_long_number(e):
    ns = e.edits("NamespaceAdded")[0]
    ns["layout"] = ns["layout"].replace("[2,2]", "[" + "9" * 5000 + "]")


@case(CorruptManifest, "namespace-text")
def identity_of_numbers(e):
    e.edits("NamespaceAdded")[0]["identity"] = '{"a":1}'


@case(CorruptManifest, "namespace-text")
def unknown_codec(e):
    ns = e.edits("NamespaceAdded")[0]
    ns["codecs"] = ns["codecs"].replace("BF16", "BF17")


@case(CorruptManifest, "segment-exists")
def segment_twice(e):
    e.add("SegmentCreated", segmentId=1, creationSequence=1, kind=1)


@case(CorruptManifest, "segment-unknown")
def record_in_no_segment(e):
    e.edits("RowsAdded")[0]["records"][0]["segmentId"] = 9


@case(CorruptManifest, "segment-in-use")
def segment_removed_with_records(e):
    e.add("SegmentRemoved", segmentId=1)


@case(CorruptManifest, "segment-of-other-kind")
def rows_in_a_delta_segment(e):
    e.edits("RowsAdded")[0]["records"][0]["segmentId"] = 2


@case(CorruptManifest, "boundary-exists")
def boundary_twice(e):
    e.add("RowsAdded", **e.edits("RowsAdded")[0])


@case(CorruptManifest, "boundary-unknown")
def point_without_boundary(e):
    e.edits("PointAdded")[0]["key"] = KEY


@case(CorruptManifest, "boundary-unknown")
def root_kept(e):
    e.add("ChainKept", key=e.edits("RowsAdded")[0]["parentKey"], namespaceId=1, name="x")


@case(CorruptManifest, "boundary-parent")
def boundary_without_parent(e):
    e.edits("RowsAdded")[1]["parentKey"] = KEY


@case(CorruptManifest, "boundary-parent")
def parent_that_ends_elsewhere(e):
    e.edits("RowsAdded")[1].update(tokenFrom=1)


@case(CorruptManifest, "boundary-grid")
def boundary_off_the_grid(e):
    e.edits("RowsAdded")[1]["tokenTo"] = 5


@case(CorruptManifest, "boundary-in-use")
def boundary_dropped_with_children(e):
    e.add("RowsDropped", key=e.edits("RowsAdded")[0]["key"], namespaceId=1, reason=1)


@case(CorruptManifest, "boundary-in-use")
def boundary_dropped_with_its_point(e):
    e.add("RowsDropped", key=e.edits("RowsAdded")[1]["key"], namespaceId=1, reason=1)


@case(CorruptManifest, "point-exists")
def point_twice(e):
    e.add("PointAdded", **e.edits("PointAdded")[0])


@case(CorruptManifest, "point-unknown")
def point_dropped_where_none_is(e):
    key = e.edits("RowsAdded")[0]["key"]
    e.add("PointDropped", key=key, namespaceId=1, reason=1, deltaToo=1)


@case(CorruptManifest, "record-unknown")
def record_moved_from_elsewhere(e):
    e.add(
        "RecordMoved", key=e.edits("RowsAdded")[0]["key"], namespaceId=1, kind=1,
        fromSegmentId=1, fromOffsetBytes=4096, toSegmentId=1, toOffsetBytes=16384,
    )  # fmt: skip


# Segments and records, met by a restore.


@case(CorruptRecord, "segment-missing", "restore")
def segment_missing(e):
    del e.files["append-1.seg"]


@case(CorruptRecord, "segment-header", "restore")
def segment_of_another_store(e):
    patch(e, "append-1.seg", 24, b"\0")
    reseal(e, "append-1.seg", 0, 64)


@case(UnsupportedFormat, "newer-read-version", "restore")
def segment_of_a_newer_read_version(e):
    patch(e, "append-1.seg", 56, b"\2")
    reseal(e, "append-1.seg", 0, 64)


@case(CorruptRecord, "record-outside", "restore")
def segment_cut_inside_a_record(e):
    e.files["append-1.seg"] = e.files["append-1.seg"][: 8192 + 300]


@case(CorruptRecord, "frame-empty", "restore")
def record_punched_out(e):
    patch(e, "append-1.seg", 8192, bytes(4096))


@case(CorruptRecord, "frame-torn", "restore")
def front_longer_than_its_record(e):
    patch(e, "append-1.seg", 8196, struct.pack("<I", 4000))


@case(CorruptRecord, "frame-template", "restore")
def namespace_where_a_record_was(e):
    for edit in e.edits("RowsAdded")[:1]:
        edit["records"][0].update(offsetBytes=4096, lengthBytes=442)


@case(CorruptRecord, "record-other", "restore")
def another_record(e):
    e.edits("RowsAdded")[0]["records"][0].update(offsetBytes=12288, lengthBytes=272)


@case(CorruptRecord, "record-other", "restore")
def delta_with_another_cover(e):
    e.edits("PointAdded")[0]["coveredFrom"] = 0


def record_case(error, code, file="append-1.seg", at=8192):
    def add(change):
        def function(e):
            e.record(file, at, change)

        function.__name__ = change.__name__
        return case(error, code, "restore")(function)

    return add


@record_case(CorruptRecord, "record-piece")
def record_of_two_pieces(r):
    r["pieceCount"] = 2


@record_case(CorruptRecord, "record-length")
def record_that_ends_elsewhere(r):
    r["lengthBytes"] += 1


@record_case(CorruptRecord, "code-unknown")
def record_of_kind_0(r):
    r["kind"] = 0


@record_case(CorruptRecord, "code-unknown")
def part_of_an_unknown_codec(r):
    r["parts"][0]["codec"] = 6


@record_case(CorruptRecord, "part-tensor")
def part_of_no_tensor(r):
    r["parts"][0]["tensor"] = 3


@record_case(CorruptRecord, "part-codec")
def part_with_a_codec_that_cannot_take_it(r):
    r["parts"][0]["codec"] = 2


@record_case(CorruptRecord, "part-flags")
def part_with_flags(r):
    r["parts"][0]["flags"] = 1


@record_case(CorruptRecord, "part-range")
def part_beyond_the_outer_positions(r):
    r["parts"][0]["outerFrom"] = 1


@record_case(CorruptRecord, "part-range")
def part_beyond_the_rows(r):
    r["parts"][0]["rowFrom"] = 1


@record_case(CorruptRecord, "part-range")
def part_without_rows(r):
    r["parts"][0]["rowCount"] = 0


@record_case(CorruptRecord, "part-range")
def part_too_large_to_count(r):
    r["parts"][0].update(rowCount=(1 << 63) - 1, outerCount=(1 << 32) - 1)


@record_case(CorruptRecord, "part-place")
def part_elsewhere(r):
    r["parts"][0]["offsetBytes"] += 64


@record_case(CorruptRecord, "part-place")
def part_with_another_sum(r):
    r["parts"][0]["storedLengthBytes"] += 1


@record_case(CorruptRecord, "chunk-count")
def chunk_too_many_in_a_part(r):
    r["parts"][0]["chunkCount"] = 2


@record_case(CorruptRecord, "chunk-count")
def chunk_too_few_in_the_table(r):
    r["chunks"].pop()


@record_case(CorruptRecord, "chunk-length")
def raw_chunk_with_the_top_bit(r):
    r["chunks"][0]["storedLengthBytes"] |= 1 << 31


@record_case(CorruptRecord, "chunk-length")
def raw_chunk_of_another_length(r):
    r["chunks"][0]["storedLengthBytes"] = 15


@record_case(CorruptRecord, "part-missing")
def part_left_out(r):
    r["parts"][0].update(rowCount=1, storedLengthBytes=8)
    r["chunks"][0].update(storedLengthBytes=8)


@case(CorruptRecord, "part-overlap", "restore")
def part_twice(e):
    def change(r):
        part = dict(r["parts"][0], outerCount=1, storedLengthBytes=8)
        r["parts"] = [dict(part, offsetBytes=320), dict(part, offsetBytes=384)]
        r["chunks"] = [{"storedLengthBytes": 8, "checksum": 0}] * 2
        r["lengthBytes"] = 392

    e.record("append-1.seg", 12288, change)
    e.edits("RowsAdded")[1]["records"][0]["lengthBytes"] = 392


@case(CorruptRecord, "chunk-checksum", "restore")
def chunk_with_a_flipped_bit(e):
    patch(e, "append-1.seg", 8192 + 0x140, b"\1")


@case(CorruptRecord, "window-gap", "restore")
def window_that_nobody_stored(e):
    point = e.edits("PointAdded")[0]
    point["records"] = point["records"][1:]


@case(CorruptRecord, "part-missing", "restore")
def point_without_its_state(e):
    point = e.edits("PointAdded")[0]
    point["records"] = point["records"][:1]


def state_with_codec(codec, stored):
    def change(e):
        def front(r):
            r["parts"][0].update(codec=codec, storedLengthBytes=len(stored))
            r["chunks"][0] = {"storedLengthBytes": len(stored), "checksum": crc32c(stored)}
            r["lengthBytes"] = 256 + len(stored)

        e.record("delta-2.seg", 12288, front)
        patch(e, "delta-2.seg", 12288 + 256, stored)
        e.edits("PointAdded")[0]["records"][1]["lengthBytes"] = 256 + len(stored)

    return change


@case(CorruptRecord, "codec-scale", "restore")
def scale_that_is_no_number(e):
    # Two rows of two F32.
    state_with_codec(3, b"\0\0\xc0\x7f\0\0\0\0" + bytes(4))(e)


# What verify alone meets.


@case(None, "segment-length", "verify")
def sealed_segment_of_another_length(e):
    e.files["append-1.seg"] += bytes(4096)


@case(None, "segment-footer", "verify")
def footer_of_another_count(e):
    patch(e, "append-1.seg", 16384 + 40, b"\3")
    reseal(e, "append-1.seg", 16384, 84)


@case(None, "descriptor", "verify")
def descriptor_of_another_namespace(e):
    patch(e, "append-1.seg", 4096 + 72, b"\2")
    reseal(e, "append-1.seg", 4096, 442)


@case(None, "namespace-fingerprint", "verify")
def fingerprint_of_other_texts(e):
    e.edits("NamespaceAdded")[0]["fingerprint"] = KEY


@case(None, "record-overlap", "verify")
def two_records_in_one_place(e):
    e.edits("RowsAdded")[1]["records"][0].update(offsetBytes=8192)


# Requests.


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
ACTIONS = {
    "open": lambda s: None,
    "restore": lambda s: s.restore(1, tokens=TOKENS, at=4),
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
        # Tested elsewhere, each with its own file: planes, zstd, the extra, a moving store.
        elsewhere = {"codec-planes", "codec-zstd", "missing-extra", "moving", "io", "closed"}
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
