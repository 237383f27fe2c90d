"""The optional zstd decoder: `compression.zstd` of Python 3.14, or the `zstandard` package."""

from __future__ import annotations

from typing import Callable, Optional

from .errors import Corruption, MissingExtra

_MAGIC = b"\x28\xb5\x2f\xfd"
_Decoder = Callable[[bytes, int], bytes]
_decoder: Optional[_Decoder] = None


def _with_stdlib() -> _Decoder:
    from compression import zstd  # type: ignore[import-not-found]

    def decode(frame: bytes, size: int) -> bytes:
        try:
            return zstd.ZstdDecompressor().decompress(frame, max_length=size + 1)
        except (zstd.ZstdError, ValueError, EOFError) as e:
            raise Corruption("codec-zstd", found=str(e)) from None

    return decode


def _with_package() -> _Decoder:
    import zstandard

    def decode(frame: bytes, size: int) -> bytes:
        try:
            # One call with a bounded result: a stream would go on past the stated size.
            return zstandard.ZstdDecompressor().decompress(frame)
        except zstandard.ZstdError as e:
            raise Corruption("codec-zstd", found=str(e)) from None

    return decode


def available() -> bool:
    global _decoder
    if _decoder is None:
        for make in (_with_stdlib, _with_package):
            try:
                _decoder = make()
                break
            except ImportError:
                continue
    return _decoder is not None


def content_size(frame: bytes) -> Optional[int]:
    """The stated size of the content of what is exactly one frame; None if it is anything else.

    A frame that needs a dictionary is something else.

    The blocks' headers are walked here, so that no library's view of what may follow counts.
    """
    if len(frame) < 6 or frame[:4] != _MAGIC:
        return None
    descriptor = frame[4]
    single = descriptor & 0x20
    if descriptor & 0x08:  # reserved
        return None
    at = 5 + (0 if single else 1)
    dictionary = (0, 1, 2, 4)[descriptor & 3]
    if any(frame[at : at + dictionary]):
        return None
    at += dictionary
    code = descriptor >> 6
    width = (1 if single else 0, 2, 4, 8)[code]
    if width == 0 or at + width > len(frame):
        return None
    value = int.from_bytes(frame[at : at + width], "little") + (256 if code == 1 else 0)
    at += width
    last = False
    while not last:
        if at + 3 > len(frame):
            return None
        head = int.from_bytes(frame[at : at + 3], "little")
        last = bool(head & 1)
        # A block of kind 1 is one byte, repeated.
        at += 3 + (1 if head >> 1 & 3 == 1 else head >> 3)
    at += 4 if descriptor & 0x04 else 0
    return value if at == len(frame) else None


def decompress(frame: bytes, size: int) -> bytes:
    """The content of one frame that has to state `size` as its content's size."""
    stated = content_size(frame)
    if stated != size:
        raise Corruption("codec-zstd", expected=f"a frame of {size} bytes", found=stated)
    if not available():
        raise MissingExtra(
            "missing-extra",
            "a chunk is compressed with zstd; install waymark-reader[zstd], or use Python 3.14",
        )
    out = _decoder(frame, size)  # type: ignore[misc]
    if len(out) != size:
        raise Corruption("codec-zstd", expected=f"{size} bytes", found=len(out))
    return out
