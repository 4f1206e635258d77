"""Opens what lies below a folder that is read, though somebody may replace its files and folders in the meantime.

No symbolic link below the folder is followed, so nothing outside of it is read. Opening waits for no one, as that of a
named pipe would. What is opened is examined, not what was there before. The folder itself may be a link.
"""

import errno
import hashlib
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

MAX_DEPTH = 256
"""How many folders a path below the folder may have: each of them is opened for each file."""

_NO_LINKS = getattr(os, "O_NOFOLLOW", 0)
_FLAGS = os.O_RDONLY | _NO_LINKS | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_FOLDER_FLAGS = _FLAGS | getattr(os, "O_DIRECTORY", 0)
_IS_POSIX = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")
_PIECE_BYTES = 1 << 20


def open_below(root: Path, path: str) -> BinaryIO:
    """Opens a regular file below `root`; `path` has forward slashes.

    Raises OSError, also for a link, for what is no regular file, and for a path of more than MAX_DEPTH folders.
    """
    with _folder_of(root, path) as (place, folder):
        descriptor = _opened(place, folder, _FLAGS, root, path)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "no regular file", str(root / path))
    return os.fdopen(descriptor, "rb")


def size_below(root: Path, path: str) -> int:
    """The bytes of a regular file below `root`. Raises OSError as `open_below`."""
    with open_below(root, path) as file:
        return os.fstat(file.fileno()).st_size


def read_below(root: Path, path: str, most_bytes: int) -> bytes:
    """The content of a regular file below `root`. Raises OSError as `open_below`, and for one of more bytes.

    No more is read, whatever size the file has or claims.
    """
    with open_below(root, path) as file:
        content = file.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise OSError(errno.EFBIG, f"more than {most_bytes} bytes", str(root / path))
    return content


def sha256_below(root: Path, path: str) -> str:
    """Lower-case hexadecimal SHA-256 of the bytes that a regular file below `root` has when it is opened.

    Raises OSError as `open_below`.
    """
    with open_below(root, path) as file:
        return _sha256(file)


def content_below(root: Path, path: str, most_bytes: int) -> str:
    """The same; for a file of more than `most_bytes` its size instead, in decimal digits."""
    with open_below(root, path) as file:
        size = os.fstat(file.fileno()).st_size
        return _sha256(file) if size <= most_bytes else str(size)


def _sha256(file: BinaryIO) -> str:
    digest, left = hashlib.sha256(), os.fstat(file.fileno()).st_size
    while left and (piece := file.read(min(left, _PIECE_BYTES))):
        digest.update(piece)
        left -= len(piece)
    return digest.hexdigest()


@contextmanager
def scan_below(root: Path, path: str) -> Iterator[Sequence[os.DirEntry[str]]]:
    """The entries of a folder below `root`, sorted by name; `path` may be empty, which is the root itself.

    Entries can be asked what they are while the context is open. Raises OSError as `open_below`.
    """
    path = path.removesuffix("/")
    if not path or not _IS_POSIX:
        with os.scandir(_unlinked(root, path)) as scan:
            yield sorted(scan, key=lambda entry: entry.name)
        return
    with _folder_of(root, path) as (place, parent):
        folder = _opened(place, parent, _FOLDER_FLAGS, root, path)
    try:
        with os.scandir(folder) as scan:
            yield sorted(scan, key=lambda entry: entry.name)
    finally:
        os.close(folder)


def regular_files_below(root: Path, path: str = "") -> Iterator[str]:
    """The paths below `root` of the regular files at or below `path`, links aside. Raises OSError."""
    pending = [path]
    while pending:
        current = pending.pop()
        with scan_below(root, current) as entries:
            for entry in entries:
                below = f"{current}/{entry.name}" if current else entry.name
                if entry.is_dir(follow_symlinks=False):
                    pending.append(below)
                elif entry.is_file(follow_symlinks=False):
                    yield below


@contextmanager
def _folder_of(root: Path, path: str) -> Iterator[tuple[str | Path, int | None]]:
    """What to open for a path below `root`, and the open folder that this is in; None where it is a whole path."""
    *folders, name = path.split("/")
    if len(folders) > MAX_DEPTH:
        raise OSError(errno.ENAMETOOLONG, f"lies {len(folders)} folders deep; at most {MAX_DEPTH} are read", root)
    if not _IS_POSIX:
        yield _unlinked(root, path), None
        return
    current = os.open(root, _FOLDER_FLAGS & ~_NO_LINKS)
    try:
        for folder in folders:
            inner = _opened(folder, current, _FOLDER_FLAGS, root, path)
            os.close(current)
            current = inner
        yield name, current
    finally:
        os.close(current)


def _opened(name: str | Path, folder: int | None, flags: int, root: Path, path: str) -> int:
    # Making the whole path takes longer than opening a folder.
    try:
        return os.open(name, flags, dir_fd=folder)
    except OSError as error:
        why = str(error.strerror)
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            why = "it, or a folder on the way to it, is a link now, or no folder; links are not followed"
        elif error.errno == errno.ENXIO:  # a socket
            why = "no regular file"
        raise OSError(error.errno, why, str(root / path)) from error


def _unlinked(root: Path, path: str) -> Path:
    """The place of a path below `root`, where the system itself cannot refuse links. Raises OSError for a link."""
    place = root
    for part in path.split("/") if path else ():
        place /= part
        if place.is_symlink():
            raise OSError(errno.ELOOP, "a link now; links are not followed", str(place))
    return place
