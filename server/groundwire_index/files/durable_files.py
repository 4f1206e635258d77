"""Reading and writing the files of an index: arrays that are mapped, never copied, and bytes that are durable."""

import ctypes
import errno
import hashlib
import math
import mmap
import os
import sys
import weakref
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import numpy as np
from filelock import FileLock, Timeout
from numpy.typing import NDArray

from groundwire_index.index_errors import BuildRefusedError, IndexDamagedError

_SECONDS_BETWEEN_LOOKS = 0.02
"""How often a lock that another process holds is looked at."""
_THREADED_BYTES = 1 << 24
"""For files of less than this total size in bytes, starting threads takes longer than reading them."""
Scalar = TypeVar("Scalar", bound=np.generic)
Result = TypeVar("Result")

if sys.platform != "win32":
    _LIBC = ctypes.CDLL(None, use_errno=True)
    _LIBC.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *(ctypes.c_int,) * 3, ctypes.c_long)
    _LIBC.mmap.restype = ctypes.c_void_p
    _LIBC.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
    _MAP_FAILED = ctypes.c_void_p(-1).value


def write_array(path: Path, values: NDArray[np.generic]) -> None:
    """Writes an array as its bare little-endian elements in C order; the manifest's counts imply type and shape."""
    little_endian = values.astype(values.dtype.newbyteorder("<"), copy=False)
    path.write_bytes(np.ascontiguousarray(little_endian).tobytes())


def map_array(path: Path, dtype: type[Scalar], shape: tuple[int | None, ...], least: int = 0) -> NDArray[Scalar]:
    """Maps an array read-only. Raises IndexDamagedError unless the file has the size of such an array.

    A dimension of None is as long as the file allows, and no shorter than `least`.
    """
    element = np.dtype(dtype).newbyteorder("<")
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            row = element.itemsize * math.prod(length for length in shape if length is not None)
            lengths = tuple(max(least, size // row) if length is None else length for length in shape)
            expected = math.prod(lengths) * element.itemsize
            if size != expected:
                raise IndexDamagedError(f"{path.name}: has {size} bytes; {lengths} {element.name} take {expected}")
            values = np.frombuffer(_mapped(file.fileno(), size) if size else b"", dtype=element).reshape(lengths)
    except OSError as error:
        raise IndexDamagedError(f"{path.name}: {error}") from error
    values.flags.writeable = False
    return values


def sha256(path: Path) -> str:
    """Lower-case hexadecimal SHA-256 of a file, read in pieces."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def of_each_file(function: Callable[[Path], Result], paths: Sequence[Path]) -> Iterator[Result]:
    """The results of a function for files, in their order; for large files, several threads work at once."""
    size = sum(path.stat().st_size for path in paths)
    if size <= _THREADED_BYTES:
        yield from map(function, paths)
        return
    with ThreadPoolExecutor() as threads:
        yield from threads.map(function, paths)


def make_durable(path: Path) -> None:
    """Forces a file or directory to disk, so that a crash after this call cannot lose it.

    On Windows this is left to the system, which opens no directory and no file that is only read.
    """
    if sys.platform == "win32":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def replace_durably(path: Path, content: bytes) -> None:
    """Swaps a small file's content in one step: readers see the old or the new content, never a mix."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    temporary.write_bytes(content)
    make_durable(temporary)
    temporary.replace(path)
    make_durable(path.parent)


@contextmanager
def locked(path: Path, refusal: str = "") -> Iterator[None]:
    """Holds an exclusive lock that the kernel releases when the process ends, however it ends.

    Waits for it, or with a `refusal` raises BuildRefusedError at once when another process holds it. The file stays.
    Raises FileNotFoundError where its folder is not there.
    """
    if not path.parent.is_dir():  # which filelock would make
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    lock = FileLock(
        path,
        timeout=0 if refusal else -1,
        poll_interval=_SECONDS_BETWEEN_LOOKS,
        fallback_to_soft=False,
        preserve_lock_file=True,
    )
    try:
        lock.acquire()
    except Timeout as error:
        raise BuildRefusedError(f"{refusal}; wait for it to end") from error
    try:
        yield
    finally:
        lock.release()


def _mapped(descriptor: int, size: int) -> memoryview:
    """The file's bytes, mapped for as long as something refers to them. Raises OSError.

    Python's `mmap` keeps a file open for each mapping, before 3.13 in any case: an index has dozens of files, and many
    systems let a process open a thousand.
    """
    if sys.platform != "win32":
        address = _LIBC.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, descriptor, 0)
        if address == _MAP_FAILED:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        content = (ctypes.c_ubyte * size).from_address(address)
        weakref.finalize(content, _LIBC.munmap, address, size).atexit = False
        return memoryview(content)
    return memoryview(mmap.mmap(descriptor, size, access=mmap.ACCESS_READ))
