"""CURRENT, STATUS, and the manifest's log: where its content ends, and what it says."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

from .errors import (
    Corruption,
    CorruptCurrent,
    CorruptManifest,
    NotAStore,
    UnsupportedFormat,
    WaymarkError,
)
from .files import ReadFile, io_error, read_small
from .forest import Forest
from .frame import (
    BATCH_MARK,
    CHECKPOINT_END,
    CURRENT,
    MANIFEST_HEADER,
    MESSAGES,
    MOST_MANIFEST,
    MOST_MARK,
    MOST_SMALL,
    READ_VERSION,
    STATUS,
    Checked,
    Frame,
    check_frame,
    decode,
)

_BATCH_BYTES = 1 << 20
_SKIPPABLE = 0x8000
_EDITS = range(30, 48)
_STATUS_TRIES = 8


class Current(NamedTuple):
    store_id: bytes
    manifest_id: int
    write_version: int


class Status(NamedTuple):
    store_id: bytes
    manifest_id: int
    manifest_length: int
    heartbeat_millis: int
    process_id: int
    counters: str


def refuse_newer(frame: Frame, file: str) -> None:
    """Refuses a higher read version before anything else of the message is looked at."""
    row = MESSAGES[frame.template].fixed
    if frame.block_length < row.size:
        raise Corruption("message-length", expected=row.size, found=frame.block_length)
    at = 24
    for name, kind in row.fields:
        if name == "readVersion":
            break
        at += {"id": 16, "id1": 8, "n": 8, "i": 8}[kind]
    version = int.from_bytes(frame.data[at : at + 2], "little")
    if version > READ_VERSION:
        raise UnsupportedFormat(
            "newer-read-version", file=file, offset=frame.offset,
            expected=f"at most {READ_VERSION}", found=version,
        )  # fmt: skip


def require_template(frame: Frame, template: int) -> None:
    if frame.template != template:
        raise Corruption(
            "frame-template", expected=MESSAGES[template].name, found=frame.template
        )


def read_current(directory: str) -> Current:
    data = read_small(directory, "CURRENT", MOST_SMALL)
    if data is None:
        raise NotAStore("no-store", file="CURRENT")
    try:
        frame = check_frame(data, 0, len(data), 0, MOST_SMALL, 0).require("CURRENT", 0)
        require_template(frame, CURRENT)
        refuse_newer(frame, "CURRENT")
        if frame.length != len(data):
            raise Corruption("current-size", expected=frame.length, found=len(data))
        got = decode(frame, MESSAGES[CURRENT])
    except Corruption as e:
        raise _as(CorruptCurrent, e).at("CURRENT", 0) from None
    return Current(got["storeId"], got["manifestId"], got["writeVersion"])


def parse_status(data: Optional[bytes]) -> Optional[Status]:
    if data is None or len(data) != 4096:
        return None
    checked = check_frame(data, 0, len(data), 0, MOST_SMALL, 0)
    if checked.frame is None or checked.frame.template != STATUS:
        return None
    if any(data[checked.frame.length :]):
        return None
    try:
        got = decode(checked.frame, MESSAGES[STATUS])
    except Corruption:
        return None
    return Status(
        got["storeId"], got["manifestId"], got["manifestLengthBytes"],
        got["heartbeatMillis"], got["processId"], got["counters"],
    )  # fmt: skip


def read_status(directory: str, store_id: bytes) -> Optional[Status]:
    """None if it is missing, invalid on every try, or of another store."""
    for _ in range(_STATUS_TRIES):
        data = read_small(directory, "STATUS", MOST_SMALL)
        status = parse_status(data)
        if status is not None:
            return status if status.store_id == store_id else None
        if data is None:
            return None
    return None


def _as(kind, e: Corruption) -> WaymarkError:
    if isinstance(e, kind):
        return e
    return kind(e.code, e.what, file=e.file, offset=e.offset, expected=e.expected, found=e.found)


class Log(NamedTuple):
    """What a manifest holds."""

    forest: Forest
    #: Where the content ends.
    content_end: int
    #: `prefix` (read as far as STATUS says), `clean`, or `torn`.
    tail: str
    write_version: int
    created_millis: int


#: Called with (offset, frame length, name, fields) of each message, for dumps.
Sink = Callable[[int, int, str, Dict[str, Any]], None]


def manifest_name(manifest_id: int) -> str:
    return f"manifest-{manifest_id}.log"


def read_manifest(
    directory: str, current: Current, status: Optional[Status], sink: Optional[Sink] = None
) -> Log:
    name = manifest_name(current.manifest_id)
    prefix = None
    if status is not None and status.manifest_id == current.manifest_id:
        prefix = status.manifest_length
    try:
        file = ReadFile(directory, name)
    except FileNotFoundError:
        raise CorruptManifest("manifest-missing", file=name) from None
    except OSError as e:
        raise io_error(e, name) from e
    try:
        size = file.size()
        if prefix is not None and prefix > size:
            raise CorruptManifest("manifest-short", file=name, expected=prefix, found=size)
        data = file.read(0, size if prefix is None else prefix)
    finally:
        file.close()
    if prefix is not None and len(data) < prefix:
        raise CorruptManifest("manifest-short", file=name, expected=prefix, found=len(data))
    return parse_manifest(data, current, prefix is not None, sink)


def parse_manifest(
    data: bytes, current: Current, is_prefix: bool, sink: Optional[Sink] = None
) -> Log:
    """Reads a manifest, or the prefix of one that STATUS attests."""
    try:
        return _Reader(data, current, is_prefix, sink).read()
    except Corruption as e:
        raise _as(CorruptManifest, e).at(manifest_name(current.manifest_id), None) from None


class _Reader:
    def __init__(
        self, data: bytes, current: Current, is_prefix: bool, sink: Optional[Sink]
    ) -> None:
        self.data = memoryview(data)
        self.raw = data
        self.current = current
        self.tag = current.manifest_id & 0xFFFFFFFF
        self.is_prefix = is_prefix
        self.sink = sink
        self.forest = Forest()
        self.checkpointed = False
        self.edits = 0
        self.durable = 0
        self.mark: Dict[str, Any] = {}

    def _check(self, at: int) -> Checked:
        """The frame at an offset, its padding included."""
        left = len(self.data) - at
        checked = check_frame(self.data, at, left, self.tag, MOST_MANIFEST, at)
        if checked.frame is None:
            return checked
        end = at + checked.frame.length
        padding = self.raw[end : at + _to8(checked.frame.length)]
        if any(padding):
            return Checked("damaged", None, "frame-padding", "zeros", padding.hex())
        if len(padding) < -checked.frame.length % 8:
            return Checked("torn", None, "frame-torn", "padding to 8 bytes", "less")
        return checked

    def read(self) -> Log:
        name = manifest_name(self.current.manifest_id)
        header, write_version, created = self._header(name)
        at = content_end = batch_start = _to8(header.length)
        batch: List[Tuple[int, Frame]] = []
        batch_bytes = 0
        while True:
            checked = self._check(at)
            if checked.frame is None:
                break
            frame = checked.frame
            if frame.template == BATCH_MARK:
                self._mark(frame, at, batch_start, len(batch))
                for offset, edit in batch:
                    self._edit(offset, edit)
                if self.sink:
                    self.sink(at, frame.length, "BatchMark", self.mark)
                batch = []
                batch_bytes = 0
                at += _to8(frame.length)
                content_end = batch_start = at
                continue
            if batch_bytes >= _BATCH_BYTES:
                raise Corruption("batch-size", file=name, offset=at)
            batch.append((at, frame))
            batch_bytes += _to8(frame.length)
            at += _to8(frame.length)
        return self._end(at, checked, content_end, write_version, created)

    def _header(self, name: str) -> Tuple[Frame, int, int]:
        frame = self._check(0).require(name, 0)
        try:
            require_template(frame, MANIFEST_HEADER)
            refuse_newer(frame, name)
            got = decode(frame, MESSAGES[MANIFEST_HEADER])
            mine = (self.current.store_id, self.current.manifest_id)
            if (got["storeId"], got["manifestId"]) != mine:
                raise Corruption("manifest-header", found=got["manifestId"])
        except Corruption as e:
            raise e.at(name, 0)
        if self.sink:
            self.sink(0, frame.length, "ManifestHeader", got)
        return frame, got["writeVersion"], got["createdMillis"]

    def _mark(self, frame: Frame, at: int, batch_start: int, count: int) -> None:
        name = manifest_name(self.current.manifest_id)
        try:
            if frame.length > MOST_MARK:
                raise Corruption("batch-mark", expected=f"{MOST_MARK} bytes", found=frame.length)
            got = decode(frame, MESSAGES[BATCH_MARK])
            stated = (got["offsetBytes"], got["editCount"])
            if stated != (at, count):
                raise Corruption("batch-mark", expected=(at, count), found=stated)
            durable = got["durableLengthBytes"]
            if not self.durable <= durable <= batch_start:
                raise Corruption(
                    "batch-mark", expected=f"{self.durable} to {batch_start}", found=durable
                )
        except Corruption as e:
            raise e.at(name, at)
        self.durable = durable
        self.mark = got

    def _edit(self, offset: int, frame: Frame) -> None:
        name = manifest_name(self.current.manifest_id)
        template = frame.template
        try:
            if template >= _SKIPPABLE:
                got, label = {}, f"skippable {template:04x}"
            elif template == CHECKPOINT_END:
                got, label = decode(frame, MESSAGES[template]), "CheckpointEnd"
                if self.checkpointed:
                    raise Corruption("manifest-second-checkpoint")
                if got["editCount"] != self.edits:
                    raise Corruption(
                        "manifest-checkpoint-count", expected=self.edits, found=got["editCount"]
                    )
                self.checkpointed = True
                self.forest.checkpoint_end(got)
            elif template in _EDITS:
                got, label = decode(frame, MESSAGES[template]), MESSAGES[template].name
                self.forest.apply(label, got)
            elif template in MESSAGES:
                raise Corruption("edit-template", found=MESSAGES[template].name)
            else:
                raise UnsupportedFormat("unknown-edit", file=name, offset=offset, found=template)
        except Corruption as e:
            raise e.at(name, offset)
        self.edits += 1
        if self.sink:
            self.sink(offset, frame.length, label, got)

    def _end(
        self, at: int, stop: Checked, content_end: int, write_version: int, created: int
    ) -> Log:
        name = manifest_name(self.current.manifest_id)
        tail = "prefix"
        if self.is_prefix:
            proven = len(self.data)
        else:
            proven = max(self.durable, self._attested_behind(at))
            tail = "torn" if any(_chunks(self.raw, content_end)) else "clean"
        if content_end < proven:
            # Where what is there is well as far as it goes, too little is there.
            code = stop.code if at < min(proven, len(self.data)) else "manifest-short"
            raise CorruptManifest(
                code, file=name, offset=at,
                expected=f"durable edits up to {proven}",
                found=f"content up to {content_end}",
            )  # fmt: skip
        if not self.checkpointed:
            raise CorruptManifest("manifest-no-checkpoint", file=name, offset=content_end)
        return Log(self.forest, content_end, tail, write_version, created)

    def _attested_behind(self, at: int) -> int:
        """What marks behind the first invalid frame say was durable."""
        best = 0
        found = self.raw.find(b"WMRK", at)
        while found >= 0:
            if found % 8 == 0:
                length = int.from_bytes(self.raw[found + 4 : found + 8], "little")
                template = int.from_bytes(self.raw[found + 18 : found + 20], "little")
                # Forged marks of many MiB would make the scan quadratic; real ones have 48 bytes.
                if template == BATCH_MARK and length <= MOST_MARK:
                    best = max(best, self._attested_by(found))
            found = self.raw.find(b"WMRK", found + 4)
        return best

    def _attested_by(self, at: int) -> int:
        checked = self._check(at)
        if checked.frame is None or checked.frame.template != BATCH_MARK:
            return 0
        try:
            got = decode(checked.frame, MESSAGES[BATCH_MARK])
        except Corruption:
            return 0
        return got["durableLengthBytes"] if got["offsetBytes"] == at else 0


def _to8(length: int) -> int:
    return -(-length // 8) * 8


def _chunks(raw: bytes, start: int):
    """Whether bytes other than zero follow, in pieces, so that a long tail is not copied."""
    for at in range(start, len(raw), 1 << 20):
        yield raw[at : at + (1 << 20)].strip(b"\0") != b""
