"""What can go wrong, by type and by code.

A type says what a caller can do about it; a code says which rule of the format page was broken.
Every code that the reader can raise is listed here, so that tests can ask for one example of each.
"""

from __future__ import annotations

from typing import Any, Optional

#: Code -> the rule that was broken.
CODES = {
    # No store, or not one for this reader.
    "no-store": "there is no CURRENT file",
    "newer-read-version": "the file needs a newer reader",
    "unknown-edit": "an edit that this reader does not know and may not skip",
    # Frames.
    "frame-empty": "zeros stand where a frame has to be",
    "frame-torn": "the file, or the prefix, ends inside the frame",
    "frame-magic": "the frame does not start with WMRK",
    "frame-length": "the frame's length is out of range",
    "frame-tag": "the frame belongs to another file",
    "frame-checksum": "the frame's CRC32C does not match",
    "frame-schema": "the frame is of another schema, or of version 0",
    "frame-block-length": "the frame's fixed part does not fit into it",
    "frame-padding": "the padding behind a frame is not zero",
    "frame-template": "the frame holds another message than the one that belongs here",
    # Messages.
    "message-length": "parts of a message have another length than its version states",
    "message-truncated": "a part of a message ends outside of its frame",
    "group-count": "a group has more entries than the format allows",
    "text-utf8": "a text is not UTF-8",
    "reserved": "reserved bytes are not zero",
    "number-range": "a number is outside of its range",
    "code-unknown": "a kind, codec, reason, policy or other code that the format does not have",
    # CURRENT.
    "current-size": "CURRENT is not exactly one frame",
    # Manifests.
    "manifest-missing": "the manifest that CURRENT names is not there",
    "manifest-short": "the manifest is shorter than what was published as durable",
    "manifest-header": "the manifest's header is of another manifest or store",
    "manifest-no-checkpoint": "the manifest holds no complete checkpoint",
    "manifest-second-checkpoint": "the manifest holds a second end of a checkpoint",
    "manifest-checkpoint-count": "the checkpoint counts another number of edits",
    "batch-mark": "a mark contradicts its batch",
    "batch-size": "a batch goes on after 1 MiB of edits",
    "edit-template": "a message that is no edit stands among the edits",
    # State.
    "namespace-exists": "a namespace is added twice",
    "namespace-unknown": "an edit names a namespace that is not there",
    "namespace-not-empty": "a namespace with boundaries is dropped",
    "namespace-text": "a layout, identity or codec plan does not parse",
    "namespace-fingerprint": "a namespace's fingerprint is not that of its texts",
    "segment-exists": "a segment's id is used twice",
    "segment-unknown": "an edit names a segment that is not there",
    "segment-sealed": "a segment is sealed again, and otherwise",
    "segment-in-use": "a segment with live records is removed",
    "segment-of-other-kind": "a record is placed in a segment of another kind",
    "boundary-exists": "a boundary is added twice",
    "boundary-unknown": "an edit names a boundary that is not there",
    "boundary-parent": "a boundary's parent is not there, or ends elsewhere",
    "boundary-grid": "a boundary is not on the grid of blocks",
    "boundary-in-use": "a boundary with children, a point or a delta is dropped",
    "point-exists": "a boundary gets a second point",
    "delta-shrinks": "a delta takes the place of one that covers more",
    "point-unknown": "a point is dropped where there is neither point nor delta",
    "record-unknown": "a record is moved that is not live at its old place",
    # Segments and records.
    "segment-missing": "a segment's file is not there",
    "segment-length": "a sealed segment's file has another length",
    "segment-header": "a segment's header is of another segment or store",
    "segment-footer": "a sealed segment's footer is wrong",
    "descriptor": "a namespace's record in a segment is wrong",
    "record-outside": "a record lies outside of its file",
    "record-other": "another record stands where the manifest places this one",
    "record-overlap": "two live records share bytes",
    "record-piece": "a record is another piece than its place in the edit says",
    "part-tensor": "a part names a tensor that the layout does not have",
    "part-codec": "a part's codec cannot take its tensor",
    "part-flags": "a part's flags are not zero",
    "part-range": "a part lies outside of the tensor, or of the contribution",
    "part-place": "a part stands elsewhere than the format places it",
    "part-overlap": "parts of a contribution overlap",
    "part-missing": "the parts of a contribution do not cover it",
    "chunk-count": "the table of chunks has another number of entries",
    "chunk-length": "a chunk has an impossible stored length",
    "chunk-checksum": "a chunk's CRC32C does not match",
    "record-length": "a record ends elsewhere than it says",
    "codec-scale": "a row's scale is out of range",
    "codec-planes": "the planes of a chunk are malformed",
    "codec-zstd": "a plane is not one zstd frame of the right size",
    "window-gap": "window rows that a point needs are stored nowhere",
    # Not the store's fault.
    "moving": "the writer changed the state on every try",
    "not-stored": "no such boundary",
    "not-restorable": "the boundary has no restore point",
    "missing-extra": "an optional package is needed",
    "too-large": "the result would be larger than the caller allows",
    "invalid-argument": "an argument is out of range",
    "io": "the operating system failed",
    "closed": "the store was closed",
}


class WaymarkError(Exception):
    """Base of all that this package raises on purpose."""

    def __init__(
        self,
        code: str,
        what: str = "",
        *,
        file: Optional[str] = None,
        offset: Optional[int] = None,
        expected: Any = None,
        found: Any = None,
    ) -> None:
        self.code = code
        self.what = what or CODES[code]
        self.file = file
        self.offset = offset
        self.expected = expected
        self.found = found
        super().__init__(code)

    def __str__(self) -> str:
        text = self.what
        if self.file is not None:
            text += f" [{self.file}"
            text += "]" if self.offset is None else f" at {self.offset}]"
        if self.expected is not None:
            text += f"; expected {self.expected}"
        if self.found is not None:
            text += f"; found {self.found}"
        return f"{self.code}: {text}"

    def at(self, file: str, offset: Optional[int]) -> "WaymarkError":
        """Fills in the place where a deeper layer did not know it."""
        if self.file is None:
            self.file, self.offset = file, offset
        return self


class NotAStore(WaymarkError):
    """There is no store here."""


class UnsupportedFormat(WaymarkError):
    """A newer version wrote it. Not damage."""


class Corruption(WaymarkError):
    """What is stored breaks a rule of the format."""


class CorruptCurrent(Corruption):
    """CURRENT is damaged: there is no state."""


class CorruptManifest(Corruption):
    """The manifest is damaged: there is no state."""


class CorruptRecord(Corruption):
    """A segment, record or chunk is damaged or missing: what needs it cannot be restored."""


class Moving(WaymarkError):
    """A live writer changed the state on every try: neither damage nor a result."""


class NotStored(WaymarkError):
    """The boundary is not stored."""


class NotRestorable(WaymarkError):
    """The boundary is stored, but has no restore point."""


class MissingExtra(WaymarkError):
    """An optional package is missing; the message names the extra that brings it."""


class TooLarge(WaymarkError):
    """The result would exceed the caller's limit."""


class InvalidArgument(WaymarkError):
    """The caller passed something impossible."""


class StoreIoError(WaymarkError):
    """The operating system failed. Not damage."""


class Closed(WaymarkError):
    """The store was closed."""
