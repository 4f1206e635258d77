"""Segments: what some consecutive rows give to the tables of an index, as named flat arrays in memory or in one file.

An index is written from segments in the order of their rows. The result does not depend on the borders of segments, so
a segment is as large as memory allows, and several may be made at once.
"""

import json
import os
import struct
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Parts: TypeAlias = dict[str, NDArray[Any]]
"""Flat arrays by name."""


@dataclass(frozen=True, slots=True)
class HeldSegment:
    """A segment in memory: the parts [elements] that `row_count` rows from `first_row` of the index on give."""

    first_row: int
    row_count: int
    parts: Mapping[str, NDArray[Any]]

    def part(self, name: str, start: int = 0, end: int | None = None) -> NDArray[Any]:
        """The elements of a part from `start` up to `end`; all of them unless given. A view."""
        return self.parts[name][start:end]

    def spill(self, path: Path) -> "SpilledSegment":
        """Writes the segment to a file, which `SpilledSegment.at` opens again."""
        extents: dict[str, _Extent] = {}
        with path.open("wb") as file:
            for name, values in self.parts.items():
                extents[name] = _Extent(file.tell(), values.dtype.str, len(values))
                file.write(np.ascontiguousarray(values).data)
            start = file.tell()
            file.write(json.dumps({name: astuple(extent) for name, extent in extents.items()}).encode())
            file.write(_START.pack(start))
        return SpilledSegment(self.first_row, self.row_count, path, extents)


_START = struct.Struct("<q")


@dataclass(frozen=True, slots=True)
class _Extent:
    offset: int
    dtype: str
    count: int


@dataclass(frozen=True, slots=True)
class SpilledSegment:
    """A segment in a file; only the requested parts are read."""

    first_row: int
    row_count: int
    path: Path
    extents: Mapping[str, _Extent]

    @classmethod
    def at(cls, path: Path, first_row: int, row_count: int) -> "SpilledSegment":
        """The segment in a file, now as that of other rows. Raises OSError."""
        with path.open("rb") as file:
            end = file.seek(-_START.size, os.SEEK_END)
            (start,) = _START.unpack(file.read())
            file.seek(start)
            extents = json.loads(file.read(end - start))
        return cls(first_row, row_count, path, {name: _Extent(*extent) for name, extent in extents.items()})

    def part(self, name: str, start: int = 0, end: int | None = None) -> NDArray[Any]:
        """As `HeldSegment.part`, but read, and not mapped, so that what was used does not stay in memory."""
        extent = self.extents[name]
        stop = extent.count if end is None else min(end, extent.count)
        dtype = np.dtype(extent.dtype)
        return np.fromfile(self.path, dtype, max(0, stop - start), offset=extent.offset + start * dtype.itemsize)


Segment: TypeAlias = HeldSegment | SpilledSegment


def whole_column(segments: Sequence[Segment], name: str) -> NDArray[Any]:
    """A part of all segments, one after the other."""
    return np.concatenate([segment.part(name) for segment in segments])


def bytes_part(content: bytes | bytearray) -> NDArray[np.uint8]:
    """Bytes as a part."""
    return np.frombuffer(content, dtype=np.uint8)
