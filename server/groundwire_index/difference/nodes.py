"""The differences of the nodes that two index versions both have."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from groundwire_index.difference.alignment import merged_numbers
from groundwire_index.nodes.categories import CATEGORIES
from groundwire_index.nodes.node import NodeAccess
from groundwire_index.nodes.node_table import FLAGS, NodeTable
from groundwire_index.nodes.strings import StringColumn
from groundwire_index.store.loaded import LoadedIndex

TEXT, ACCESS, LOCATION = "text", "access", "location"

_PLACES = ("start_line", "end_line")
_OTHER_STRINGS = ("symbol", "signature", "source_uri", "context_prefix", "metadata")
_OTHER_CATEGORIES = tuple(name for name in CATEGORIES if name not in ("kind", "path"))
FIELDS = (TEXT, ACCESS, LOCATION, "chunk_index", "timestamp", *FLAGS, *_OTHER_CATEGORIES, *_OTHER_STRINGS)
"""The compared parts: the text by its hash, the access rules, path and lines, and all other fields of a node."""


class NodeChanges:
    """The nodes that differ: `old_rows` and `new_rows` [m] of them, `differs` [fields, m] by the place in FIELDS."""

    def __init__(
        self, old: LoadedIndex, new: LoadedIndex, old_rows: NDArray[np.intp], new_rows: NDArray[np.intp]
    ) -> None:
        """Compares the rows [n] of nodes that both versions have."""
        differs = np.zeros((len(FIELDS), len(old_rows)), dtype=np.bool_)
        for place, found in enumerate(_compared(old, new, old_rows, new_rows)):
            differs[place] = found
        some = differs.any(axis=0)
        self.old_rows, self.new_rows, self.differs = old_rows[some], new_rows[some], differs[:, some]

    def fields(self, position: int) -> list[str]:
        """The names of what differs in one of the nodes."""
        return [FIELDS[place] for place in np.flatnonzero(self.differs[:, position])]


def _compared(
    old: LoadedIndex, new: LoadedIndex, old_rows: NDArray[np.intp], new_rows: NDArray[np.intp]
) -> Iterator[NDArray[np.bool_]]:
    """For each of FIELDS, which rows differ."""

    def category(name: str) -> NDArray[np.bool_]:
        before, after = old.nodes.categories[name], new.nodes.categories[name]
        olds, news, _ = merged_numbers(before.values.encoded(), after.values.encoded())
        differs: NDArray[np.bool_] = olds[before.codes[old_rows]] != news[after.codes[new_rows]]
        return differs

    def number(name: str) -> NDArray[np.bool_]:
        differs: NDArray[np.bool_] = old.nodes.numbers[name][old_rows] != new.nodes.numbers[name][new_rows]
        return differs

    yield (old.nodes.content_hashes[old_rows] != new.nodes.content_hashes[new_rows]).any(axis=1)
    # A row without a class, which no caller sees, has the code 0.
    numbers: dict[NodeAccess | None, int] = {}
    olds, news = (
        np.asarray([numbers.setdefault(demand, len(numbers)) for demand in (None, *index.policies.classes)])
        for index in (old, new)
    )
    yield olds[old.policies.codes[old_rows]] != news[new.policies.codes[new_rows]]
    yield np.logical_or.reduce([category("path"), *map(number, _PLACES)])
    yield number("chunk_index")
    yield old.nodes.timestamps[old_rows] != new.nodes.timestamps[new_rows]
    for name in FLAGS:
        yield old.nodes.flags[name][old_rows] != new.nodes.flags[name][new_rows]
    yield from map(category, _OTHER_CATEGORIES)
    for before, after in zip(_other_strings(old.nodes), _other_strings(new.nodes), strict=True):
        yield _strings_differ(before, after, old_rows, new_rows)


def _other_strings(nodes: NodeTable) -> tuple[StringColumn, ...]:
    """The columns of _OTHER_STRINGS."""
    return nodes.symbols, nodes.signatures, nodes.source_uris, nodes.context_prefixes, nodes.metadata_texts


def _strings_differ(
    old: StringColumn, new: StringColumn, old_rows: NDArray[np.intp], new_rows: NDArray[np.intp]
) -> NDArray[np.bool_]:
    """Which rows differ; only strings of equal length are read."""
    lengths, new_lengths = old.byte_lengths()[old_rows], new.byte_lengths()[new_rows]
    differs: NDArray[np.bool_] = lengths != new_lengths
    for position in np.flatnonzero(~differs & (lengths > 0)).tolist():
        differs[position] = old.raw(int(old_rows[position])) != new.raw(int(new_rows[position]))
    return differs
