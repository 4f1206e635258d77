"""Which nodes of two index versions are the same, by their ids, and how those differ that both have."""

from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from groundwire_index.lexical.term_runs import merged_terms
from groundwire_index.nodes.categories import OWN_CATEGORIES
from groundwire_index.nodes.node import NodeAccess
from groundwire_index.nodes.node_table import FLAGS, NodeTable
from groundwire_index.nodes.strings import StringColumn
from groundwire_index.scope import SEPARATOR
from groundwire_index.store.loaded import LoadedIndex

TEXT, ACCESS, LOCATION = "text", "access", "location"

_PLACES = ("start_line", "end_line")
_OTHER_STRINGS = ("symbol", "signature", "source_uri", "context_prefix", "metadata")
FIELDS = (TEXT, ACCESS, LOCATION, "chunk_index", "timestamp", *FLAGS, *OWN_CATEGORIES, *_OTHER_STRINGS)
"""The compared parts: the text by its hash, the access rules, path and lines, and all other fields of a node."""


def merged_numbers(old: Iterator[bytes], new: Iterator[bytes]) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Numbers for the values of two sorted lists without repetition, in their order, and how many there are.

    Equal values have equal numbers. Holds one value of each list at a time.
    """
    ranks = array("q"), array("q")
    count = sum(1 for _ in merged_terms((old, new), ranks))
    olds, news = (np.asarray(own, dtype=np.int64) for own in ranks)
    return olds, news, count


@dataclass(frozen=True, slots=True)
class Alignment:
    """The nodes of two versions in one numbering: `old` [n] and `new` [m] number the rows, in the order of their ids.

    Nodes of two branches are the same when their ids differ in the branch alone. `count` is how many there are.
    """

    old: NDArray[np.int64]
    new: NDArray[np.int64]
    count: int

    @classmethod
    def of(cls, old: LoadedIndex, new: LoadedIndex) -> Self:
        """Reads the ids of both versions once."""
        return cls(*merged_numbers(_keys(old), _keys(new)))

    def removed(self) -> NDArray[np.intp]:
        """The rows of nodes that only the old version has."""
        return np.flatnonzero(~np.isin(self.old, self.new, assume_unique=True))

    def added(self) -> NDArray[np.intp]:
        """The rows of nodes that only the new version has."""
        return np.flatnonzero(~np.isin(self.new, self.old, assume_unique=True))

    def common(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The rows of nodes that both versions have, in the old and in the new one."""
        _, olds, news = np.intersect1d(self.old, self.new, assume_unique=True, return_indices=True)
        return olds, news


def _keys(index: LoadedIndex) -> Iterator[bytes]:
    """The part of each id after the scope."""
    scope = SEPARATOR.join((index.manifest.repository, index.manifest.branch, "")).encode()
    return (key[len(scope) :] for key in index.nodes.ids.encoded())


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
    yield from map(category, OWN_CATEGORIES)
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
