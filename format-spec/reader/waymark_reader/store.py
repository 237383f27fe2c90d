"""A store, opened for reading: beside a live writer, or at rest."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Mapping
from typing import (
    Any,
    Callable,
    Dict,
    Iterator,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Set,
    Tuple,
    TypeVar,
)

from .errors import (
    Closed,
    Corruption,
    CorruptRecord,
    InvalidArgument,
    Moving,
    NotRestorable,
    NotStored,
    TooLarge,
    WaymarkError,
)
from .files import ReadFile, io_error
from .forest import APPEND, DELTA, STATE, Boundary, Forest, Namespace, Place, Segment
from .frame import (
    MESSAGES,
    MOST_DESCRIPTOR,
    MOST_RECORD,
    NAMESPACE_RECORD,
    SEGMENT_FOOTER,
    SEGMENT_HEADER,
    check_frame,
    decode,
    fmt_store_id,
)
from .layout import TensorSpec, chain_keys, tenant_root_key
from .manifest import (
    Log,
    Status,
    _as,
    manifest_name,
    read_current,
    read_manifest,
    read_status,
    refuse_newer,
    require_template,
)
from .record import Front, Target, check_cover, read_chunk, read_front

_OPEN_FILES = 64
LEVELS = ("structure", "checksum", "decode")
T = TypeVar("T")


class Finding(NamedTuple):
    """Something wrong in the store. `severity` is `damage`, or `notice` if no restore needs it."""

    code: str
    severity: str
    file: Optional[str]
    offset: Optional[int]
    message: str
    namespace: Optional[int] = None
    key: Optional[str] = None
    tokens: Optional[int] = None


class Report(NamedTuple):
    """What `verify` saw."""

    level: str
    findings: List[Finding]
    boundaries: int
    points: int
    records: int
    bytes_checked: int
    tail: str
    #: Points that cannot be restored: (namespace, first hex digits of the key, tokens).
    lost: List[Tuple[int, str, int]]

    @property
    def ok(self) -> bool:
        return not any(f.severity == "damage" for f in self.findings)


class Tensor:
    """A restored tensor. `data` is [outer][rows][inner] in token order.

    Of a window tensor the first `sink_rows` rows are the prompt's first ones, and the rest are
    those from `window_start` on; together they are all rows while the window is not full.
    """

    def __init__(self, target: Target) -> None:
        self.spec: TensorSpec = target.spec
        self.data: bytearray = target.data if target.data is not None else bytearray()
        self.rows = target.rows
        self.sink_rows = target.sinks
        self.window_start = target.first

    @property
    def shape(self) -> Tuple[int, ...]:
        """The layout's, with the token axis as long as the rows here."""
        return tuple(self.rows if d == -1 else d for d in self.spec.shape)

    def numpy(self):
        """An array on the same memory. What numpy lacks (BF16, F8) comes as unsigned integers."""
        import numpy

        name = self.spec.dtype
        kind = {
            "BOOL": "?", "U8": "u1", "I8": "i1", "F8_E5M2": "u1", "F8_E4M3": "u1",
            "I16": "<i2", "U16": "<u2", "F16": "<f2", "BF16": "<u2", "I32": "<i4",
            "U32": "<u4", "F32": "<f4", "F64": "<f8", "I64": "<i8", "U64": "<u8",
        }[name]  # fmt: skip
        return numpy.frombuffer(self.data, dtype=kind).reshape(self.shape)

    def __bytes__(self) -> bytes:
        return bytes(self.data)

    def __len__(self) -> int:
        return len(self.data)


class Restored(Mapping):
    """Tensors by name, of a boundary that ends at `tokens`."""

    def __init__(self, tokens: int, key: bytes, tensors: Dict[str, Tensor]) -> None:
        self.tokens = tokens
        self.key = key
        self._tensors = tensors

    def __getitem__(self, name: str) -> Tensor:
        return self._tensors[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tensors)

    def __len__(self) -> int:
        return len(self._tensors)

    def numpy(self) -> Dict[str, Any]:
        return {name: tensor.numpy() for name, tensor in self._tensors.items()}


class _Anomaly(Exception):
    """Something was not as the state says, and the state may have moved on."""

    def __init__(self, cause: WaymarkError, still_named: Callable[["Store"], bool]) -> None:
        super().__init__(str(cause))
        self.cause = cause
        self.still_named = still_named


class Store:
    """An open store. Not for several threads at once."""

    def __init__(self, path: str, tries: int = 8) -> None:
        self.path = os.fspath(path)
        self.tries = tries
        self._files: "OrderedDict[int, ReadFile]" = OrderedDict()
        self._closed = False
        self._log: Log
        self.status: Optional[Status] = None
        self.refresh()

    # The state.

    def refresh(self) -> None:
        """Reads CURRENT, STATUS and the manifest again."""
        if self._closed:
            raise Closed("closed")
        failures: List[Tuple[Any, WaymarkError]] = []
        for _ in range(self.tries + 1):
            current = read_current(self.path)
            status = read_status(self.path, current.store_id)
            about = status is not None and status.manifest_id == current.manifest_id
            seen = (current.manifest_id, status.manifest_length if about else None)
            try:
                log = read_manifest(self.path, current, status)
            except Corruption as e:
                # Damage only if the same state was met twice in a row.
                if failures and failures[-1][0] == seen:
                    raise
                failures.append((seen, e))
                continue
            if failures and failures[-1][0] != seen:
                # Descriptors of files that the newer manifest may not name.
                self._close_files()
            self.current, self.status, self._log = current, status, log
            return
        raise Moving("moving", found=str(failures[-1][1]))

    @property
    def forest(self) -> Forest:
        return self._log.forest

    @property
    def tail(self) -> str:
        """`prefix` where STATUS says how far to read, else `clean` or `torn`."""
        return self._log.tail

    @property
    def store_id(self) -> str:
        return fmt_store_id(self.current.store_id)

    @property
    def read_only_for_writers(self) -> bool:
        """Whether a writer of version 1 would have to leave it as it is."""
        return max(self.current.write_version, self._log.write_version) > 1

    def namespaces(self) -> List[Namespace]:
        return [self.forest.namespaces[i] for i in sorted(self.forest.namespaces)]

    def namespace(self, which: Any) -> Namespace:
        """By number, by (a prefix of) its fingerprint's hex, or as it is."""
        if isinstance(which, Namespace):
            which = which.id
        if isinstance(which, int):
            found = [n for n in self.namespaces() if n.id == which]
        else:
            found = [n for n in self.namespaces() if n.fingerprint.hex().startswith(str(which))]
        if len(found) != 1:
            raise NotStored("not-stored", "no such namespace, or several", found=which)
        return found[0]

    def boundaries(self, namespace: Any = None) -> List[Boundary]:
        """All, or those of one namespace, by tokens and key."""
        spaces = self.namespaces() if namespace is None else [self.namespace(namespace)]
        out = [b for n in spaces for b in n.boundaries.values()]
        return sorted(out, key=lambda b: (b.namespace, b.tokens, b.key))

    def points(self, namespace: Any = None) -> List[Boundary]:
        """Boundaries that can be restored."""
        return [
            b
            for b in self.boundaries(namespace)
            if self.forest.namespaces[b.namespace].restorable(b)
        ]

    def match(
        self,
        namespace: Any,
        tokens: Sequence[int],
        salt: Optional[bytes] = None,
        extra: Optional[Dict[int, bytes]] = None,
    ) -> List[Boundary]:
        """What is stored of a prompt, from its first block on. A tenant's takes the salt."""
        ns = self.namespace(namespace)
        root = ns.root if salt is None else tenant_root_key(ns.fingerprint, salt)
        out: List[Boundary] = []
        parent = root
        for key in chain_keys(root, ns.layout.block_tokens, tokens, extra):
            boundary = ns.boundaries.get(key)
            if boundary is None or boundary.parent_key != parent:
                break
            out.append(boundary)
            parent = key
        return out

    # Beside a live writer.

    def _settle(self, operation: Callable[[], T]) -> T:
        """Runs an operation by the page's rule for anomalies."""
        for _ in range(self.tries):
            try:
                return operation()
            except _Anomaly as anomaly:
                first = anomaly
            self.refresh()
            self._close_files()
            if not first.still_named(self):
                continue
            try:
                return operation()
            except _Anomaly as second:
                # The state that was read after the first failure still named what failed: the
                # writer publishes before bytes go, so it was not the writer.
                if second.still_named(self) and _same_place(first.cause, second.cause):
                    raise second.cause from None
        raise Moving("moving")

    def _segment_file(self, segment: Segment) -> ReadFile:
        file = self._files.get(segment.id)
        if file is not None:
            self._files.move_to_end(segment.id)
            return file
        try:
            file = ReadFile(self.path, segment.file)
        except FileNotFoundError:
            raise CorruptRecord("segment-missing", file=segment.file) from None
        except OSError as e:
            raise io_error(e, segment.file) from e
        try:
            self._check_header(file, segment)
        except BaseException:
            file.close()
            raise
        self._files[segment.id] = file
        while len(self._files) > _OPEN_FILES:
            self._files.popitem(last=False)[1].close()
        return file

    def _check_header(self, file: ReadFile, segment: Segment) -> None:
        try:
            data = file.read(0, 4096)
            tag = segment.id & 0xFFFFFFFF
            frame = check_frame(data, 0, len(data), tag, 4096, 0).require(segment.file, 0)
            require_template(frame, SEGMENT_HEADER)
            refuse_newer(frame, segment.file)
            got = decode(frame, MESSAGES[SEGMENT_HEADER])
            stated = (got["storeId"], got["segmentId"], got["kind"], got["creationSequence"])
            mine = (self.current.store_id, segment.id, segment.kind, segment.creation_sequence)
            if stated != mine:
                raise Corruption("segment-header", expected=segment.file, found=stated[1:])
        except Corruption as e:
            raise _as(CorruptRecord, e).at(segment.file, 0) from None

    def _front(
        self, ns: Namespace, b: Boundary, kind: int, index: int, place: Place
    ) -> Tuple[ReadFile, Front]:
        segment = self.forest.segments[place.segment]
        file = self._segment_file(segment)
        count = len(b.records(kind))
        if segment.sealed_length is not None:
            if place.offset + place.length > segment.sealed_length:
                raise CorruptRecord("record-outside", file=segment.file, offset=place.offset)
        return file, read_front(file, ns, b, kind, index, count, place)

    def _fronts(self, ns: Namespace, b: Boundary, kind: int) -> List[Tuple[ReadFile, Front]]:
        """Fronts of a whole contribution, which has to be covered."""
        places = list(b.records(kind))
        place: Optional[Place] = None
        try:
            out = []
            for index, place in enumerate(places):
                out.append(self._front(ns, b, kind, index, place))
            check_cover(ns, b, kind, [front for _, front in out])
            return out
        except Corruption as e:
            if place is not None:
                e.at(self.forest.segments[place.segment].file, place.offset)
            raise self._anomaly(e, ns, b, kind, place) from None

    def _anomaly(
        self, e: Corruption, ns: Namespace, b: Boundary, kind: int, place: Optional[Place]
    ) -> _Anomaly:
        def still_named(store: "Store") -> bool:
            now = store.forest.namespaces.get(ns.id)
            again = now.boundaries.get(b.key) if now else None
            if again is None:
                return False
            return place in again.records(kind) if place else not again.records(kind)

        return _Anomaly(_as(CorruptRecord, e), still_named)

    # Restoring.

    def restore(
        self,
        namespace: Any,
        key: Optional[bytes] = None,
        *,
        tokens: Optional[Sequence[int]] = None,
        at: Optional[int] = None,
        salt: Optional[bytes] = None,
        extra: Optional[Dict[int, bytes]] = None,
        names: Optional[Sequence[str]] = None,
        max_bytes: Optional[int] = None,
    ) -> Restored:
        """The tensors at a boundary.

        By `key` (32 bytes, or hex) the boundary itself, or the one before it that ends at `at`
        tokens; by `tokens` (a tenant's with `salt`) the deepest that can be restored, or that at
        `at`. `names` picks tensors; `max_bytes` bounds what is allocated.
        """
        if (key is None) == (tokens is None):
            raise InvalidArgument("invalid-argument", "either a key or tokens are needed")

        def once() -> Restored:
            ns = self.namespace(namespace)
            if key is not None:
                boundary = self._by_key(ns, key, at)
            else:
                boundary = self._by_tokens(ns, self.match(ns, tokens, salt, extra), at)
            if not ns.restorable(boundary):
                raise NotRestorable("not-restorable", found=f"{boundary.tokens} tokens")
            return self._materialise(ns, boundary, names, max_bytes)

        return self._settle(once)

    @staticmethod
    def _by_key(ns: Namespace, key: Any, at: Optional[int]) -> Boundary:
        try:
            raw = bytes.fromhex(key) if isinstance(key, str) else bytes(memoryview(key))
        except (ValueError, TypeError):
            raise InvalidArgument("invalid-argument", "a key is 32 bytes, or hex") from None
        found = ns.boundaries.get(raw)
        if found is None:
            raise NotStored("not-stored", found=raw.hex()[:8])
        for boundary in found.chain():
            if at is None or boundary.tokens == at:
                return boundary
        raise NotStored("not-stored", "no boundary there on this chain", found=f"{at} tokens")

    @staticmethod
    def _by_tokens(ns: Namespace, stored: List[Boundary], at: Optional[int]) -> Boundary:
        for boundary in reversed(stored):
            if at is None and ns.restorable(boundary):
                return boundary
            if at == boundary.tokens:
                return boundary
        if stored and at is None:
            raise NotRestorable("not-restorable", found=f"rows of {stored[-1].tokens} tokens")
        raise NotStored("not-stored", found=f"{stored[-1].tokens if stored else 0} tokens stored")

    def _materialise(
        self,
        ns: Namespace,
        point: Boundary,
        names: Optional[Sequence[str]],
        max_bytes: Optional[int],
    ) -> Restored:
        n = point.tokens
        specs = ns.layout.tensors
        unknown = set(names or ()) - {s.name for s in specs}
        if unknown:
            raise InvalidArgument("invalid-argument", "no such tensor", found=sorted(unknown))
        targets: Dict[int, Target] = {
            i: Target(s, n) for i, s in enumerate(specs) if names is None or s.name in names
        }
        # Fronts first: they prove that the bytes exist before anything is allocated for them.
        rows, deltas, state = self._sources(ns, point)
        wanted = sum(t.length for t in targets.values())
        if max_bytes is not None and wanted > max_bytes:
            raise TooLarge("too-large", expected=f"at most {max_bytes} bytes", found=wanted)
        for target in targets.values():
            target.data = bytearray(target.length)
        for boundary, fronts in rows:
            self._fill(ns, boundary, APPEND, fronts, targets, {})
        for boundary, fronts, ranges in deltas:
            self._fill(ns, boundary, DELTA, fronts, targets, ranges)
        self._fill(ns, point, STATE, state, targets, {})
        return Restored(n, point.key, {specs[i].name: Tensor(t) for i, t in targets.items()})

    def _sources(self, ns: Namespace, point: Boundary):
        """The records that a point rests on, fronts read, with the window rows of each delta."""
        chain = list(point.chain())
        rows = [(b, self._fronts(ns, b, APPEND)) for b in reversed(chain)]
        deltas = []
        for boundary, ranges in window_plan(ns, point):
            deltas.append((boundary, self._fronts(ns, boundary, DELTA), ranges))
        state = self._fronts(ns, point, STATE)
        return rows, deltas, state

    def _fill(
        self,
        ns: Namespace,
        boundary: Boundary,
        kind: int,
        fronts: List[Tuple[ReadFile, Front]],
        targets: Dict[int, Target],
        ranges: Dict[int, Tuple[int, int]],
    ) -> None:
        for file, front in fronts:
            for part in front.parts:
                target = targets.get(part.tensor)
                if target is None:
                    continue
                if kind == DELTA:
                    if part.tensor not in ranges:
                        continue
                    low, high = ranges[part.tensor]
                    shift = target.sinks - target.first
                else:
                    low, high, shift = 0, part.row_from + part.row_count, 0
                end = part.row_from + part.row_count
                if low >= end or high <= part.row_from:
                    continue
                try:
                    for chunk in front.chunks(part):
                        raw = read_chunk(file, part, chunk)
                        target.put(part, chunk.raw_at, raw, low, high, shift)
                except Corruption as e:
                    raise self._anomaly(e, ns, boundary, kind, front.place) from None

    # Verifying.

    def verify(self, level: str = "checksum") -> Report:
        """Checks everything that is live.

        `structure`: headers, fronts, places and coverage. `checksum`: every chunk's CRC32C too.
        `decode`: every chunk is decoded as well.
        """
        if level not in LEVELS:
            raise InvalidArgument("invalid-argument", f"a level is one of {LEVELS}", found=level)
        self.refresh()
        findings: List[Finding] = []
        records = checked = 0
        bad: Set[Tuple[int, bytes, int]] = set()
        todo = [
            (b.namespace, b.key, kind)
            for b in self.boundaries()
            for kind in (APPEND, DELTA, STATE)
        ]
        for ns_id, key, kind in todo:

            def once() -> Tuple[int, int]:
                ns = self.forest.namespaces.get(ns_id)
                b = ns.boundaries.get(key) if ns else None
                if b is None or (kind != APPEND and not b.records(kind) and not b.point):
                    return 0, 0
                if kind == DELTA and not b.delta:
                    return 0, 0
                return self._verify_contribution(ns, b, kind, level)

            try:
                r, c = self._settle(once)
                records += r
                checked += c
            except Corruption as e:
                bad.add((ns_id, key, kind))
                findings.append(self._finding(e, "damage", ns_id, key))
        findings += self._verify_segments()
        findings += self._verify_overlaps()
        gaps, lost = self._verify_points(bad)
        return Report(
            level, findings + gaps, len(self.boundaries()), len(self.points()), records, checked,
            self.tail, lost,
        )  # fmt: skip

    def _finding(self, e: WaymarkError, severity: str, ns_id=None, key=None) -> Finding:
        ns = self.forest.namespaces.get(ns_id)
        b = ns.boundaries.get(key) if ns and key else None
        return Finding(
            e.code, severity, e.file, e.offset, str(e), ns_id,
            key.hex()[:8] if key else None, b.tokens if b else None,
        )  # fmt: skip

    def _verify_contribution(
        self, ns: Namespace, b: Boundary, kind: int, level: str
    ) -> Tuple[int, int]:
        fronts = self._fronts(ns, b, kind)
        total = 0
        if level != "structure":
            for file, front in fronts:
                try:
                    for part in front.parts:
                        for chunk in front.chunks(part):
                            read_chunk(file, part, chunk, decoded=level == "decode")
                            total += chunk.stored
                except Corruption as e:
                    raise self._anomaly(e, ns, b, kind, front.place) from None
        return len(fronts), total

    def _verify_segments(self) -> List[Finding]:
        """What no restore needs: descriptors, footers, final lengths."""
        out = []
        for segment in list(self.forest.segments.values()):
            try:
                file = self._segment_file(segment)
                if segment.sealed_length is not None:
                    if file.size() != segment.sealed_length:
                        raise Corruption(
                            "segment-length", file=segment.file,
                            expected=segment.sealed_length, found=file.size(),
                        )  # fmt: skip
                    self._check_footer(file, segment)
            except Corruption as e:
                # One without live records may be about to go.
                if segment.live:
                    out.append(self._finding(e.at(segment.file, None), "notice"))
        for (segment_id, ns_id), place in list(self.forest.descriptors.items()):
            segment = self.forest.segments[segment_id]
            if not segment.live or ns_id not in self.forest.namespaces:
                continue
            try:
                self._check_descriptor(segment, ns_id, place)
            except Corruption as e:
                out.append(self._finding(e.at(segment.file, place.offset), "notice", ns_id))
        return out

    def _read_frame(self, file: ReadFile, offset: int, segment: Segment, most: int):
        left = max(0, file.size() - offset)
        data = file.read(offset, min(left, most))
        tag = segment.id & 0xFFFFFFFF
        return check_frame(data, 0, left, tag, most, offset).require(segment.file, offset)

    def _check_footer(self, file: ReadFile, segment: Segment) -> None:
        if not segment.footer_offset:
            return
        offset = segment.footer_offset
        try:
            frame = self._read_frame(file, offset, segment, MOST_RECORD)
            require_template(frame, SEGMENT_FOOTER)
            got = decode(frame, MESSAGES[SEGMENT_FOOTER])
            stated = (got["segmentId"], got["recordsEndBytes"], got["recordCount"])
            if stated != (segment.id, offset, len(got["records"])):
                raise Corruption("segment-footer", found=stated)
        except Corruption as e:
            raise e.at(segment.file, offset)

    def _check_descriptor(self, segment: Segment, ns_id: int, place: Place) -> None:
        file = self._segment_file(segment)
        frame = self._read_frame(file, place.offset, segment, MOST_DESCRIPTOR)
        require_template(frame, NAMESPACE_RECORD)
        got = decode(frame, MESSAGES[NAMESPACE_RECORD])
        ns = self.forest.namespaces[ns_id]
        stated = (
            got["segmentId"], got["namespaceId"], got["fingerprint"],
            got["identity"], got["layout"], got["codecs"], frame.length,
        )  # fmt: skip
        mine = (
            segment.id, ns.id, ns.fingerprint,
            ns.identity_text, ns.layout_text, ns.codecs_text, place.length,
        )  # fmt: skip
        if stated != mine:
            raise Corruption("descriptor", file=segment.file, offset=place.offset)

    def _verify_overlaps(self) -> List[Finding]:
        places: Dict[int, List[Place]] = {}
        for b in self.boundaries():
            for kind in (APPEND, DELTA, STATE):
                for place in b.records(kind):
                    places.setdefault(place.segment, []).append(place)
        out = []
        for segment_id, here in places.items():
            here.sort()
            for left, right in zip(here, here[1:]):
                if left.offset + left.length > right.offset:
                    file = self.forest.segments[segment_id].file
                    e = Corruption("record-overlap", file=file, offset=right.offset)
                    out.append(self._finding(e, "damage"))
        return out

    def _verify_points(
        self, bad: Set[Tuple[int, bytes, int]]
    ) -> Tuple[List[Finding], List[Tuple[int, str, int]]]:
        """Points whose window is not covered, and all that cannot be restored."""
        gaps: List[Finding] = []
        lost = []
        #: Boundaries whose own rows, or those of one before, are damaged.
        without_rows: Set[Tuple[int, bytes]] = set()
        for b in self.boundaries():
            ns = self.forest.namespaces[b.namespace]
            gone = (ns.id, b.key, APPEND) in bad or (ns.id, b.parent_key) in without_rows
            if gone:
                without_rows.add((ns.id, b.key))
            if not ns.restorable(b):
                continue
            try:
                for source, _ in window_plan(ns, b):
                    gone = gone or (ns.id, source.key, DELTA) in bad
            except Corruption as e:
                gaps.append(self._finding(e, "damage", ns.id, b.key))
                gone = True
            if gone or (ns.id, b.key, STATE) in bad:
                lost.append((ns.id, b.key.hex()[:8], b.tokens))
        return gaps, lost

    # Ends.

    def _close_files(self) -> None:
        for file in self._files.values():
            file.close()
        self._files.clear()

    def close(self) -> None:
        self._close_files()
        self._closed = True

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


def _same_place(a: WaymarkError, b: WaymarkError) -> bool:
    return (a.file, a.offset) == (b.file, b.offset)


def window_plan(
    ns: Namespace, point: Boundary
) -> List[Tuple[Boundary, Dict[int, Tuple[int, int]]]]:
    """Which delta supplies which rows of which window tensor."""
    n = point.tokens
    #: Tensor -> (first wanted row, end of the rows that nothing has supplied yet).
    open_rows: Dict[int, Tuple[int, int]] = {}
    for i, spec in enumerate(ns.layout.tensors):
        if spec.growth == "window" and spec.inner and spec.outer:
            low = spec.window_from(n)
            if low < n:
                open_rows[i] = (low, n)
    plan: List[Tuple[Boundary, Dict[int, Tuple[int, int]]]] = []
    for b in point.chain():
        if not open_rows:
            break
        if not b.delta:
            continue
        ranges: Dict[int, Tuple[int, int]] = {}
        for i, (low, high) in list(open_rows.items()):
            # Deltas further up end even earlier: what is missing here stays missing.
            if b.tokens < high:
                continue
            start = max(low, ns.layout.tensors[i].window_from(b.tokens, b.covered_from))
            if start < high:
                ranges[i] = (start, high)
                if start == low:
                    del open_rows[i]
                else:
                    open_rows[i] = (low, start)
        if ranges:
            plan.append((b, ranges))
    if open_rows:
        i, (low, high) = next(iter(open_rows.items()))
        raise CorruptRecord(
            "window-gap", f"window rows of tensor {i} are stored nowhere", found=f"{low} to {high}"
        )
    return plan


def open_store(path: Any, tries: int = 8) -> Store:
    """Opens a store for reading. Takes no lock, writes nothing, and never opens LOCK."""
    return Store(os.fspath(path), tries)
