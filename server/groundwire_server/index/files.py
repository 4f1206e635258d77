"""Reading and writing the files of an index: arrays that are mapped, never copied, and bytes that are durable."""

import hashlib
import math
import mmap
import os
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from groundwire_server.index.errors import IndexDamagedError

Scalar = TypeVar("Scalar", bound=np.generic)


def write_array(path: Path, values: NDArray[np.generic]) -> None:
    """Writes an array as its bare little-endian elements in C order; the manifest's counts imply type and shape."""
    little_endian = values.astype(values.dtype.newbyteorder("<"), copy=False)
    path.write_bytes(np.ascontiguousarray(little_endian).tobytes())


def map_array(path: Path, dtype: type[Scalar], shape: tuple[int, ...]) -> NDArray[Scalar]:
    """Maps an array read-only. Raises IndexDamagedError unless the file has the size of such an array."""
    element = np.dtype(dtype).newbyteorder("<")
    content = map_bytes(path)
    expected = math.prod(shape) * element.itemsize
    if len(content) != expected:
        raise IndexDamagedError(f"{path.name}: has {len(content)} bytes; {shape} {element.name} take {expected}")
    return np.frombuffer(content, dtype=element).reshape(shape)


def map_bytes(path: Path) -> mmap.mmap | bytes:
    """Maps a file read-only; an empty file, which cannot be mapped, is empty bytes. Raises IndexDamagedError."""
    try:
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_size == 0:
                return b""
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError as error:
        raise IndexDamagedError(f"{path.name}: {error}") from error


def sha256(path: Path) -> str:
    """Lower-case hexadecimal SHA-256 of a file, read in pieces."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def make_durable(path: Path) -> None:
    """Forces a file or directory to disk, so that a crash after this call cannot lose it."""
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
