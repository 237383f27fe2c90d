"""One store for each rule that can be broken, and what a reader calls it; and stores that are well
though they look odd. All are the page's example, changed, with checksums that fit.
"""

from __future__ import annotations

import os
import struct
import sys
from typing import Any, Callable, Dict, NamedTuple, Optional

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import page  # noqa: E402
from build import BY_NAME, Example, frame, seal  # noqa: E402
from waymark_reader import (  # noqa: E402
    CorruptCurrent,
    CorruptManifest,
    CorruptRecord,
    NotAStore,
    UnsupportedFormat,
)
from waymark_reader.crc32c import crc32c  # noqa: E402
from waymark_reader.layout import (  # noqa: E402
    CodecPlan,
    Layout,
    fingerprint,
    parse_identity,
    root_key,
)

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


@case(CorruptManifest, "delta-shrinks")
def delta_replaced_by_one_that_covers_less(e):
    point = e.edits("PointAdded")[0]
    e.add("PointDropped", key=point["key"], namespaceId=1, reason=2, deltaToo=0)
    e.add("PointAdded", **dict(point, coveredFrom=point["coveredFrom"] + 1))


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


@case(None, "record-overlap", "verify")
def two_records_in_one_place(e):
    e.edits("RowsAdded")[1]["records"][0].update(offsetBytes=8192)




@case(None, "frame-length", "verify")
def footer_longer_than_the_most(e):
    patch(e, "append-1.seg", 16384 + 4, struct.pack("<I", (4 << 20) + 1))


@case(None, "frame-length", "verify")
def descriptor_longer_than_the_most(e):
    patch(e, "append-1.seg", 4096 + 4, struct.pack("<I", (64 << 20) + 1))


# Bounds of what stands in one place only.


@case(CorruptCurrent, "number-range")
def current_of_read_version_0(e):
    patch(e, "CURRENT", 48, bytes(2))
    reseal(e, "CURRENT", 0, 56)


@case(CorruptCurrent, "number-range")
def current_of_write_version_0(e):
    patch(e, "CURRENT", 50, bytes(2))
    reseal(e, "CURRENT", 0, 56)


@case(CorruptCurrent, "number-range")
def current_that_names_manifest_0(e):
    patch(e, "CURRENT", 40, bytes(8))
    reseal(e, "CURRENT", 0, 56)


@case(CorruptManifest, "number-range")
def manifest_of_write_version_0(e):
    e.header["writeVersion"] = 0


@case(CorruptManifest, "batch-mark")
def mark_longer_than_the_most(e):
    e.mark_extra[1] = bytes(1024)


@case(CorruptManifest, "batch-size")
def batch_that_goes_on_after_a_mebibyte_with_its_padding(e):
    a_mebibyte_with_padding(e)
    e.add("BudgetSpent", epochDay=1)


@case(CorruptManifest, "frame-checksum")
def manifest_damaged_before_what_a_mark_attests(e):
    del e.files["STATUS"]
    e.after = lambda data: data.__setitem__(1000, data[1000] ^ 1)


@case(CorruptManifest, "message-length")
def newer_edit_with_a_short_fixed_part(e):
    e.add("ChainReleased", namespaceId=1, name="x", version=2)

    def after(data):
        at = data.rfind(b"\1\0\0\0x")
        start = data.rfind(b"WMRK", 0, at)
        data[start + 16] -= 4
        data[start : start + 37] = seal(data[start : start + 37])

    e.after = after


@case(CorruptManifest, "number-range")
def sequence_below_0(e):
    e.edits("RowsAdded")[0]["sequence"] = 1 << 63


@case(CorruptManifest, "number-range")
def creation_sequence_below_0(e):
    e.edits("SegmentCreated")[0]["creationSequence"] = 1 << 63


@case(CorruptManifest, "number-range")
def record_in_segment_0(e):
    e.edits("RowsAdded")[0]["records"][0]["segmentId"] = 0


@case(CorruptManifest, "number-range")
def boundary_without_a_record(e):
    e.edits("RowsAdded")[1]["records"] = []


@case(CorruptManifest, "boundary-parent")
def boundary_that_is_its_own_parent(e):
    first = e.edits("RowsAdded")[0]
    e.add("RowsAdded", **dict(first, key=KEY, parentKey=KEY))


@case(CorruptManifest, "code-unknown")
def stride_of_no_blocks(e):
    e.edits("SessionOpened")[0].update(policy=2, policyArgument=0)


@case(CorruptManifest, "code-unknown")
def lattice_of_too_large_a_budget(e):
    e.edits("SessionOpened")[0].update(policy=3, policyArgument=1_000_001)


@case(CorruptManifest, "segment-exists")
def segment_with_an_id_that_was_used_before(e):
    e.edits("CheckpointEnd")[0]["nextSegmentId"] = 2


@case(CorruptManifest, "segment-sealed")
def segment_sealed_again_and_otherwise(e):
    e.add("SegmentSealed", segmentId=1, lengthBytes=20480, footerOffsetBytes=0)
    # It stands before the one that the example has.


@case(CorruptManifest, "namespace-fingerprint")
def fingerprint_of_other_texts(e):
    e.edits("NamespaceAdded")[0]["fingerprint"] = KEY


def text_case(which, old, new):
    """A text of a namespace that does not parse."""

    def add(function):
        def change(e):
            ns = e.edits("NamespaceAdded")[0]
            assert old in ns[which]
            ns[which] = ns[which].replace(old, new, 1)

        change.__name__ = function.__name__
        return case(CorruptManifest, "namespace-text")(change)

    return add


for _name, _which, _old, _new in [
    ("layout_with_a_field_twice", "layout", '"sink":1', '"sink":1,"sink":1'),
    ("identity_with_a_field_twice", "identity", '{"engine"', '{"engine":"x","engine"'),
    ("codecs_with_a_field_twice", "codecs", '"rows":"RAW"', '"rows":"RAW","rows":"RAW"'),
    ("layout_with_text_behind_it", "layout", "[2,2]}]}", "[2,2]}]}{}"),
    ("identity_with_text_behind_it", "identity", '"sha256:00"}', '"sha256:00"}1'),
    ("codecs_with_text_behind_it", "codecs", '"tensors":{}}', '"tensors":{}},'),
    ("layout_without_a_field", "layout", '"window":3,', ""),
    ("layout_that_is_an_array", "layout", '{"block_tokens":2,', '[{"block_tokens":2,'),
    ("codecs_without_a_field", "codecs", '"window":"RAW",', ""),
    ("codecs_without_tensors", "codecs", ',"tensors":{}', ""),
    ("codecs_with_an_unknown_field", "codecs", '"rows"', '"x":"RAW","rows"'),
    ("codecs_with_an_unknown_codec_of_a_tensor", "codecs", "{}}", '{"k":"ZIP"}}'),
    ("identity_with_an_empty_name", "identity", '"engine"', '""'),
    ("identity_with_half_a_surrogate_pair", "identity", "example 1", "\\ud800"),
    ("block_of_no_tokens", "layout", '"block_tokens":2', '"block_tokens":0'),
    ("block_of_too_many_tokens", "layout", '"block_tokens":2', '"block_tokens":2147483648'),
    ("block_of_no_whole_number", "layout", '"block_tokens":2', '"block_tokens":2.0'),
    ("no_tokens_in_a_row", "layout", '"tokens_per_row":1', '"tokens_per_row":0'),
    ("too_many_tokens_in_a_row", "layout", '"tokens_per_row":1', '"tokens_per_row":2147483648'),
    ("window_of_no_tokens", "layout", '"window":3', '"window":0'),
    ("window_of_too_many_tokens", "layout", '"window":3', '"window":2147483648'),
    ("sink_below_0", "layout", '"sink":1', '"sink":-1'),
    ("sink_of_too_many_tokens", "layout", '"sink":1', '"sink":2147483648'),
    ("dim_below_the_token_axis", "layout", "[2,2]", "[2,-2]"),
    ("dims_of_2_to_the_48_bytes", "layout", "[2,2]", "[8388608,8388608]"),
    ("dims_of_2_to_the_48_bytes_beside_a_0", "layout", "[2,2]", "[0,8388608,8388608]"),
    ("too_many_outer_positions", "layout", "[2,-1,2]", "[2147483648,-1,2]"),
    ("dims_too_many", "layout", "[2,2]", "[" + ",".join(["1"] * 17) + "]"),
    ("fixed_tensor_with_a_token_axis", "layout", "[2,2]", "[2,-1]"),
    ("rows_without_a_token_axis", "layout", "[2,-1,2]", "[2,2]"),
    ("rows_with_two_token_axes", "layout", "[2,-1,2]", "[-1,-1,2]"),
    ("two_tensors_of_one_name", "layout", '"name":"w"', '"name":"k"'),
    ("tensor_without_a_name", "layout", '"name":"w"', '"name":""'),
    ("tensor_with_a_control_character", "layout", '"name":"w"', '"name":"\\u007f"'),
    ("unknown_dtype", "layout", '"F32"', '"F31"'),
    ("unknown_growth", "layout", '"fixed"', '"slow"'),
]:

    def _function():
        pass

    _function.__name__ = _name
    text_case(_which, _old, _new)(_function)


@case(CorruptRecord, "segment-header", "restore")
def segment_of_another_creation(e):
    e.edits("SegmentCreated")[0]["creationSequence"] = 2


@case(CorruptRecord, "number-range", "restore")
def segment_of_write_version_0(e):
    patch(e, "append-1.seg", 58, bytes(2))
    reseal(e, "append-1.seg", 0, 64)


@case(CorruptRecord, "reserved", "restore")
def segment_with_reserved_bytes(e):
    patch(e, "append-1.seg", 61, b"\1")
    reseal(e, "append-1.seg", 0, 64)


@case(CorruptRecord, "frame-length", "restore")
def segment_header_longer_than_the_most(e):
    data = bytearray(e.files["append-1.seg"][:4104])
    data[4:8] = struct.pack("<I", 4104)
    data[22] = 2
    patch(e, "append-1.seg", 0, seal(bytes(data)))


@case(CorruptRecord, "frame-length", "restore")
def front_longer_than_the_most(e):
    patch(e, "append-1.seg", 8196, struct.pack("<I", (4 << 20) + 1))


@record_case(CorruptRecord, "number-range")
def record_of_a_sequence_below_0(r):
    r["sequence"] = 1 << 63


@record_case(CorruptRecord, "record-other", at=12288)
def record_from_another_token(r):
    r["tokenFrom"] = 1


@record_case(CorruptRecord, "message-length")
def record_with_more_behind_than_is_known(r):
    # Of fronts a newer version may not even add something at the end.
    r["extra"] = bytes(8)


def scale_case(scale):
    def add(function):
        def change(e):
            state_with_codec(3, struct.pack("<ff", scale, 0) + bytes(4))(e)

        change.__name__ = function.__name__
        return case(CorruptRecord, "codec-scale", "restore")(change)

    return add


@scale_case(-1.0)
def scale_below_0(e):
    pass


@scale_case(2.0**-113)
def scale_too_small(e):
    pass


@scale_case(2.0**107)
def scale_too_large(e):
    pass


# A state of another shape, with keys that follow from it.

_F32 = '"dtype":"F32","growth":"fixed","shape":[2,2]'


def rename(e, **texts):
    """Gives the namespace other texts, and all that follows from them."""
    ns = e.edits("NamespaceAdded")[0]
    ns.update(texts)
    layout = Layout.parse(ns["layout"])
    names = fingerprint(layout, parse_identity(ns["identity"]), CodecPlan.parse(ns["codecs"]))
    ns["fingerprint"] = names
    root = root_key(names)
    e.edits("RowsAdded")[0]["parentKey"] = root
    e.record("append-1.seg", 8192, lambda r: r.update(parentKey=root))
    lengths = set()
    for file in ("append-1.seg", "delta-2.seg"):
        e.record(file, 4096, lambda r: r.update(fingerprint=names, **texts))
        lengths.add(struct.unpack_from("<I", e.files[file], 4096 + 4)[0])
    for placed in e.edits("DescriptorPlaced"):
        placed["lengthBytes"] = min(lengths)


def with_state(e, dtype, shape, codec, stored, as_is=False):
    """The example with another fixed tensor, of one chunk."""
    elements = 1
    for dim in shape:
        elements *= dim
    text = ",".join(str(d) for d in shape)
    layout = e.edits("NamespaceAdded")[0]["layout"]
    rename(e, layout=layout.replace(
        _F32, f'"dtype":"{dtype}","growth":"fixed","shape":[{text}]'))  # fmt: skip

    def front(r):
        r["parts"][0].update(codec=codec, storedLengthBytes=len(stored), rowCount=elements)
        word = len(stored) | (1 << 31 if as_is else 0)
        r["chunks"][0] = {"storedLengthBytes": word, "checksum": crc32c(stored)}
        r["lengthBytes"] = 256 + len(stored)

    e.record("delta-2.seg", 12288, front)
    patch(e, "delta-2.seg", 12288 + 256, stored)
    e.edits("PointAdded")[0]["records"][1]["lengthBytes"] = 256 + len(stored)


def planes_case(code, planes):
    """128 BF16 in two planes of 128 bytes each, as they are stored."""

    def add(function):
        def change(e):
            stored = struct.pack("<2I", *[len(p) for p in planes]) + b"".join(planes)
            with_state(e, "BF16", [128], 1, stored)

        change.__name__ = function.__name__
        return case(CorruptRecord, code, "restore")(change)

    return add


def zstd_run(byte, count, size=None, flags=0, between=b"", behind=b""):
    """A zstd frame of one byte, repeated: a single segment with a block of kind 1."""
    block = (1 | 1 << 1 | count << 3).to_bytes(3, "little") + bytes([byte])
    size = count if size is None else size
    return b"\x28\xb5\x2f\xfd" + bytes([0x20 | flags]) + between + bytes([size]) + block + behind


_RAW = bytes(range(128))

#: Only a zstd library can tell.
NEEDS_ZSTD = {
    "plane_with_less_content_than_its_frame_states",
    "plane_with_the_wrong_content_checksum",
}


@planes_case("codec-planes", [_RAW, b""])
def plane_without_bytes(e):
    pass


@planes_case("codec-zstd", [_RAW, zstd_run(0x7F, 127)])
def plane_of_another_content_size(e):
    pass


@planes_case("codec-zstd", [_RAW, zstd_run(0x7F, 127, 128)])
def plane_with_less_content_than_its_frame_states(e):
    pass


@planes_case("codec-zstd", [_RAW, zstd_run(0x7F, 128) + b"\0"])
def plane_with_more_behind_its_frame(e):
    pass


@planes_case("codec-zstd", [_RAW, zstd_run(0x7F, 128, flags=1, between=b"\7")])
def plane_with_a_dictionary(e):
    pass


@planes_case("codec-zstd", [_RAW, b"no zstd frame at all"])
def plane_of_no_zstd_frame(e):
    pass


@planes_case("codec-zstd", [_RAW, zstd_run(0x7F, 128, flags=4, behind=bytes(4))])
def plane_with_the_wrong_content_checksum(e):
    pass


@case(CorruptRecord, "codec-planes", "restore")
def planes_longer_than_their_chunk(e):
    with_state(e, "BF16", [128], 1, struct.pack("<2I", 128, 128) + bytes(100))


# Stores that are well.

#: Name -> how the example is changed.
WELL: Dict[str, Callable[[Example], None]] = {}


def well(function):
    WELL[function.__name__] = function
    return function


@well
def without_status(e):
    del e.files["STATUS"]


@well
def status_of_another_store(e):
    patch(e, "STATUS", 24, b"\0")
    reseal(e, "STATUS", 0, 78)
    e.finished()


@well
def status_half_written(e):
    e.finished()
    patch(e, "STATUS", 60, b"\xff")


@well
def torn_tail(e):
    """A batch whose mark was never written does not count."""
    del e.files["STATUS"]
    edit = frame(BY_NAME["NamespaceDropped"], {"namespaceId": 1}, 1)
    e.after = lambda data: data.extend(edit)


@well
def edits_that_may_be_skipped(e):
    e.batches[1].append((0x8000, {}))
    e.batches[1].append((0xFFFF, {"extra": b"what a later version adds"}))


@well
def edits_of_a_later_schema_version(e):
    e.add("ChainKept", key=e.edits("RowsAdded")[1]["key"], namespaceId=1, name="kept",
          version=3, extra=b"what a later version adds")  # fmt: skip
    e.mark_extra[1] = bytes(64)


@well
def newer_write_version(e):
    patch(e, "CURRENT", 50, b"\2")
    reseal(e, "CURRENT", 0, 56)
    e.header["writeVersion"] = 2
    for file in ("append-1.seg", "delta-2.seg"):
        patch(e, file, 58, b"\2")
        reseal(e, file, 0, 64)


@well
def newer_write_version_of_the_manifest_alone(e):
    e.header["writeVersion"] = 2


@well
def newer_write_version_of_a_segment_alone(e):
    patch(e, "delta-2.seg", 58, b"\2")
    reseal(e, "delta-2.seg", 0, 64)


@well
def point_dropped_and_its_delta_kept(e):
    key = e.edits("RowsAdded")[1]["key"]
    e.add("PointDropped", key=key, namespaceId=1, reason=2, deltaToo=0)


@well
def point_added_again_with_the_delta_that_is_there(e):
    point_dropped_and_its_delta_kept(e)
    again = dict(e.edits("PointAdded")[0], coveredFrom=4)
    again["records"] = again["records"][1:]
    e.add("PointAdded", **again)


@well
def point_added_again_with_another_delta(e):
    point_dropped_and_its_delta_kept(e)
    e.add("PointAdded", **e.edits("PointAdded")[0])


@well
def segment_sealed_twice_alike(e):
    e.batches[-2].append((BY_NAME["SegmentSealed"], dict(e.edits("SegmentSealed")[0])))


@well
def segment_that_is_gone_sealed_and_removed(e):
    e.add("SegmentCreated", segmentId=3, creationSequence=20, kind=1)
    e.add("SegmentRemoved", segmentId=3)
    e.add("SegmentSealed", segmentId=3, lengthBytes=4096, footerOffsetBytes=0)
    e.add("SegmentRemoved", segmentId=3)


@well
def segment_not_sealed_and_longer_than_its_records(e):
    for batch in e.batches:
        batch[:] = [x for x in batch if x[0] != BY_NAME["SegmentSealed"]]
    for file in ("append-1.seg", "delta-2.seg"):
        e.files[file] = e.files[file][:16384] + bytes(262144 - 16384)


@well
def millis_before_1970(e):
    e.header["createdMillis"] = -1
    for edit in ("RowsAdded", "PointAdded"):
        for values in e.edits(edit):
            values["addedMillis"] = -(1 << 40)
    e.edits("SessionOpened")[0]["openedMillis"] = -2
    e.edits("SessionClosed")[0]["closedMillis"] = -(1 << 63)


@well
def gaps_and_padding_of_segments_that_hold_anything(e):
    for file in ("append-1.seg", "delta-2.seg"):
        patch(e, file, 64, b"\xff" * 100)
        patch(e, file, 4096 + 442, b"\xff" * 100)
    patch(e, "append-1.seg", 8192 + 268, b"\xff" * 50)
    patch(e, "append-1.seg", 8192 + 0x150, b"\xff" * 40)


@well
def files_that_nothing_names(e):
    e.files["CURRENT.tmp"] = b"left over"
    e.files["append-7.seg"] = bytes(4096)


@well
def record_moved_to_another_segment(e):
    data = e.files["append-1.seg"]
    header = bytearray(data[:64])
    header[12] = 3
    header[40] = 3
    header[48] = 20
    record = bytearray(data[12288:16384])
    record[12] = 3
    record[32] = 3
    length = struct.unpack_from("<I", record, 4)[0]
    record[:length] = seal(bytes(record[:length]))
    e.files["append-3.seg"] = seal(bytes(header)).ljust(4096, b"\0") + bytes(record)
    patch(e, "append-1.seg", 12288, bytes(4096))
    e.add("SegmentCreated", segmentId=3, creationSequence=20, kind=1)
    e.add("RecordMoved", key=e.edits("RowsAdded")[1]["key"], namespaceId=1, kind=1,
          fromSegmentId=1, fromOffsetBytes=12288, toSegmentId=3, toOffsetBytes=4096)  # fmt: skip


@well
def chain_kept_released_and_touched(e):
    key = e.edits("RowsAdded")[1]["key"]
    e.add("ChainKept", key=key, namespaceId=1, name="system")
    e.add("ChainKept", key=key, namespaceId=1, name="gone")
    e.add("ChainReleased", namespaceId=1, name="gone")
    e.add("ChainReleased", namespaceId=1, name="never was")
    e.add("Touched", boundaries=[
        {"key": key, "sequence": 1000, "namespaceId": 1},
        {"key": KEY, "sequence": 1000, "namespaceId": 1},
        {"key": KEY, "sequence": 1000, "namespaceId": 9},
    ])  # fmt: skip
    e.add("BudgetSpent", epochDay=-1, writtenBytes=1)


@well
def boundary_dropped(e):
    key = e.edits("RowsAdded")[1]["key"]
    e.add("PointDropped", key=key, namespaceId=1, reason=2, deltaToo=1)
    e.add("RowsDropped", key=key, namespaceId=1, reason=1)


@well
def namespaces_at_the_bounds(e):
    """Layouts that are as large as they may be, and texts that are written otherwise."""
    first = e.edits("NamespaceAdded")[0]
    most = (1 << 31) - 1
    layout = (
        f'{{"block_tokens":{most},"tensors":['
        f'{{"name":"r","dtype":"U8","growth":"rows","tokens_per_row":{most},"shape":[{most},-1]}},'
        f'{{"name":"w","dtype":"U8","growth":"window","window":{most},"sink":{most},"shape":[-1]}},'
        '{"name":"f","dtype":"U8","growth":"fixed","shape":[281474976710655]},'
        '{"name":"e","dtype":"U8","growth":"fixed","shape":[0]},'
        '{"name":"s","dtype":"F64","growth":"fixed","shape":[]}]}'
    )
    loose = (
        ' { "tensors" : [ { "shape" : [ 2 , -1 ] , "tokens_per_row" : 1 , "growth" : "rows" ,'
        ' "dtype" : "BF16" , "name" : "\\u006b" } ] , "block_tokens" : 2 } '
    )
    for number, text in ((2, layout), (3, loose)):
        space = dict(first, namespaceId=number, layout=text)
        space["fingerprint"] = fingerprint(
            Layout.parse(text), parse_identity(space["identity"]), CodecPlan.parse(space["codecs"])
        )
        e.add("NamespaceAdded", **space)


def a_mebibyte_with_padding(e):
    """Edits of 41 bytes, so that only with their padding they come to 1 MiB."""
    batch = e.batches[1]
    had = len(e.log()) - len(e.log_without(1))
    frames = -(-((1 << 20) - had) // 48)
    batch += [(BY_NAME["ChainReleased"], {"namespaceId": 1, "name": "never"})] * frames


@well
def batch_that_ends_with_the_edit_that_brings_it_to_a_mebibyte(e):
    a_mebibyte_with_padding(e)


def _chunk(name):
    lines = page.named_lines(page.blocks()["chunk-" + name])
    return bytes.fromhex(lines["stored"])


@well
def codec_bf16(e):
    with_state(e, "F32", [1, 4], 2, _chunk("BF16"))


@well
def codec_int8(e):
    with_state(e, "F32", [1, 8], 3, _chunk("INT8"))


@well
def codec_rht_int8(e):
    with_state(e, "BF16", [1, 16], 4, _chunk("RHT_INT8"))


@well
def codec_rht_int16(e):
    with_state(e, "F32", [1, 16], 5, _chunk("RHT_INT16"))


@well
def codec_planes(e):
    with_state(e, "BF16", [128], 1, _chunk("PLANES"))


@well
def chunk_left_as_it_was(e):
    with_state(e, "F32", [1, 4], 2, struct.pack("<4f", 1e-40, -0.0, 3.4e38, float("inf")), True)


@well
def scale_of_minus_0(e):
    with_state(e, "F32", [1, 4], 3, struct.pack("<f4b", -0.0, 1, -1, 0, 127))


@well
def scale_of_minus_0_after_a_transform(e):
    with_state(e, "F32", [1, 4], 4, struct.pack("<f4b", -0.0, 1, -1, 0, 127))


@well
def scales_at_their_bounds(e):
    with_state(e, "F32", [2, 4], 3, struct.pack("<2f8b", 2.0**-112, 2.0**106, *range(-4, 4)))


@well
def plane_with_a_content_checksum(e):
    """Writers add none; a reader takes one."""
    planes = [_RAW, zstd_run(0x7F, 128, flags=4, behind=XXH64_OF_RUN)]
    stored = struct.pack("<2I", *[len(p) for p in planes]) + b"".join(planes)
    with_state(e, "BF16", [128], 1, stored)


#: The lower half of XXH64, seed 0, of 128 bytes 7f: what zstd takes as a content's checksum.
XXH64_OF_RUN = bytes.fromhex("852873d0")
