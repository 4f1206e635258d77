"""Columns of strings: one UTF-8 blob and the offsets into it, both mapped."""

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groundwire_index.files.durable_files import map_array, write_array
from groundwire_index.index_errors import IndexDamagedError


class StringColumn:
    """An immutable sequence of strings. UTF-8 sorts as code points do, so a sorted column can be searched."""

    def __init__(self, blob: bytes | memoryview, offsets: NDArray[np.int64]) -> None:
        self._blob = blob
        self._offsets = offsets

    @staticmethod
    def write(directory: Path, name: str, values: Iterable[str]) -> None:
        """Writes `<name>.utf8` and `<name>.offsets.bin`."""
        StringColumn.write_encoded(directory, name, (value.encode() for value in values))

    @staticmethod
    def write_encoded(directory: Path, name: str, values: Iterable[bytes]) -> None:
        """Writes the column of values that are UTF-8 already."""
        sizes = array("i")
        with (directory / f"{name}.utf8").open("wb") as file:
            for value in values:
                sizes.append(file.write(value))
        _write_offsets(directory, name, np.asarray(sizes, dtype=np.int32))

    @staticmethod
    def write_joined(directory: Path, name: str, blobs: Iterable[NDArray[np.uint8]], sizes: NDArray[np.int32]) -> None:
        """Writes the column of values given in blobs, one after the other; `sizes` [values] are their lengths."""
        with (directory / f"{name}.utf8").open("wb") as file:
            for blob in blobs:
                file.write(blob.data)
        _write_offsets(directory, name, sizes)

    @classmethod
    def open(cls, directory: Path, name: str, count: int | None = None) -> "StringColumn":
        """Maps a column, of `count` strings if that is known. Raises IndexDamagedError when its files do not fit."""
        shape = (None if count is None else count + 1,)
        offsets = map_array(directory / f"{name}.offsets.bin", np.int64, shape, least=1)
        blob = map_array(directory / f"{name}.utf8", np.uint8, (None,))
        if offsets[0] != 0 or offsets[-1] != len(blob):
            raise IndexDamagedError(f"{name}.utf8: has {len(blob)} bytes; its offsets end at {offsets[-1]}")
        return cls(blob.data, offsets)

    def part(self, start: int, end: int) -> "StringColumn":
        """The strings from `start` up to `end` as a column that shares the blob."""
        return StringColumn(self._blob, self._offsets[start : end + 1])

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def __getitem__(self, position: int) -> str:
        return str(self._blob[self._offsets.item(position) : self._offsets.item(position + 1)], "utf-8")

    def raw(self, position: int) -> bytes:
        """The UTF-8 bytes of one string."""
        return bytes(self._blob[self._offsets.item(position) : self._offsets.item(position + 1)])

    def encoded(self) -> Iterator[bytes]:
        """The UTF-8 bytes of every string."""
        return map(self.raw, range(len(self)))

    def byte_length(self, position: int) -> int:
        """The UTF-8 length of one string, without reading it."""
        return int(self._offsets[position + 1] - self._offsets[position])

    def byte_lengths(self) -> NDArray[np.int64]:
        """The UTF-8 lengths of all strings."""
        return np.diff(self._offsets)

    def find(self, value: str) -> int | None:
        """The position of `value` in a sorted column, or None."""
        sought = value.encode()
        position = self.lower_bound(sought)
        return position if position < len(self) and self.raw(position) == sought else None

    def prefix_range(self, prefix: str) -> range:
        """The positions of the strings that start with `prefix`, in a sorted column."""
        first = self.lower_bound(prefix.encode())
        # 0xFF never occurs in UTF-8, so this sorts after every string with the prefix.
        return range(first, self.lower_bound(prefix.encode() + b"\xff"))

    def lower_bound(self, sought: bytes) -> int:
        """The first position whose string is not smaller than `sought`, in a sorted column."""
        return bisect_left(range(len(self)), sought, key=self.raw)


def _write_offsets(directory: Path, name: str, sizes: NDArray[np.int32]) -> None:
    offsets = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=offsets[1:])
    write_array(directory / f"{name}.offsets.bin", offsets)
