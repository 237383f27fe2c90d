"""Decoding chunks, bit for bit as the format page says.

Where numpy is there it is used. Both ways give the same bits: in plain Python every operation is
done in double and rounded to f32 once, which for sums and products of f32 is the f32 result.
"""

from __future__ import annotations

import math
import struct
import sys
from array import array
from typing import List

from . import zstd
from .errors import Corruption
from .layout import TensorSpec

try:
    import numpy as _np
except ImportError:  # numpy is optional
    _np = None

RAW, PLANES, BF16, INT8, RHT_INT8, RHT_INT16 = range(6)
CHUNK = 1 << 20

_FLOATS = ("F16", "BF16", "F32", "F64")
_ROW_DTYPES = ("F32", "BF16", "F16")
_SEED = 0x314B52414D594157
_M64 = (1 << 64) - 1
_SCALE_LOW, _SCALE_HIGH = 2.0**-112, 2.0**106


def use_numpy(on: bool) -> None:
    """For tests: switches between numpy and plain Python."""
    global _np
    if on:
        import numpy

        _np = numpy
    else:
        _np = None


def takes(codec: int, spec: TensorSpec) -> bool:
    """Whether a codec can take a tensor at all."""
    if codec in (RAW, PLANES):
        return True
    if codec == BF16:
        return spec.dtype == "F32"
    if codec not in (INT8, RHT_INT8, RHT_INT16) or spec.dtype not in _ROW_DTYPES:
        return False
    width = spec.width
    row = width * spec.element
    if row > CHUNK or _stored_row(codec, width) >= row:
        return False
    return codec == INT8 or (2 <= width <= 4096 and width & (width - 1) == 0)


def _stored_row(codec: int, width: int) -> int:
    return 4 + width * (2 if codec == RHT_INT16 else 1)


def chunk_raw_bytes(codec: int, spec: TensorSpec) -> int:
    """Raw bytes of each chunk but the last."""
    if codec in (RAW, PLANES, BF16):
        return CHUNK
    row = spec.width * spec.element
    return CHUNK // row * row


def check_stored(codec: int, spec: TensorSpec, raw: int, stored: int, as_is: bool) -> None:
    """Holds a chunk's stored length against its raw one."""
    if as_is and codec == RAW:
        raise Corruption("chunk-length", "a chunk of RAW has the top bit set")
    if as_is or codec == RAW:
        good = stored == raw
    elif codec == PLANES:
        good = raw >= 64 and raw % spec.element == 0 and 4 * spec.element < stored < raw
    elif codec == BF16:
        good = raw % 4 == 0 and stored == raw // 2
    else:
        row = spec.width * spec.element
        good = raw % row == 0 and stored == raw // row * _stored_row(codec, spec.width)
    if not good:
        raise Corruption("chunk-length", expected=f"a fit for {raw} raw bytes", found=stored)


def decode_chunk(codec: int, spec: TensorSpec, stored: bytes, raw: int) -> bytes:
    """The raw bytes of a chunk that was encoded and passed `check_stored`."""
    if codec == RAW:
        return stored
    if codec == PLANES:
        return _planes(spec, stored, raw)
    if codec == BF16:
        out = bytearray(raw)
        out[2::4] = stored[0::2]
        out[3::4] = stored[1::2]
        return bytes(out)
    rows = raw // (spec.width * spec.element)
    if _np is not None:
        return _rows_numpy(codec, spec, stored, rows)
    return _rows_python(codec, spec, stored, rows)


def _planes(spec: TensorSpec, stored: bytes, raw: int) -> bytes:
    e = spec.element
    p = raw // e
    lengths = struct.unpack_from(f"<{e}I", stored)
    if any(not 1 <= n <= p for n in lengths) or sum(lengths) + 4 * e != len(stored):
        raise Corruption("codec-planes", expected=f"{len(stored) - 4 * e} bytes", found=lengths)
    out = bytearray(raw)
    at = 4 * e
    for k, length in enumerate(lengths):
        plane = stored[at : at + length]
        out[k::e] = plane if length == p else zstd.decompress(plane, p)
        at += length
    return _turn_right(out, e) if spec.dtype in _FLOATS else bytes(out)


def _turn_right(data: bytearray, e: int) -> bytes:
    """Turns every element right by one bit, all at once in one large integer."""
    n = len(data) // e
    bits = 8 * e
    lowest = int.from_bytes((b"\1" + bytes(e - 1)) * n, "little")
    value = int.from_bytes(data, "little")
    rest = (value >> 1) & ~(lowest << (bits - 1))
    return (rest | (value & lowest) << (bits - 1)).to_bytes(len(data), "little")


def sign_words(count: int) -> List[int]:
    """Outputs of SplitMix64 from the format's seed."""
    out = []
    for i in range(count):
        z = (_SEED + (i + 1) * 0x9E3779B97F4A7C15) & _M64
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & _M64
        z = (z ^ z >> 27) * 0x94D049BB133111EB & _M64
        out.append(z ^ z >> 31)
    return out


_SIGNS: List[float] = []


def signs() -> List[float]:
    if not _SIGNS:
        for word in sign_words(64):
            _SIGNS.extend(-1.0 if word >> bit & 1 else 1.0 for bit in range(64))
    return _SIGNS


def _f32(value: float) -> float:
    return struct.unpack("<f", struct.pack("<f", value))[0]


def _norm(width: int) -> float:
    return _f32(1.0 / math.sqrt(width))


def _check_scale(scale: float) -> None:
    if scale != 0 and not _SCALE_LOW <= scale <= _SCALE_HIGH:
        raise Corruption("codec-scale", expected="0, or 2^-112 to 2^106", found=scale)


def _rows_python(codec: int, spec: TensorSpec, stored: bytes, rows: int) -> bytes:
    w = spec.width
    scales = struct.unpack_from(f"<{rows}f", stored)
    for scale in scales:
        _check_scale(scale)
    kind = "h" if codec == RHT_INT16 else "b"
    values = struct.unpack_from(f"<{rows * w}{kind}", stored, 4 * rows)
    sign = signs()
    norm = _norm(w)
    # Sums of i16 stay exact in f32 up to 512 elements; then every step has to round.
    rounds = codec == RHT_INT16 and w > 512
    out = bytearray()
    for r in range(rows):
        x = list(values[r * w : (r + 1) * w])
        if codec == INT8:
            scale = scales[r]
            out += _narrow(spec, [v * scale for v in x])
            continue
        step = 1
        while step < w:
            for start in range(0, w, 2 * step):
                a = x[start : start + step]
                b = x[start + step : start + 2 * step]
                x[start : start + step] = [p + q for p, q in zip(a, b)]
                x[start + step : start + 2 * step] = [p - q for p, q in zip(a, b)]
            if rounds:
                x = list(array("f", x))
            step *= 2
        f = _f32(scales[r] * norm)
        # The product is rounded before its sign is turned; adding 0 takes minus zero away.
        product = array("f", [v * f for v in x])
        out += _narrow(spec, [v * s + 0.0 for v, s in zip(product, sign)])
    return bytes(out)


def _narrow(spec: TensorSpec, values: List[float]) -> bytes:
    """Rounds to f32, then to the tensor's type."""
    single = array("f", values)
    if spec.dtype == "F32":
        if sys.byteorder == "big":
            single.byteswap()
        return single.tobytes()
    if spec.dtype == "BF16":
        bits = struct.unpack(f"<{len(single)}I", struct.pack(f"<{len(single)}f", *single))
        return struct.pack(
            f"<{len(bits)}H", *[(u + 0x7FFF + (u >> 16 & 1)) >> 16 for u in bits]
        )
    return struct.pack(f"<{len(single)}e", *[max(-65504.0, min(65504.0, v)) for v in single])


def _rows_numpy(codec: int, spec: TensorSpec, stored: bytes, rows: int) -> bytes:
    w = spec.width
    scale = _np.frombuffer(stored, dtype="<f4", count=rows).astype(_np.float32)
    good = (scale == 0) | ((scale >= _SCALE_LOW) & (scale <= _SCALE_HIGH))
    if not good.all():
        _check_scale(float(scale[~good][0]))
    kind = "<i2" if codec == RHT_INT16 else "i1"
    x = _np.frombuffer(stored, dtype=kind, count=rows * w, offset=4 * rows)
    x = x.astype(_np.float32).reshape(rows, w)
    with _np.errstate(all="ignore"):
        if codec == INT8:
            x = x * scale[:, None]
        else:
            step = 1
            while step < w:
                pairs = x.reshape(rows, w // (2 * step), 2, step)
                x = _np.empty_like(pairs)
                _np.add(pairs[:, :, 0], pairs[:, :, 1], out=x[:, :, 0])
                _np.subtract(pairs[:, :, 0], pairs[:, :, 1], out=x[:, :, 1])
                step *= 2
            x = x.reshape(rows, w)
            f = scale * _np.float32(_norm(w))
            x = x * f[:, None]
            x *= _np.array(signs()[:w], dtype=_np.float32)
            x += _np.float32(0)
        if spec.dtype == "F32":
            return x.astype("<f4").tobytes()
        if spec.dtype == "BF16":
            u = x.view(_np.uint32)
            u = (u + _np.uint32(0x7FFF) + (u >> _np.uint32(16) & _np.uint32(1))) >> _np.uint32(16)
            return u.astype("<u2").tobytes()
        return _np.clip(x, -65504, 65504).astype("<f2").tobytes()
