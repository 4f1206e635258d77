"""The columns of the node table with few distinct values, so that a filter compares values once and not per row.

They share their files: codes of all columns in one, values in another. A set of files each would be most of an index.
"""

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groundwire_index.files.durable_files import map_array, write_array
from groundwire_index.files.segment import Parts, Segment
from groundwire_index.files.string_column import StringColumn
from groundwire_index.index_errors import IndexDamagedError
from groundwire_index.lexical.term_runs import TermRun, merged_vocabulary
from groundwire_index.nodes.node import Node
from groundwire_index.nodes.row_conditions import RowTest, Selection

CATEGORIES = (
    "kind",
    "path",
    "language",
    "data_type",
    "corpus_type",
    "collection_id",
    "case_id",
    "document_id",
    "document_version_id",
    "service_name",
    "repo_name",
    "section_path",
    "author",
    "channel",
)
OWN_CATEGORIES = tuple(name for name in CATEGORIES if name not in ("kind", "path"))
"""Those that are a field of a node by themselves, and no part of its id or location."""

CATEGORY_FILES = ("categories.bin", "categories.starts.bin", "categories.values.utf8", "categories.values.offsets.bin")
"""Codes, the parts of the values that belong to each column, and the values."""

_COMPARED_RANGES = 4
"""Up to this number of ranges of values, comparing every row's value is faster than looking it up in a table."""


@dataclass(frozen=True, slots=True)
class Category:
    """A column with few distinct values: the sorted values, and each row's position among them."""

    values: StringColumn
    codes: NDArray[np.int32]

    def holding(self, wanted: Sequence[range]) -> RowTest:
        """The rows whose value is at one of the wanted positions."""
        if len(wanted) <= _COMPARED_RANGES:
            return partial(_in_ranges, self.codes, wanted)
        chosen = np.zeros(len(self.values), dtype=np.bool_)
        for positions in wanted:
            chosen[positions.start : positions.stop] = True
        return lambda rows: chosen.take(self.codes[rows])

    def __getitem__(self, row: int) -> str:
        return self.values[int(self.codes[row])]

    def of_rows(self, rows: NDArray[np.integer]) -> list[str]:
        """The values of rows [m]; each distinct one is read once."""
        codes, places = np.unique(self.codes.take(rows), return_inverse=True)
        values = [self.values[code] for code in codes.tolist()]
        return [values[place] for place in places.tolist()]


def _in_ranges(codes: NDArray[np.int32], wanted: Sequence[range], rows: Selection) -> NDArray[np.bool_]:
    selected = codes[rows]
    mask = np.zeros(len(selected), dtype=np.bool_)
    for positions in wanted:
        if len(positions) == 1:
            mask |= selected == positions.start
        elif positions:
            mask |= (selected >= positions.start) & (selected < positions.stop)
    return mask


class CategoryRun:
    """Collects the categories of one row after the other."""

    def __init__(self) -> None:
        self._runs = {name: TermRun() for name in CATEGORIES}

    def add(self, node: Node) -> None:
        """Notes the values of the next row."""
        for name, run in self._runs.items():
            run.add((_category_value(node, name),))

    def parts(self) -> Parts:
        """The categories as parts of a segment; of each value the rows that have it."""
        return {name: part for key, run in self._runs.items() for name, part in run.parts(_part_name(key)).items()}


def write_categories(directory: Path, segments: Sequence[Segment]) -> None:
    """Writes the categories of all rows."""
    count = sum(segment.row_count for segment in segments)
    starts = [0]
    with (directory / "categories.bin").open("wb") as file:

        def values() -> Iterator[bytes]:
            for name in map(_part_name, CATEGORIES):
                ranks = [array("i") for _ in segments]
                yield from merged_vocabulary(segments, name, ranks)
                starts.append(starts[-1] + 1 + max(segment_ranks[-1] for segment_ranks in ranks))
                file.write(_codes(segments, name, ranks, count).astype("<i4", copy=False).tobytes())

        StringColumn.write_encoded(directory, "categories.values", values())
    write_array(directory / "categories.starts.bin", np.asarray(starts, dtype=np.int64))


def open_categories(directory: Path, count: int) -> dict[str, Category]:
    """Maps the categories of `count` rows by name. Raises IndexDamagedError."""
    codes = map_array(directory / "categories.bin", np.int32, (len(CATEGORIES), count))
    starts = map_array(directory / "categories.starts.bin", np.int64, (len(CATEGORIES) + 1,)).tolist()
    values = StringColumn.open(directory, "categories.values")
    if [starts[0], starts[-1]] != [0, len(values)] or starts != sorted(starts):
        raise IndexDamagedError("categories.starts.bin: does not divide the values of categories.values.utf8")
    categories: dict[str, Category] = {}
    for name, column, (start, end) in zip(CATEGORIES, codes, pairwise(starts), strict=True):
        if count and not 0 <= int(column.min()) <= int(column.max()) < end - start:
            raise IndexDamagedError(f"categories.bin: {name} names values that categories.values.utf8 does not have")
        categories[name] = Category(values.part(start, end), column)
    return categories


def _codes(segments: Sequence[Segment], name: str, ranks: Sequence["array[int]"], count: int) -> NDArray[np.int32]:
    """Each row's [count] place among the values; `ranks` are the places of each segment's own values."""
    codes = np.empty(count, dtype=np.int32)
    for segment, places in zip(segments, ranks, strict=True):
        rows = segment.part(f"{name}.rows") + segment.first_row
        codes[rows] = np.repeat(np.asarray(places, dtype=np.int32), segment.part(f"{name}.counts"))
    return codes


def _part_name(category: str) -> str:
    return f"categories.{category}"


def _category_value(node: Node, name: str) -> str:
    value: str = node.location.path if name == "path" else getattr(node, name)
    return value
