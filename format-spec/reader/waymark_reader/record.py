"""Records: the front, what it has to say, and the parts behind it."""

from __future__ import annotations

import struct
from bisect import bisect_left, insort
from typing import Iterable, Iterator, List, NamedTuple, Optional, Tuple

from . import codecs
from .crc32c import crc32c
from .errors import Corruption
from .files import ReadFile
from .forest import KIND_NAMES, Boundary, Namespace, Place
from .frame import (
    MESSAGES,
    MOST_RECORD,
    RECORD,
    Cursor,
    check_frame,
    frame_length,
)
from .layout import TensorSpec
from .manifest import require_template

_MESSAGE = MESSAGES[RECORD]
_CHUNK = struct.Struct("<II")
_AS_IS = 1 << 31


class Chunk(NamedTuple):
    """Where a chunk's stored bytes stand in the segment, and the raw ones in the part."""

    offset: int
    stored: int
    as_is: bool
    checksum: int
    raw_at: int
    raw: int


class Part(NamedTuple):
    """A range of one tensor: outer positions and rows."""

    tensor: int
    spec: TensorSpec
    codec: int
    outer_from: int
    outer_count: int
    row_from: int
    row_count: int
    raw: int
    chunk_first: int
    chunk_count: int
    offset: int


class Front(NamedTuple):
    """A record's front, checked against the edit that names it."""

    place: Place
    length: int
    sequence: int
    kind: int
    parts: List[Part]
    #: (stored length and top bit, checksum) of all parts' chunks.
    table: bytes

    def chunks(self, part: Part) -> Iterator[Chunk]:
        offset = self.place.offset + part.offset
        full = codecs.chunk_raw_bytes(part.codec, part.spec)
        raw_at = 0
        for i in range(part.chunk_first, part.chunk_first + part.chunk_count):
            word, checksum = _CHUNK.unpack_from(self.table, 8 * i)
            stored = word & ~_AS_IS
            raw = min(full, part.raw - raw_at)
            yield Chunk(offset, stored, bool(word & _AS_IS), checksum, raw_at, raw)
            offset += stored
            raw_at += raw


def _up(value: int, step: int) -> int:
    return -(-value // step) * step


def read_front(
    file: ReadFile,
    ns: Namespace,
    boundary: Boundary,
    kind: int,
    index: int,
    count: int,
    place: Place,
) -> Front:
    """Reads and checks the front of the record that an edit names."""
    try:
        left = max(0, min(place.length, file.size() - place.offset))
        if left < place.length:
            raise Corruption("record-outside", expected=f"{place.length} bytes", found=left)
        # Most fronts are small; one read does for these.
        data = file.read_exactly(place.offset, min(left, 4096))
        first = frame_length(data, 0, left, MOST_RECORD)
        if first.found is not None and first.code == "" and first.found > len(data):
            data = file.read_exactly(place.offset, first.found)
        tag = place.segment & 0xFFFFFFFF
        frame = check_frame(data, 0, left, tag, MOST_RECORD, place.offset)
        return _parse(
            frame.require(file.name, place.offset), ns, boundary, kind, index, count, place
        )
    except Corruption as e:
        raise e.at(file.name, place.offset)


def _parse(frame, ns, boundary, kind, index, count, place) -> Front:
    require_template(frame, RECORD)
    cursor = Cursor(frame, strict=True)
    got = cursor.fixed(_MESSAGE.fixed)
    parts_at, part_count, part_size = cursor.group(_MESSAGE.groups[0][1])
    chunks_at, chunk_count, _ = cursor.group(_MESSAGE.groups[1][1])
    cursor.end()
    if not 1 <= got["kind"] <= 3:
        raise Corruption("code-unknown", expected="record kind 1 to 3", found=got["kind"])
    stated = (
        got["namespaceId"], got["key"], got["parentKey"], got["tokenFrom"], got["tokenTo"],
        got["kind"], got["segmentId"],
    )  # fmt: skip
    wanted = (
        ns.id, boundary.key, boundary.parent_key, boundary.token_from, boundary.tokens,
        kind, place.segment,
    )  # fmt: skip
    if stated != wanted:
        raise Corruption(
            "record-other",
            expected=f"{KIND_NAMES[kind]} of {boundary.key.hex()[:8]} at {boundary.tokens}",
            found=f"{KIND_NAMES[got['kind']]} of {got['key'].hex()[:8]} at {got['tokenTo']}",
        )
    covered = boundary.covered_from if kind == 2 else boundary.tokens
    if got["coveredFrom"] != covered:
        raise Corruption("record-other", expected=covered, found=got["coveredFrom"])
    if (got["pieceIndex"], got["pieceCount"]) != (index, count):
        raise Corruption(
            "record-piece",
            expected=f"{index} of {count}",
            found=f"{got['pieceIndex']} of {got['pieceCount']}",
        )
    table = frame.data[chunks_at : chunks_at + 8 * chunk_count]
    end = _up(frame.length, 64)
    used = 0
    parts = []
    row = _MESSAGE.groups[0][1]
    for i in range(part_count):
        entry = row.read(frame.data, parts_at + i * part_size)
        part = _part(entry, ns, boundary, kind, covered, used)
        if used + part.chunk_count > chunk_count:
            raise Corruption("chunk-count", expected="all chunks in the table", found=chunk_count)
        start = _up(end, 64)
        if part.offset != start:
            raise Corruption("part-place", expected=start, found=part.offset)
        stored_sum = _check_chunks(part, table)
        if stored_sum != entry["storedLengthBytes"]:
            raise Corruption(
                "part-place", expected=stored_sum, found=entry["storedLengthBytes"]
            )
        end = start + stored_sum
        used += part.chunk_count
        parts.append(part)
    if used != chunk_count:
        raise Corruption("chunk-count", expected=used, found=chunk_count)
    if got["lengthBytes"] != end or end != place.length:
        raise Corruption("record-length", expected=place.length, found=(got["lengthBytes"], end))
    return Front(place, end, got["sequence"], kind, parts, table)


def _part(entry, ns: Namespace, boundary: Boundary, kind: int, covered: int, used: int) -> Part:
    if entry["tensor"] >= len(ns.layout.tensors):
        raise Corruption(
            "part-tensor", expected=f"below {len(ns.layout.tensors)}", found=entry["tensor"]
        )
    spec = ns.layout.tensors[entry["tensor"]]
    if entry["flags"]:
        raise Corruption("part-flags", found=entry["flags"])
    codec = entry["codec"]
    if codec >= 6:
        raise Corruption("code-unknown", expected="codec 0 to 5", found=codec)
    if not codecs.takes(codec, spec):
        raise Corruption("part-codec", found=f"codec {codec} for {spec.dtype}, {spec.width} wide")
    low, high = spec.contribution(kind, boundary.token_from, boundary.tokens, covered)
    outer = spec.outer if spec.growth != "fixed" else 1
    o, on = entry["outerFrom"], entry["outerCount"]
    r, rn = entry["rowFrom"], entry["rowCount"]
    inner = spec.element if spec.growth == "fixed" else spec.inner
    raw = on * rn * inner
    if raw == 0 or o + on > outer or r < low or r + rn > high or raw >= 1 << 63:
        raise Corruption(
            "part-range",
            expected=f"in outer 0 to {outer}, rows {low} to {high}",
            found=f"outer {o} to {o + on}, rows {r} to {r + rn}",
        )
    chunks = -(-raw // codecs.chunk_raw_bytes(codec, spec))
    if chunks != entry["chunkCount"]:
        raise Corruption("chunk-count", expected=chunks, found=entry["chunkCount"])
    return Part(
        entry["tensor"], spec, codec, o, on, r, rn, raw, used, chunks, entry["offsetBytes"]
    )


def _check_chunks(part: Part, table: bytes) -> int:
    full = codecs.chunk_raw_bytes(part.codec, part.spec)
    left = part.raw
    total = 0
    for i in range(part.chunk_first, part.chunk_first + part.chunk_count):
        (word,) = struct.unpack_from("<I", table, 8 * i)
        raw = min(full, left)
        codecs.check_stored(part.codec, part.spec, raw, word & ~_AS_IS, bool(word & _AS_IS))
        total += word & ~_AS_IS
        left -= raw
    return total


def read_chunk(file: ReadFile, part: Part, chunk: Chunk, decoded: bool = True) -> bytes:
    """A chunk's raw bytes, checked before they are decoded."""
    stored = file.read_exactly(chunk.offset, chunk.stored)
    try:
        actual = crc32c(stored)
        if actual != chunk.checksum:
            raise Corruption(
                "chunk-checksum", expected=f"{chunk.checksum:08x}", found=f"{actual:08x}"
            )
        if chunk.as_is or not decoded:
            return stored
        return codecs.decode_chunk(part.codec, part.spec, stored, chunk.raw)
    except Corruption as e:
        raise e.at(file.name, chunk.offset)


def check_cover(ns: Namespace, boundary: Boundary, kind: int, fronts: Iterable[Front]) -> None:
    """The pieces of a contribution have to cover it, and not to overlap."""
    by_tensor: dict = {}
    for front in fronts:
        for part in front.parts:
            by_tensor.setdefault(part.tensor, []).append(part)
    covered = boundary.covered_from if kind == 2 else boundary.tokens
    for index, spec in enumerate(ns.layout.tensors):
        low, high = spec.contribution(kind, boundary.token_from, boundary.tokens, covered)
        outer = spec.outer if spec.growth != "fixed" else 1
        inner = spec.element if spec.growth == "fixed" else spec.inner
        want = outer * (high - low) if inner else 0
        parts = by_tensor.get(index, [])
        have = sum(p.outer_count * p.row_count for p in parts)
        if len(parts) > 1:
            _check_disjoint(parts)
        if have != want:
            raise Corruption(
                "part-missing",
                f"the parts of {KIND_NAMES[kind]} do not cover tensor {index}",
                expected=want,
                found=have,
            )


def _check_disjoint(parts: List[Part]) -> None:
    """Sweeps over the outer positions with the row ranges that are open there."""
    events = []
    for p in parts:
        events.append((p.outer_from, 1, p.row_from, p.row_from + p.row_count))
        events.append((p.outer_from + p.outer_count, 0, p.row_from, p.row_from + p.row_count))
    events.sort()
    active: List[Tuple[int, int]] = []
    for _, opens, low, high in events:
        at = bisect_left(active, (low, high))
        if not opens:
            del active[at]
            continue
        if (at < len(active) and active[at][0] < high) or (at and active[at - 1][1] > low):
            raise Corruption("part-overlap", found=f"rows {low} to {high}")
        insort(active, (low, high))


class Target:
    """A tensor's restored bytes: [outer][sink rows, then window or other rows][inner]."""

    def __init__(self, spec: TensorSpec, tokens: int) -> None:
        self.spec = spec
        self.outer = 1 if spec.growth == "fixed" else spec.outer
        self.inner = spec.element if spec.growth == "fixed" else spec.inner
        self.sinks = min(tokens, spec.sink) if spec.growth == "window" else 0
        if spec.growth == "fixed":
            self.first, self.end = 0, spec.elements
        elif spec.growth == "rows":
            self.first, self.end = 0, tokens // spec.tokens_per_row
        else:
            self.first, self.end = spec.window_from(tokens), tokens
        self.rows = self.sinks + self.end - self.first
        self.length = self.outer * self.rows * self.inner
        self.data: Optional[bytearray] = None

    def put(self, part: Part, raw_at: int, raw: bytes, low: int, high: int, shift: int) -> None:
        """Copies what a chunk has of rows [low, high); row r goes to index r + shift."""
        inner, count = self.inner, part.row_count
        source = memoryview(raw)
        line = count * inner
        at = 0
        while at < len(raw):
            position = raw_at + at
            o, within = divmod(position, line)
            take = min(len(raw) - at, line - within)
            # In bytes of this outer position's line.
            base = part.row_from * inner
            start = max(within, low * inner - base)
            end = min(within + take, high * inner - base)
            if start < end:
                to = ((part.outer_from + o) * self.rows + shift) * inner + base + start
                self.data[to : to + end - start] = source[
                    at + start - within : at + end - within
                ]
            at += take
