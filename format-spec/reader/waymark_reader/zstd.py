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
            decompressor = zstd.ZstdDecompressor()
            out = decompressor.decompress(frame, max_length=size + 1)
            whole = decompressor.eof and not decompressor.unused_data
        except (zstd.ZstdError, ValueError, EOFError) as e:
            raise Corruption("codec-zstd", found=str(e)) from None
        if not whole:
            raise Corruption("codec-zstd", "more or less than one zstd frame")
        return out

    return decode


def _with_package() -> _Decoder:
    import zstandard

    def decode(frame: bytes, size: int) -> bytes:
        try:
            # An object and not the one-shot call: it tells what stands behind the frame.
            decompressor = zstandard.ZstdDecompressor().decompressobj()
            out = decompressor.decompress(frame)
            whole = decompressor.eof and not decompressor.unused_data
        except zstandard.ZstdError as e:
            raise Corruption("codec-zstd", found=str(e)) from None
        if not whole:
            raise Corruption("codec-zstd", "more or less than one zstd frame")
        return out

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
    """What a frame's header states as its content's size; None if it states none, or is none."""
    if len(frame) < 6 or frame[:4] != _MAGIC:
        return None
    descriptor = frame[4]
    single = descriptor & 0x20
    if descriptor & 0x08:  # reserved
        return None
    at = 5 + (0 if single else 1) + (0, 1, 2, 4)[descriptor & 3]
    code = descriptor >> 6
    width = (1 if single else 0, 2, 4, 8)[code]
    if width == 0 or at + width > len(frame):
        return None
    value = int.from_bytes(frame[at : at + width], "little")
    return value + 256 if code == 1 else value


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
