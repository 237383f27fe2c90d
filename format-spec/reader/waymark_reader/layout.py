"""Layouts, identities, codec plans and keys: what a namespace is."""

from __future__ import annotations

import hashlib
import hmac
import json
import struct
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

from .errors import Corruption, InvalidArgument

DTYPES = {
    "BOOL": 1, "U8": 1, "I8": 1, "F8_E5M2": 1, "F8_E4M3": 1,
    "I16": 2, "U16": 2, "F16": 2, "BF16": 2,
    "I32": 4, "U32": 4, "F32": 4,
    "F64": 8, "I64": 8, "U64": 8,
}  # fmt: skip
CODECS = ["RAW", "PLANES", "BF16", "INT8", "RHT_INT8", "RHT_INT16"]
LOSSLESS = ("RAW", "PLANES")

_MAX_TOKENS = (1 << 31) - 1
_MAX_OUTER = (1 << 31) - 1
_MAX_BYTES = 1 << 48


class TensorSpec(NamedTuple):
    """One tensor. As stored its value is [outer][rows][inner]; of a fixed one an element is a row."""

    name: str
    dtype: str
    growth: str
    tokens_per_row: int
    window: int
    sink: int
    shape: Tuple[int, ...]
    element: int
    outer: int
    inner: int
    elements: int
    width: int

    def rows_between(self, start: int, end: int) -> Tuple[int, int]:
        """What the tokens [start, end) contribute to an APPEND record."""
        if self.growth == "rows":
            return start // self.tokens_per_row, end // self.tokens_per_row
        if self.growth == "window":
            return min(start, self.sink), min(end, self.sink)
        return 0, 0

    def window_from(self, tokens: int, covered_from: int = 0) -> int:
        """First window row that a delta at `tokens` holds, or that a restore there wants."""
        return min(tokens, max(tokens - self.window, self.sink, covered_from))

    def contribution(self, kind: int, start: int, end: int, covered_from: int) -> Tuple[int, int]:
        """Rows that a whole contribution of a kind holds; empty ones as (x, x)."""
        if kind == 1:
            return self.rows_between(start, end)
        if kind == 2 and self.growth == "window":
            return self.window_from(end, covered_from), end
        if kind == 3 and self.growth == "fixed":
            return 0, self.elements
        return 0, 0


def _bad(what: str) -> Corruption:
    return Corruption("namespace-text", what)


def _pairs(pairs: List[Tuple[str, Any]]) -> Dict[str, Any]:
    out = dict(pairs)
    if len(out) != len(pairs):
        raise _bad("a field stands twice in a JSON object")
    return out


def _no_constant(text: str) -> None:
    raise _bad(f"JSON has no {text}")


def _parse(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_pairs, parse_constant=_no_constant)
    except (ValueError, RecursionError) as e:
        raise _bad(f"not JSON: {type(e).__name__}") from None


def _object(value: Any, what: str, fields: Sequence[str]) -> Dict[str, Any]:
    if not isinstance(value, dict) or set(value) != set(fields):
        raise _bad(f"{what} has other fields than {', '.join(fields)}")
    return value


def _integer(value: Any, what: str, low: int, high: int) -> int:
    if type(value) is not int or not low <= value <= high:
        raise _bad(f"{what} is no integer of {low} to {high}")
    return value


def _utf8(text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise _bad("a text holds half of a surrogate pair") from None


def _tensor(value: Any) -> TensorSpec:
    if not isinstance(value, dict):
        raise _bad("a tensor is no object")
    growth = value.get("growth")
    extra = {"rows": ["tokens_per_row"], "window": ["window", "sink"], "fixed": []}
    if not isinstance(growth, str) or growth not in extra:
        raise _bad("a tensor's growth is unknown")
    _object(value, "a tensor", ["name", "dtype", "growth", *extra[growth], "shape"])
    name, dtype, shape = value["name"], value["dtype"], value["shape"]
    if not isinstance(name, str) or not 1 <= len(_utf8(name)) <= 255:
        raise _bad("a tensor's name is not of 1 to 255 bytes")
    if any(c < " " or c == "\x7f" for c in name):
        raise _bad("a tensor's name has control characters")
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise _bad("a tensor's dtype is unknown")
    if not isinstance(shape, list) or len(shape) > 16:
        raise _bad("a tensor's shape is no array of up to 16 dims")
    for dim in shape:
        _integer(dim, "a dim", -1, _MAX_BYTES)
    if shape.count(-1) != (0 if growth == "fixed" else 1):
        raise _bad("a tensor's token axis is missing, or is one too many")
    per_row = _integer(value.get("tokens_per_row", 1), "tokens_per_row", 1, _MAX_TOKENS)
    window = _integer(value.get("window", 1), "window", 1, _MAX_TOKENS)
    sink = _integer(value.get("sink", 0), "sink", 0, _MAX_TOKENS)
    element = DTYPES[dtype]
    axis = shape.index(-1) if -1 in shape else None
    outer = inner = elements = 1
    for i, dim in enumerate(shape):
        if axis is None:
            elements *= dim
        elif i < axis:
            outer *= dim
        elif i > axis:
            inner *= dim
    inner *= element
    size = element
    for dim in shape:
        size *= dim if dim > 0 else 1
    if size >= _MAX_BYTES or outer > _MAX_OUTER:
        raise _bad("a tensor's dims multiply to too much")
    width = shape[-1] if shape and shape[-1] != -1 else 1
    return TensorSpec(
        name, dtype, growth, per_row, window, sink, tuple(shape),
        element, outer, inner, elements, width,
    )  # fmt: skip


class Layout:
    """What a model's state is made of."""

    def __init__(self, block_tokens: int, tensors: List[TensorSpec]) -> None:
        self.block_tokens = block_tokens
        self.tensors = tensors
        #: Whether restoring takes a point: not where there are only rows.
        self.needs_points = any(t.growth != "rows" for t in tensors)

    @staticmethod
    def parse(text: str) -> "Layout":
        top = _object(_parse(text), "a layout", ["block_tokens", "tensors"])
        block = _integer(top["block_tokens"], "block_tokens", 1, _MAX_TOKENS)
        tensors = top["tensors"]
        if not isinstance(tensors, list) or not 1 <= len(tensors) <= 65535:
            raise _bad("a layout has not 1 to 65,535 tensors")
        specs = [_tensor(t) for t in tensors]
        if len({t.name for t in specs}) != len(specs):
            raise _bad("two tensors have one name")
        return Layout(block, specs)

    def json(self) -> str:
        """The one text of this layout, which goes into the fingerprint."""
        out = []
        for t in self.tensors:
            growth = {
                "rows": f',"tokens_per_row":{t.tokens_per_row}',
                "window": f',"window":{t.window},"sink":{t.sink}',
                "fixed": "",
            }[t.growth]
            shape = ",".join(str(d) for d in t.shape)
            out.append(
                f'{{"name":{json_string(t.name)},"dtype":"{t.dtype}","growth":"{t.growth}"'
                f'{growth},"shape":[{shape}]}}'
            )
        return f'{{"block_tokens":{self.block_tokens},"tensors":[{",".join(out)}]}}'


_ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}


def json_string(text: str) -> str:
    """A string as the format writes it: the fewest escapes, capitals in hex."""
    out = []
    for c in text:
        if c in _ESCAPES:
            out.append(_ESCAPES[c])
        elif c < " ":
            out.append(f"\\u{ord(c):04X}")
        else:
            out.append(c)
    return '"' + "".join(out) + '"'


def _utf16(text: str) -> bytes:
    return text.encode("utf-16-be", "surrogatepass")


def parse_identity(text: str) -> List[Tuple[str, str]]:
    """Properties in the order that the fingerprint wants."""
    top = _parse(text)
    if not isinstance(top, dict):
        raise _bad("an identity is no object")
    for name, value in top.items():
        if not isinstance(value, str) or len(_utf16(value)) > 2 * 4096:
            raise _bad("an identity's value is no string of at most 4,096 units")
        if not 2 <= len(_utf16(name)) <= 2 * 255:
            raise _bad("an identity's name is not of 1 to 255 units")
        _utf8(name)
        _utf8(value)
    return sorted(top.items(), key=lambda item: _utf16(item[0]))


class CodecPlan:
    """Which codec a writer uses. Counts for the fingerprint only: parts say their own."""

    def __init__(self, by_growth: Dict[str, str], by_name: Dict[str, str]) -> None:
        self.by_growth = by_growth
        self.by_name = by_name

    @staticmethod
    def parse(text: str) -> "CodecPlan":
        top = _object(_parse(text), "a codec plan", ["rows", "window", "fixed", "tensors"])
        named = top["tensors"]
        if not isinstance(named, dict):
            raise _bad("a codec plan's tensors are no object")
        growths = {g: top[g] for g in ("rows", "window", "fixed")}
        for codec in [*growths.values(), *named.values()]:
            if not isinstance(codec, str) or codec not in CODECS:
                raise _bad("a codec is unknown")
        return CodecPlan(growths, named)

    def of(self, spec: TensorSpec) -> str:
        return self.by_name.get(spec.name, self.by_growth[spec.growth])


def _text(value: str) -> bytes:
    raw = _utf8(value)
    return struct.pack("<I", len(raw)) + raw


def fingerprint(layout: Layout, identity: List[Tuple[str, str]], plan: CodecPlan) -> bytes:
    digest = hashlib.sha256(_text("waymark namespace 1") + _text(layout.json()))
    digest.update(_text(str(len(identity))))
    for name, value in identity:
        digest.update(_text(name) + _text(value))
    for spec in layout.tensors:
        if plan.of(spec) not in LOSSLESS:
            digest.update(_text(spec.name) + _text(plan.of(spec)))
    return digest.digest()


def root_key(fingerprint_bytes: bytes) -> bytes:
    return hashlib.sha256(_text("waymark root 1") + fingerprint_bytes).digest()


def tenant_root_key(fingerprint_bytes: bytes, salt: bytes) -> bytes:
    if len(salt) < 16:
        raise InvalidArgument("invalid-argument", "a salt has 16 bytes or more", found=len(salt))
    return hmac.new(salt, fingerprint_bytes, hashlib.sha256).digest()


def block_key(parent: bytes, tokens: Sequence[int], extra: bytes = b"") -> bytes:
    try:
        packed = struct.pack(f"<{len(tokens)}I", *tokens)
    except struct.error:
        raise InvalidArgument("invalid-argument", "a token is no u32") from None
    sizes = struct.pack("<II", len(tokens), len(extra))
    return hashlib.sha256(parent + sizes + packed + extra).digest()


def chain_keys(
    root: bytes, block: int, tokens: Sequence[int], extra: Optional[Dict[int, bytes]] = None
) -> List[bytes]:
    """Keys of all whole blocks; `extra` has the extra keys by the block's index."""
    keys = []
    for index in range(len(tokens) // block):
        part = tokens[index * block : (index + 1) * block]
        root = block_key(root, part, (extra or {}).get(index, b""))
        keys.append(root)
    return keys
