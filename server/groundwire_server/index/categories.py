"""The columns of the node table with few distinct values, so that a filter compares values once and not per row.

They share their files: codes of all columns in one, values in another. A set of files each would be most of an index.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groundwire_server.domain.nodes import Node
from groundwire_server.index.errors import IndexDamagedError
from groundwire_server.index.files import map_array, write_array
from groundwire_server.index.strings import StringColumn

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


@dataclass(frozen=True, slots=True)
class Category:
    """A column with few distinct values: the sorted values, and each row's position among them."""

    values: StringColumn
    codes: NDArray[np.int32]

    def rows_with(self, wanted: Sequence[int]) -> NDArray[np.bool_]:
        """A mask of the rows whose value stands at one of the wanted positions."""
        chosen = np.zeros(len(self.values), dtype=np.bool_)
        chosen[np.asarray(wanted, dtype=np.int64)] = True
        return chosen[self.codes]

    def __getitem__(self, row: int) -> str:
        return self.values[int(self.codes[row])]


def write_categories(directory: Path, nodes: Sequence[Node]) -> None:
    """Writes the categories of nodes, in row order."""
    codes = np.empty((len(CATEGORIES), len(nodes)), dtype=np.int32)
    values: list[str] = []
    starts = [0]
    for number, name in enumerate(CATEGORIES):
        column = [_category_value(node, name) for node in nodes]
        distinct = sorted(set(column))
        positions = {value: position for position, value in enumerate(distinct)}
        codes[number] = [positions[value] for value in column]
        values += distinct
        starts.append(len(values))
    write_array(directory / "categories.bin", codes)
    write_array(directory / "categories.starts.bin", np.asarray(starts, dtype=np.int64))
    StringColumn.write(directory, "categories.values", values)


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


def _category_value(node: Node, name: str) -> str:
    value: str = node.location.path if name == "path" else getattr(node, name)
    return value
