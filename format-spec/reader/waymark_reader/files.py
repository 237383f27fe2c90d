"""Reading files by position. Nothing is written, locked, or mapped.

A map would be faster, but a file that is cut short would kill the process.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import Optional

from .errors import CorruptRecord, StoreIoError


def io_error(e: OSError, file: str) -> StoreIoError:
    return StoreIoError("io", f"the operating system failed: {e.strerror}", file=file)


class ReadFile:
    """An open file. Never LOCK: closing a second descriptor of it can drop the writer's lock.

    What stands in a file's place and is no regular file, as a link, counts as missing.
    """

    def __init__(self, directory: str, name: str) -> None:
        assert name != "LOCK"
        self.name = name
        flags = os.O_RDONLY
        for flag in ("O_CLOEXEC", "O_NONBLOCK", "O_NOFOLLOW"):
            flags |= getattr(os, flag, 0)
        path = os.path.join(directory, name)
        missing = FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        try:
            self._fd: Optional[int] = os.open(path, flags)
        except OSError as e:
            if e.errno in (errno.ELOOP, errno.ENXIO):
                raise missing from e
            raise
        if not stat.S_ISREG(os.fstat(self._fd).st_mode):
            self.close()
            raise missing

    def size(self) -> int:
        try:
            return os.fstat(self._fd).st_size
        except OSError as e:
            raise io_error(e, self.name) from e

    def read(self, offset: int, length: int) -> bytes:
        """All of [offset, offset + length), or fewer bytes where the file ends before.

        The length is held against the file first, so that no wrong one allocates.
        """
        length = min(length, max(0, self.size() - offset))
        parts = []
        while length > 0:
            try:
                part = os.pread(self._fd, min(length, 1 << 30), offset)
            except OSError as e:
                raise io_error(e, self.name) from e
            if not part:
                break
            parts.append(part)
            offset += len(part)
            length -= len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def read_exactly(self, offset: int, length: int) -> bytes:
        data = self.read(offset, length)
        if len(data) != length:
            raise CorruptRecord(
                "record-outside",
                file=self.name,
                offset=offset,
                expected=f"{length} bytes",
                found=len(data),
            )
        return data

    def close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


def read_small(directory: str, name: str, most: int) -> Optional[bytes]:
    """A whole small file, or its first `most` + 1 bytes if it is longer; None if missing."""
    try:
        file = ReadFile(directory, name)
    except FileNotFoundError:
        return None
    except OSError as e:
        raise io_error(e, name) from e
    try:
        return file.read(0, most + 1)
    finally:
        file.close()
