"""The state that edits add up to: namespaces, segments, and boundaries by key."""

from __future__ import annotations

from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Set, Tuple

from .errors import Corruption
from .layout import CodecPlan, Layout, fingerprint, parse_identity, root_key

APPEND, DELTA, STATE = 1, 2, 3
KIND_NAMES = {APPEND: "APPEND", DELTA: "DELTA", STATE: "STATE"}
_SEGMENT_OF = {APPEND: 1, DELTA: 2, STATE: 2}
_PREFIX = {1: "append", 2: "delta"}
_MAX_TOKENS = (1 << 31) - 1


class Place(NamedTuple):
    """Where a record stands."""

    segment: int
    offset: int
    length: int


class Segment:
    """What the manifest says of a segment."""

    __slots__ = ("id", "kind", "creation_sequence", "sealed_length", "footer_offset", "live")

    def __init__(self, segment_id: int, kind: int, creation_sequence: int) -> None:
        self.id = segment_id
        self.kind = kind
        self.creation_sequence = creation_sequence
        self.sealed_length: Optional[int] = None
        self.footer_offset = 0
        self.live = 0

    @property
    def file(self) -> str:
        return f"{_PREFIX[self.kind]}-{self.id}.seg"


class Boundary:
    """A position on the block grid of a prefix, and the records that stand for it."""

    __slots__ = (
        "namespace", "key", "parent", "parent_key", "token_from", "tokens", "sequence",
        "added_millis", "children", "rows", "point", "delta", "state", "covered_from",
    )  # fmt: skip

    def __init__(self, namespace: int, key: bytes, parent: Optional["Boundary"]) -> None:
        self.namespace = namespace
        self.key = key
        self.parent = parent
        self.parent_key = b""
        self.token_from = 0
        self.tokens = 0
        self.sequence = 0
        self.added_millis = 0
        self.children = 0
        self.rows: List[Place] = []
        self.point = False
        self.delta: List[Place] = []
        self.state: List[Place] = []
        self.covered_from = 0

    def records(self, kind: int) -> List[Place]:
        return self.rows if kind == APPEND else self.delta if kind == DELTA else self.state

    def chain(self) -> Iterator["Boundary"]:
        """This one, its parent, and so on to the first."""
        at: Optional[Boundary] = self
        while at is not None:
            yield at
            at = at.parent


class Namespace:
    """A namespace: its texts, parsed, and its boundaries."""

    def __init__(self, ident: int, stated: bytes, identity: str, layout: str, codecs: str) -> None:
        self.id = ident
        self.fingerprint = stated
        self.layout_text, self.identity_text, self.codecs_text = layout, identity, codecs
        self.layout = Layout.parse(layout)
        self.identity = parse_identity(identity)
        self.codecs = CodecPlan.parse(codecs)
        self.boundaries: Dict[bytes, Boundary] = {}
        #: Keys that first boundaries name as their parent, with how many do.
        self.roots: Dict[bytes, int] = {}
        self.kept: Dict[str, bytes] = {}

    @property
    def root(self) -> bytes:
        return root_key(self.fingerprint)

    def computed_fingerprint(self) -> bytes:
        return fingerprint(self.layout, self.identity, self.codecs)

    def restorable(self, boundary: Boundary) -> bool:
        return boundary.point or not self.layout.needs_points


def _check_code(name: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise Corruption("code-unknown", expected=f"{name} {low} to {high}", found=value)


def _place(entry: Dict[str, int]) -> Place:
    place = Place(entry["segmentId"], entry["offsetBytes"], entry["lengthBytes"])
    end = place.offset + place.length
    if place.offset <= 0 or place.offset % 4096 or place.length < 1 or end >= 1 << 63:
        raise Corruption("number-range", "a record's place is impossible", found=tuple(place))
    return place


class Forest:
    """The state. Edits are applied in order; one that contradicts those before raises."""

    def __init__(self) -> None:
        self.namespaces: Dict[int, Namespace] = {}
        self.segments: Dict[int, Segment] = {}
        self._segment_ids: Set[int] = set()
        self.descriptors: Dict[Tuple[int, int], Place] = {}
        self.budget: Optional[Tuple[int, int]] = None
        self._next_segment = 0
        self._next_namespace = 0

    # What edits need.

    def _namespace(self, edit: Dict[str, Any]) -> Namespace:
        found = self.namespaces.get(edit["namespaceId"])
        if found is None:
            raise Corruption("namespace-unknown", found=edit["namespaceId"])
        return found

    def _boundary(self, edit: Dict[str, Any]) -> Boundary:
        found = self._namespace(edit).boundaries.get(edit["key"])
        if found is None:
            raise Corruption("boundary-unknown", found=edit["key"].hex()[:8])
        return found

    def _segment(self, segment_id: int) -> Segment:
        found = self.segments.get(segment_id)
        if found is None:
            raise Corruption("segment-unknown", found=segment_id)
        return found

    def _live(self, place: Place, kind: int) -> None:
        segment = self._segment(place.segment)
        if segment.kind != _SEGMENT_OF[kind]:
            raise Corruption("segment-of-other-kind", found=f"{KIND_NAMES[kind]} in {segment.file}")
        segment.live += 1

    def _dead(self, places: List[Place]) -> None:
        for place in places:
            self.segments[place.segment].live -= 1

    # The edits, by template.

    def apply(self, name: str, edit: Dict[str, Any]) -> None:
        handler = getattr(self, "_on_" + name, None)
        if handler is None:
            raise Corruption("edit-template", found=name)
        handler(edit)

    def checkpoint_end(self, edit: Dict[str, Any]) -> None:
        if edit["nextNamespaceId"] > (1 << 31) - 1:
            raise Corruption("number-range", found=edit["nextNamespaceId"])
        self._next_segment = edit["nextSegmentId"]
        self._next_namespace = edit["nextNamespaceId"]

    def _on_NamespaceAdded(self, edit: Dict[str, Any]) -> None:
        ident = edit["namespaceId"]
        if ident in self.namespaces or ident < self._next_namespace:
            raise Corruption("namespace-exists", found=ident)
        ns = Namespace(ident, edit["fingerprint"], edit["identity"], edit["layout"], edit["codecs"])
        if ns.computed_fingerprint() != ns.fingerprint:
            raise Corruption("namespace-fingerprint", found=ns.fingerprint.hex()[:8])
        self.namespaces[ident] = ns

    def _on_NamespaceDropped(self, edit: Dict[str, Any]) -> None:
        if self._namespace(edit).boundaries:
            raise Corruption("namespace-not-empty", found=edit["namespaceId"])
        del self.namespaces[edit["namespaceId"]]
        for key in [k for k in self.descriptors if k[1] == edit["namespaceId"]]:
            del self.descriptors[key]

    def _on_SegmentCreated(self, edit: Dict[str, Any]) -> None:
        ident = edit["segmentId"]
        _check_code("segment kind", edit["kind"], 1, 2)
        if ident in self._segment_ids or ident < max(1, self._next_segment):
            raise Corruption("segment-exists", found=ident)
        self._segment_ids.add(ident)
        self.segments[ident] = Segment(ident, edit["kind"], edit["creationSequence"])

    def _on_SegmentSealed(self, edit: Dict[str, Any]) -> None:
        footer, length = edit["footerOffsetBytes"], edit["lengthBytes"]
        if footer % 4096 or (footer and footer >= length):
            raise Corruption("number-range", "a footer's place is impossible", found=footer)
        segment = self.segments.get(edit["segmentId"])
        if segment is None:
            return
        before = (segment.sealed_length, segment.footer_offset)
        if segment.sealed_length is not None and before != (length, footer):
            raise Corruption("segment-sealed", expected=before, found=(length, footer))
        segment.sealed_length, segment.footer_offset = length, footer

    def _on_SegmentRemoved(self, edit: Dict[str, Any]) -> None:
        segment = self.segments.get(edit["segmentId"])
        if segment is None:
            return
        if segment.live:
            raise Corruption("segment-in-use", found=f"{segment.live} records")
        del self.segments[segment.id]
        for key in [k for k in self.descriptors if k[0] == segment.id]:
            del self.descriptors[key]

    def _on_DescriptorPlaced(self, edit: Dict[str, Any]) -> None:
        place = _place(edit)
        self._segment(place.segment)
        # The namespace itself may be added later, even in a later batch.
        self.descriptors[place.segment, edit["namespaceId"]] = place

    def _on_SessionOpened(self, edit: Dict[str, Any]) -> None:
        _check_code("policy", edit["policy"], 1, 4)
        _check_code("abort mode", edit["abortMode"], 1, 2)
        low, high = {1: (0, 0), 2: (1, _MAX_TOKENS), 3: (0, 1_000_000), 4: (0, 0)}[edit["policy"]]
        _check_code("policy argument", edit["policyArgument"], low, high)

    def _on_SessionClosed(self, edit: Dict[str, Any]) -> None:
        _check_code("outcome", edit["outcome"], 1, 3)

    def _on_BoundaryUsed(self, edit: Dict[str, Any]) -> None:
        pass  # about sessions, which are no reader's business

    def _on_RowsAdded(self, edit: Dict[str, Any]) -> None:
        ns = self._namespace(edit)
        key, parent_key = edit["key"], edit["parentKey"]
        start, end = edit["tokenFrom"], edit["tokenTo"]
        if not start < end <= _MAX_TOKENS:
            raise Corruption("number-range", "a boundary's tokens", found=(start, end))
        if end % ns.layout.block_tokens:
            raise Corruption("boundary-grid", expected=ns.layout.block_tokens, found=end)
        if key in ns.boundaries or key in ns.roots:
            raise Corruption("boundary-exists", found=key.hex()[:8])
        parent = ns.boundaries.get(parent_key)
        if parent_key == key or (parent is None) != (start == 0):
            raise Corruption("boundary-parent", found=parent_key.hex()[:8])
        if parent is not None and parent.tokens != start:
            raise Corruption("boundary-parent", expected=start, found=parent.tokens)
        boundary = Boundary(ns.id, key, parent)
        boundary.parent_key = parent_key
        boundary.token_from, boundary.tokens = start, end
        boundary.sequence, boundary.added_millis = edit["sequence"], edit["addedMillis"]
        boundary.covered_from = end
        boundary.rows = [_place(e) for e in edit["records"]]
        if not boundary.rows:
            raise Corruption("number-range", "a boundary without a record", found=0)
        for place in boundary.rows:
            self._live(place, APPEND)
        if parent is None:
            ns.roots[parent_key] = ns.roots.get(parent_key, 0) + 1
        else:
            parent.children += 1
        ns.boundaries[key] = boundary

    def _on_RowsDropped(self, edit: Dict[str, Any]) -> None:
        _check_code("reason", edit["reason"], 1, 6)
        boundary = self._boundary(edit)
        if boundary.children or boundary.point or boundary.delta:
            raise Corruption("boundary-in-use", found=boundary.key.hex()[:8])
        ns = self.namespaces[boundary.namespace]
        self._dead(boundary.rows)
        del ns.boundaries[boundary.key]
        if boundary.parent is not None:
            boundary.parent.children -= 1
        else:
            ns.roots[boundary.parent_key] -= 1
            if not ns.roots[boundary.parent_key]:
                del ns.roots[boundary.parent_key]

    def _on_PointAdded(self, edit: Dict[str, Any]) -> None:
        boundary = self._boundary(edit)
        if boundary.point:
            raise Corruption("point-exists", found=boundary.key.hex()[:8])
        delta: List[Place] = []
        state: List[Place] = []
        for entry in edit["records"]:
            kind = entry["kind"]
            _check_code("record kind", kind, DELTA, STATE)
            if kind == DELTA and state:
                raise Corruption("code-unknown", "a DELTA record is named behind a STATE record")
            (delta if kind == DELTA else state).append(_place(entry))
        if edit["coveredFrom"] > boundary.tokens:
            raise Corruption("number-range", "coveredFrom", found=edit["coveredFrom"])
        if delta and boundary.delta and edit["coveredFrom"] > boundary.covered_from:
            raise Corruption("delta-shrinks", found=boundary.key.hex()[:8])
        for place in delta:
            self._live(place, DELTA)
        for place in state:
            self._live(place, STATE)
        boundary.point = True
        boundary.state = state
        if delta:
            self._dead(boundary.delta)
            boundary.delta, boundary.covered_from = delta, edit["coveredFrom"]
        boundary.sequence = max(boundary.sequence, edit["sequence"])

    def _on_PointDropped(self, edit: Dict[str, Any]) -> None:
        _check_code("reason", edit["reason"], 1, 6)
        _check_code("deltaToo", edit["deltaToo"], 0, 1)
        boundary = self._boundary(edit)
        if not boundary.point and not boundary.delta:
            raise Corruption("point-unknown", found=boundary.key.hex()[:8])
        boundary.point = False
        self._dead(boundary.state)
        boundary.state = []
        if edit["deltaToo"]:
            self._dead(boundary.delta)
            boundary.delta, boundary.covered_from = [], boundary.tokens

    def _on_ChainKept(self, edit: Dict[str, Any]) -> None:
        self._boundary(edit)
        self.namespaces[edit["namespaceId"]].kept[edit["name"]] = edit["key"]

    def _on_ChainReleased(self, edit: Dict[str, Any]) -> None:
        ns = self.namespaces.get(edit["namespaceId"])
        if ns is not None:
            ns.kept.pop(edit["name"], None)

    def _on_RecordMoved(self, edit: Dict[str, Any]) -> None:
        _check_code("record kind", edit["kind"], APPEND, STATE)
        boundary = self._boundary(edit)
        records = boundary.records(edit["kind"])
        old = (edit["fromSegmentId"], edit["fromOffsetBytes"])
        for index, place in enumerate(records):
            if (place.segment, place.offset) == old:
                new = _place(
                    {
                        "segmentId": edit["toSegmentId"],
                        "offsetBytes": edit["toOffsetBytes"],
                        "lengthBytes": place.length,
                    }
                )
                if (new.segment, new.offset) == old:
                    raise Corruption("number-range", "a record is moved to where it is")
                self._live(new, edit["kind"])
                self._dead([place])
                records[index] = new
                return
        raise Corruption("record-unknown", found=old)

    def _on_Touched(self, edit: Dict[str, Any]) -> None:
        for entry in edit["boundaries"]:
            ns = self.namespaces.get(entry["namespaceId"])
            boundary = ns.boundaries.get(entry["key"]) if ns else None
            if boundary is not None:
                boundary.sequence = max(boundary.sequence, entry["sequence"])

    def _on_BudgetSpent(self, edit: Dict[str, Any]) -> None:
        self.budget = (edit["epochDay"], edit["writtenBytes"])
