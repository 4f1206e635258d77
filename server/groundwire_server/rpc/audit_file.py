"""The file of the audit, to which several processes append whole lines."""

import errno
import os
import stat
import sys
import time
from pathlib import Path

if sys.platform != "win32":
    import fcntl

_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_STANDARD_OUTPUT = 1
_LOCK_TRIES, _LOCK_PAUSE_SECONDS = 20, 0.001


class AuditFile:
    """Appends lines to a file that other processes append to as well, and that may be moved away at any time."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._descriptor = _STANDARD_OUTPUT if path is None else _open(path)

    def write(self, line: bytes) -> None:
        """Raises OSError when the operating system does not write the whole line; the file then has no part of it."""
        if self._path is None:
            _write(self._descriptor, line)
            return
        if not self._is_in_place(self._path):
            opened = _open(self._path)
            os.close(self._descriptor)
            self._descriptor = opened
        self._lock()
        try:
            status = os.fstat(self._descriptor)
            try:
                _write(self._descriptor, line)
            except OSError:
                if stat.S_ISREG(status.st_mode):
                    os.ftruncate(self._descriptor, status.st_size)
                raise
        finally:
            self._unlock()

    def _lock(self) -> None:
        """Locks the file against other workers. Raises BlockingIOError when somebody holds it longer than a write.

        On Windows there is no other worker.
        """
        if sys.platform != "win32":
            for _ in range(_LOCK_TRIES):
                try:
                    fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    time.sleep(_LOCK_PAUSE_SECONDS)
                else:
                    return
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _unlock(self) -> None:
        if sys.platform != "win32":
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)

    def close(self) -> None:
        """Closes the file; standard output stays open."""
        if self._path is not None:
            os.close(self._descriptor)

    def _is_in_place(self, path: Path) -> bool:
        try:
            named = path.stat()
        except FileNotFoundError:
            return False
        opened = os.fstat(self._descriptor)
        return (named.st_dev, named.st_ino) == (opened.st_dev, opened.st_ino)


def _write(descriptor: int, line: bytes) -> None:
    if os.write(descriptor, line) < len(line):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _open(path: Path) -> int:
    """The file for appending. Where it is made here, only this user may read it."""
    return os.open(path, _FLAGS, 0o600)
