"""Frames, and the messages in them.

`MESSAGES` is the format page's tables in a form that can be run; a test compares both.
"""

from __future__ import annotations

import struct
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from .crc32c import crc32c
from .errors import Corruption

HEADER = 24
MAGIC = b"WMRK"
MOST_MANIFEST = 64 << 20
MOST_RECORD = 4 << 20
MOST_SMALL = 4096
MOST_DESCRIPTOR = 64 << 20
MOST_MARK = 1024

EMPTY, TORN, DAMAGED, VALID = "empty", "torn", "damaged", "valid"

_FRONT = struct.Struct("<4sIIIHHHH")
_I64_MAX = (1 << 63) - 1


class Frame(NamedTuple):
    """A frame whose checksum matched. `data` is all of it."""

    data: bytes
    offset: int
    template: int
    version: int
    block_length: int

    @property
    def length(self) -> int:
        return len(self.data)


class Checked(NamedTuple):
    """What stands where a frame may start."""

    state: str
    frame: Optional[Frame]
    code: str
    expected: Any = None
    found: Any = None

    def require(self, file: str, offset: int, error=Corruption) -> Frame:
        if self.frame is None:
            raise error(
                self.code, file=file, offset=offset, expected=self.expected, found=self.found
            )
        return self.frame


def frame_length(buffer, at: int, left: int, most: int) -> Checked:
    """The checks that need no more than the frame's header. Valid here has no frame yet."""
    head = bytes(buffer[at : at + min(left, HEADER)])
    if not any(head):
        return Checked(EMPTY, None, "frame-empty")
    if left < HEADER:
        return Checked(TORN, None, "frame-torn", "at least 24 bytes", left)
    length = int.from_bytes(head[4:8], "little")
    if head[:4] != MAGIC:
        return Checked(DAMAGED, None, "frame-magic", MAGIC.hex(), head[:4].hex())
    if not HEADER <= length <= most:
        return Checked(DAMAGED, None, "frame-length", f"24 to {most}", length)
    if length > left:
        return Checked(TORN, None, "frame-torn", f"{length} bytes", left)
    return Checked(VALID, None, "", found=length)


def check_frame(buffer, at: int, left: int, tag: int, most: int, offset: int) -> Checked:
    """Checks the frame at `buffer[at]`; `left` bytes of the file are there from it on.

    `buffer` has to hold all of `left`, or at least the whole frame.
    """
    first = frame_length(buffer, at, left, most)
    if first.state != VALID:
        return first
    length = first.found
    data = bytes(buffer[at : at + length])
    _, _, checksum, found_tag, block, template, schema, version = _FRONT.unpack_from(data)
    if found_tag != tag:
        return Checked(DAMAGED, None, "frame-tag", tag, found_tag)
    actual = crc32c(memoryview(data)[12:])
    if actual != checksum:
        return Checked(DAMAGED, None, "frame-checksum", f"{checksum:08x}", f"{actual:08x}")
    if schema != 1 or version == 0:
        return Checked(DAMAGED, None, "frame-schema", "1, version 1 or more", (schema, version))
    if block > length - HEADER:
        return Checked(DAMAGED, None, "frame-block-length", f"at most {length - HEADER}", block)
    return Checked(VALID, Frame(data, offset, template, version, block), "")


# Kinds of fields: how they are unpacked, and what they may hold.
#   n    u64 that fits an i64           i   i64, any          u   u32, any
#   id1  u64 from 1 that fits an i64
#   v    u16 from 1
#   ns   id of a namespace              w   u16, any          b   u8, any
#   key  32 bytes                       id  16 bytes          z   reserved, so many bytes
_PACK = {"n": "Q", "id1": "Q", "v": "H", "i": "q", "u": "I", "ns": "I", "w": "H", "b": "B", "key": "32s", "id": "16s"}
_WIDTH = {"n": 8, "id1": 8, "v": 2, "i": 8, "u": 4, "ns": 4, "w": 2, "b": 1, "key": 32, "id": 16}

Field = Tuple[str, str]


class Row:
    """Fields one behind the other: a fixed part, or an entry of a group."""

    def __init__(self, fields: List[Field]) -> None:
        self.fields = fields
        pack = "<"
        self.size = 0
        for _, kind in fields:
            width = int(kind[1:]) if kind[0] == "z" else _WIDTH[kind]
            pack += f"{width}s" if kind[0] == "z" else _PACK[kind]
            self.size += width
        self.packed = struct.Struct(pack)

    def read(self, data: bytes, at: int) -> Dict[str, Any]:
        out: Dict[str, Any] = {}
        for (name, kind), value in zip(self.fields, self.packed.unpack_from(data, at)):
            if kind == "n":
                if value > _I64_MAX:
                    raise Corruption("number-range", expected=f"{name} below 2^63", found=value)
            elif kind == "id1":
                if not 1 <= value <= _I64_MAX:
                    raise Corruption("number-range", expected=f"{name} 1 to 2^63-1", found=value)
            elif kind == "v":
                if value == 0:
                    raise Corruption("number-range", expected=f"{name} 1 or more", found=value)
            elif kind == "ns":
                if not 1 <= value < 1 << 31:
                    raise Corruption("number-range", expected=f"{name} 1 to 2^31-1", found=value)
            elif kind[0] == "z":
                if any(value):
                    raise Corruption("reserved", expected=f"{name} 0", found=value.hex())
                continue
            out[name] = value
        return out


class Message(NamedTuple):
    """A message's table: fixed part, groups, texts, in this order."""

    name: str
    fixed: Row
    groups: List[Tuple[str, Row]]
    texts: List[str]
    strict: bool


class Cursor:
    """Walks through a message and holds every part against the frame."""

    def __init__(self, frame: Frame, strict: bool) -> None:
        self.frame = frame
        # Exact lengths: always of version 1, and of strict messages whatever their version.
        self.exact = strict or frame.version == 1
        self.at = HEADER

    def _sized(self, what: str, stated: int, known: int) -> None:
        if stated < known or (self.exact and stated != known):
            raise Corruption("message-length", expected=f"{what} of {known} bytes", found=stated)

    def _need(self, count: int) -> None:
        if count > self.frame.length - self.at:
            raise Corruption(
                "message-truncated", expected=f"{count} bytes", found=self.frame.length - self.at
            )

    def fixed(self, row: Row) -> Dict[str, Any]:
        self._sized("fixed part", self.frame.block_length, row.size)
        out = row.read(self.frame.data, HEADER)
        self.at = HEADER + self.frame.block_length
        return out

    def group(self, row: Row) -> Tuple[int, int, int]:
        """Where the entries start, their number, and the bytes of each."""
        self._need(4)
        size, count = struct.unpack_from("<HH", self.frame.data, self.at)
        self._sized("entry", size, row.size)
        if count > 65534:
            raise Corruption("group-count", expected="at most 65534", found=count)
        self.at += 4
        self._need(size * count)
        start = self.at
        self.at += size * count
        return start, count, size

    def text(self) -> str:
        self._need(4)
        (length,) = struct.unpack_from("<I", self.frame.data, self.at)
        self.at += 4
        self._need(length)
        raw = self.frame.data[self.at : self.at + length]
        self.at += length
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError as e:
            raise Corruption("text-utf8", found=e.reason) from None

    def end(self) -> None:
        if self.exact and self.at != self.frame.length:
            raise Corruption("message-length", expected=f"{self.at} bytes", found=self.frame.length)


def decode(frame: Frame, message: Message) -> Dict[str, Any]:
    """All fields of a message by name, groups as lists. Reserved ones are checked and left out."""
    try:
        cursor = Cursor(frame, message.strict)
        out = cursor.fixed(message.fixed)
        for name, row in message.groups:
            start, count, size = cursor.group(row)
            data = frame.data
            out[name] = [row.read(data, start + i * size) for i in range(count)]
        for name in message.texts:
            out[name] = cursor.text()
        cursor.end()
        return out
    except Corruption as e:
        e.what = f"{message.name}: {e.what}"
        raise


def _row(text: str) -> Row:
    fields = []
    for item in text.split():
        name, kind = item.split(":")
        fields.append((name, kind))
    return Row(fields)


def _message(name, fixed, groups=(), texts=(), strict=False) -> Message:
    return Message(name, _row(fixed), [(g, _row(r)) for g, r in groups], list(texts), strict)


_VERSIONS = "readVersion:v writeVersion:v"
_PLACE = "segmentId:id1 offsetBytes:n lengthBytes:n"

#: Template id -> message.
MESSAGES: Dict[int, Message] = {
    1: _message(
        "SegmentHeader",
        f"storeId:id segmentId:id1 creationSequence:n {_VERSIONS} kind:b reserved1:z1 reserved2:z2",
    ),
    2: _message(
        "SegmentFooter",
        "segmentId:id1 recordsEndBytes:n recordCount:u reserved:z4",
        [("records", "offsetBytes:n lengthBytes:n")],
    ),
    3: _message(
        "Record",
        "sequence:n segmentId:id1 lengthBytes:n tokenFrom:n tokenTo:n coveredFrom:n key:key"
        " parentKey:key namespaceId:ns kind:b reserved:z1 pieceIndex:w pieceCount:w reserved2:z2",
        [
            (
                "parts",
                "tensor:w codec:b flags:b outerFrom:u outerCount:u chunkCount:u rowFrom:n"
                " rowCount:n storedLengthBytes:n offsetBytes:n",
            ),
            ("chunks", "storedLengthBytes:u checksum:u"),
        ],
        strict=True,
    ),
    4: _message(
        "NamespaceRecord",
        "sequence:n segmentId:id1 fingerprint:key namespaceId:ns reserved:z4",
        texts=["identity", "layout", "codecs"],
        strict=True,
    ),
    10: _message("Current", f"storeId:id manifestId:id1 {_VERSIONS} reserved:z4"),
    11: _message(
        "Status",
        "storeId:id manifestId:id1 manifestLengthBytes:n heartbeatMillis:i processId:n",
        texts=["counters"],
    ),
    20: _message(
        "ManifestHeader", f"storeId:id manifestId:id1 createdMillis:i {_VERSIONS} reserved:z4"
    ),
    21: _message(
        "CheckpointEnd",
        "editCount:n nextSegmentId:n nextSessionId:n nextSequence:n nextNamespaceId:u reserved:z4",
    ),
    22: _message("BatchMark", "offsetBytes:n durableLengthBytes:n editCount:u reserved:z4"),
    30: _message(
        "NamespaceAdded",
        "fingerprint:key namespaceId:ns reserved:z4",
        texts=["identity", "layout", "codecs"],
    ),
    31: _message("NamespaceDropped", "namespaceId:ns reserved:z4"),
    32: _message(
        "SegmentCreated",
        "segmentId:id1 creationSequence:n kind:b reserved1:z1 reserved2:z2 reserved3:z4",
    ),
    33: _message("SegmentSealed", "segmentId:id1 lengthBytes:n footerOffsetBytes:n"),
    34: _message("SegmentRemoved", "segmentId:id1"),
    35: _message(
        "SessionOpened",
        "sessionId:n openedMillis:i startTokens:n expectedTokens:n policyArgument:n"
        " namespaceId:ns policy:b abortMode:b reserved:z2",
    ),
    36: _message(
        "SessionClosed",
        "sessionId:n closedMillis:i outcome:b reserved1:z1 reserved2:z2 reserved3:z4",
    ),
    37: _message(
        "RowsAdded",
        "key:key parentKey:key sessionId:n tokenFrom:n tokenTo:n sequence:n addedMillis:i"
        " payloadBytes:n namespaceId:ns",
        [("records", _PLACE)],
    ),
    38: _message("RowsDropped", "key:key namespaceId:ns reason:b reserved1:z1 reserved2:z2"),
    39: _message(
        "PointAdded",
        "key:key sessionId:n coveredFrom:n sequence:n addedMillis:i deltaPayloadBytes:n"
        " statePayloadBytes:n namespaceId:ns",
        [("records", f"{_PLACE} kind:b")],
    ),
    40: _message("PointDropped", "key:key namespaceId:ns reason:b deltaToo:b reserved:z2"),
    41: _message(
        "ChainKept", "key:key keptMillis:i namespaceId:ns reserved:z4", texts=["name"]
    ),
    42: _message("ChainReleased", "namespaceId:ns reserved:z4", texts=["name"]),
    43: _message(
        "RecordMoved",
        "key:key fromSegmentId:id1 fromOffsetBytes:n toSegmentId:id1 toOffsetBytes:n namespaceId:ns"
        " kind:b reserved1:z1 reserved2:z2",
    ),
    44: _message("Touched", "", [("boundaries", "key:key sequence:n namespaceId:ns")]),
    45: _message("BudgetSpent", "epochDay:i writtenBytes:n"),
    46: _message(
        "DescriptorPlaced",
        "segmentId:id1 offsetBytes:n lengthBytes:n namespaceId:ns reserved:z4",
    ),
    47: _message("BoundaryUsed", "key:key sessionId:n namespaceId:ns reserved:z4"),
}

SEGMENT_HEADER, SEGMENT_FOOTER, RECORD, NAMESPACE_RECORD = 1, 2, 3, 4
CURRENT, STATUS, MANIFEST_HEADER, CHECKPOINT_END, BATCH_MARK = 10, 11, 20, 21, 22

READ_VERSION = 1


def fmt_store_id(raw: bytes) -> str:
    """As people see it: the upper word's digits, then the lower's."""
    high, low = struct.unpack("<QQ", raw)
    return f"{high:016x}{low:016x}"
