"""Takes the page's example apart and puts it together again, changed, with fitting checksums."""

from __future__ import annotations

import os
import struct
import sys
from typing import Any, Callable, Dict, List, Optional, Tuple

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import page  # noqa: E402
from waymark_reader.crc32c import crc32c  # noqa: E402
from waymark_reader.frame import MESSAGES, Message, check_frame, decode  # noqa: E402

BY_NAME = {m.name: t for t, m in MESSAGES.items()}
Edit = Tuple[int, Dict[str, Any]]


def _pack(row, values: Dict[str, Any]) -> bytes:
    out = []
    for name, kind in row.fields:
        out.append(values.get(name, bytes(int(kind[1:])) if kind[0] == "z" else 0))
    return row.packed.pack(*out)


def body(message: Message, values: Dict[str, Any]) -> Tuple[bytes, int]:
    fixed = _pack(message.fixed, values)
    out = fixed
    for name, row in message.groups:
        entries = values[name]
        out += struct.pack("<HH", row.size, len(entries))
        out += b"".join(_pack(row, e) for e in entries)
    for name in message.texts:
        raw = values[name] if isinstance(values[name], bytes) else values[name].encode()
        out += struct.pack("<I", len(raw)) + raw
    return out, len(fixed)


def seal(data: bytes) -> bytes:
    """A frame with the checksum that fits what it holds now."""
    data = bytearray(data)
    data[8:12] = struct.pack("<I", crc32c(bytes(data[12:])))
    return bytes(data)


def frame(
    template: int, values: Dict[str, Any], tag: int, version: int = 1, extra: bytes = b""
) -> bytes:
    """A frame; `extra` stands behind what this version knows of the message."""
    if template in MESSAGES:
        content, block = body(MESSAGES[template], values)
    else:
        content, block = b"", 0
    content += extra
    length = 24 + len(content)
    head = struct.pack("<4sIIIHHHH", b"WMRK", length, 0, tag, block, template, 1, version)
    return seal(head + content)


def parse_log(data: bytes) -> Tuple[Dict[str, Any], List[List[Edit]]]:
    header = None
    batches: List[List[Edit]] = []
    batch: List[Edit] = []
    at = 0
    while True:
        checked = check_frame(data, at, len(data) - at, 1, 64 << 20, at)
        if checked.frame is None:
            return header, batches
        values = decode(checked.frame, MESSAGES[checked.frame.template])
        if header is None:
            header = values
        elif checked.frame.template == BY_NAME["BatchMark"]:
            batches.append(batch)
            batch = []
        else:
            batch.append((checked.frame.template, values))
        at += -(-checked.frame.length // 8) * 8


def _padded(data: bytes, to: int = 8) -> bytes:
    return data + bytes(-len(data) % to)


class Example:
    """The page's example, to be changed and written."""

    def __init__(self) -> None:
        self.files = page.example_files()
        self.header, self.batches = parse_log(self.files["manifest-1.log"])
        self.rebuild_log = True
        self.status_length: Optional[int] = None
        #: Changes bytes of the finished manifest.
        self.after: Callable[[bytearray], None] = lambda data: None
        self.mark: Callable[[int, Dict[str, Any]], None] = lambda index, mark: None
        #: What a later version may write behind the mark of a batch, by the batch's index.
        self.mark_extra: Dict[int, bytes] = {}

    def edits(self, name: str) -> List[Dict[str, Any]]:
        return [v for b in self.batches for t, v in b if t == BY_NAME[name]]

    def add(self, message: str, **values: Any) -> None:
        """One more edit, in the batch of the example's data."""
        self.batches[1].append((BY_NAME[message], values))

    def log(self) -> bytes:
        out = _padded(frame(BY_NAME["ManifestHeader"], self.header, 1))
        for index, batch in enumerate(self.batches):
            start = len(out)
            for template, values in batch:
                extra = values.get("extra", b"")
                out += _padded(frame(template, values, 1, values.get("version", 1), extra))
            mark = {"offsetBytes": len(out), "durableLengthBytes": 0, "editCount": len(batch)}
            if index:
                mark["durableLengthBytes"] = start
            self.mark(index, mark)
            extra = self.mark_extra.get(index, b"")
            out += _padded(frame(BY_NAME["BatchMark"], mark, 1, 2 if extra else 1, extra))
        return out

    def log_without(self, batch: int) -> bytes:
        """The manifest as it would be if that batch had no edits."""
        kept = self.batches[batch]
        self.batches[batch] = []
        try:
            return self.log()
        finally:
            self.batches[batch] = kept

    def record(
        self, file: str, offset: int, change: Callable[[Dict[str, Any]], None]
    ) -> None:
        """Changes the front of a record where it stands."""
        data = bytearray(self.files[file])
        tag = 1 if file.startswith("append") else 2
        checked = check_frame(data, offset, len(data) - offset, tag, 4 << 20, offset)
        old = checked.frame
        values = decode(old, MESSAGES[old.template])
        change(values)
        extra = values.get("extra", b"")
        new = frame(old.template, values, tag, 2 if extra else 1, extra)
        data[offset : offset + max(len(new), old.length)] = new.ljust(old.length, b"\0")
        self.files[file] = bytes(data)

    def finished(self) -> Dict[str, bytes]:
        """The files, with the manifest put together from its edits."""
        if self.rebuild_log:
            log = bytearray(self.log())
            self.after(log)
            self.files["manifest-1.log"] = bytes(log) + bytes(4096)
            length = len(log) if self.status_length is None else self.status_length
            if "STATUS" in self.files:
                checked = check_frame(self.files["STATUS"], 0, 4096, 0, 4096, 0)
                values = decode(checked.frame, MESSAGES[11])
                values["manifestLengthBytes"] = length
                self.files["STATUS"] = frame(11, values, 0).ljust(4096, b"\0")
            self.rebuild_log = False
        return self.files

    def write(self, directory: str) -> None:
        self.finished()
        os.makedirs(directory, exist_ok=True)
        for name, data in self.files.items():
            with open(os.path.join(directory, name), "wb") as file:
                file.write(data)
