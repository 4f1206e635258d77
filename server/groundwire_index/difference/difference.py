"""The difference of two index versions: every change of a node or edge, and how many there are of each kind."""

from array import array
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from groundwire_index.files.string_column import StringColumn
from groundwire_index.lexical.term_runs import merged_terms
from groundwire_index.nodes.categories import OWN_CATEGORIES
from groundwire_index.nodes.node import NodeAccess
from groundwire_index.nodes.node_table import FLAGS, NodeTable
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
    olds, news = (np.asarray(side, dtype=np.int64) for side in ranks)
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
        for place, changed_fields in enumerate(_compared(old, new, old_rows, new_rows)):
            differs[place] = changed_fields
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


@dataclass(frozen=True, slots=True)
class EdgeChanges:
    """The edges of one type that differ, as positions among the edges of the versions.

    `removed` are among those of the old version, `added` among those of the new one. `changed` [2, m] are in both;
    `differs` [m] says by the name of a field in which of them it does.
    """

    edge_type: str
    removed: NDArray[np.intp]
    added: NDArray[np.intp]
    changed: NDArray[np.intp]
    differs: Mapping[str, NDArray[np.bool_]]

    def fields(self, place: int) -> list[str]:
        """The names of what differs in one of the changed edges."""
        return [name for name, differs in self.differs.items() if differs[place]]


def edge_changes(old: LoadedIndex, new: LoadedIndex, nodes: Alignment) -> Iterator[EdgeChanges]:
    """Compares the edges, one type after the other; an edge is known by its ends and type."""
    for edge_type in sorted({*old.manifest.edge_types, *new.manifest.edge_types}):
        olds, old_keys = _of_type(old, edge_type, nodes.old, nodes.count)
        news, new_keys = _of_type(new, edge_type, nodes.new, nodes.count)
        _, old_places, new_places = np.intersect1d(old_keys, new_keys, assume_unique=True, return_indices=True)
        both = np.stack((olds[old_places], news[new_places]))
        confidence = old.edges.confidences[both[0]] != new.edges.confidences[both[1]]
        line = old.edges.lines[both[0]] != new.edges.lines[both[1]]
        some = confidence | line
        yield EdgeChanges(
            edge_type=edge_type,
            removed=np.delete(olds, old_places),
            added=np.delete(news, new_places),
            changed=both[:, some],
            differs={"confidence": confidence[some], "line": line[some]},
        )


def _of_type(
    index: LoadedIndex, edge_type: str, numbers: NDArray[np.int64], count: int
) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """The positions of the edges of a type, by their ends, and a number for both ends together."""
    if edge_type not in index.manifest.edge_types:
        return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.int64)
    # Edges of a type are sorted descending by their ends.
    positions = np.flatnonzero(index.edges.types == index.manifest.edge_types.index(edge_type))[::-1]
    return positions, numbers[index.edges.from_rows[positions]] * count + numbers[index.edges.to_rows[positions]]


ChangeName: TypeAlias = Literal["added", "removed", "changed"]
CHANGES: tuple[ChangeName, ...] = ("added", "removed", "changed")


@dataclass(frozen=True, slots=True)
class NodeChange:
    """A node that only one version has, or that differs in `fields`; see `nodes.FIELDS`.

    The rest is of the newer version that has it. `old_access` and `new_access` are there when these differ.
    """

    change: ChangeName
    id: str
    kind: str
    path: str
    fields: list[str] = field(default_factory=list)
    old_access: NodeAccess | None = None
    new_access: NodeAccess | None = None


@dataclass(frozen=True, slots=True)
class EdgeChange:
    """An edge that only one version has, or that differs in `fields`: `confidence`, `line`."""

    change: ChangeName
    from_id: str
    to_id: str
    edge_type: str
    fields: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class NodeCounts:
    """How many nodes were added, removed and changed, by kind and by path.

    `fields` counts what differs in those changed.
    """

    by_kind: Mapping[ChangeName, Counter[str]]
    by_path: Mapping[ChangeName, Counter[str]]
    fields: Counter[str]


class Difference:
    """Compares two versions of one index, or of two branches. Holds numbers of what differs, and no text or id."""

    def __init__(self, old: LoadedIndex, new: LoadedIndex) -> None:
        self.old, self.new = old, new
        nodes = Alignment.of(old, new)
        self._removed, self._added = nodes.removed(), nodes.added()
        self._changed = NodeChanges(old, new, *nodes.common())
        self._edges = list(edge_changes(old, new, nodes))

    def node_changes(self) -> Iterator[NodeChange]:
        """The nodes that differ: those removed, added and changed, each in the order of their ids."""
        for row in self._removed.tolist():
            yield _node("removed", self.old, row)
        for row in self._added.tolist():
            yield _node("added", self.new, row)
        changed = self._changed
        for place, (old_row, row) in enumerate(zip(changed.old_rows.tolist(), changed.new_rows.tolist(), strict=True)):
            fields = changed.fields(place)
            access = (self.old.policies.of(old_row), self.new.policies.of(row)) if ACCESS in fields else (None, None)
            yield _node("changed", self.new, row, fields, *access)

    def edge_changes(self) -> Iterator[EdgeChange]:
        """The edges that differ, by their types."""
        for changes in self._edges:
            for position in changes.removed.tolist():
                yield _edge("removed", self.old, changes, position)
            for position in changes.added.tolist():
                yield _edge("added", self.new, changes, position)
            for place, position in enumerate(changes.changed[1].tolist()):
                yield _edge("changed", self.new, changes, position, changes.fields(place))

    def node_counts(self) -> NodeCounts:
        """How many nodes differ, and how."""
        chosen: dict[ChangeName, tuple[LoadedIndex, NDArray[np.intp]]] = {
            "added": (self.new, self._added),
            "removed": (self.old, self._removed),
            "changed": (self.new, self._changed.new_rows),
        }
        counts = self._changed.differs.sum(axis=1).tolist()
        return NodeCounts(
            by_kind={name: _by_category("kind", *chosen[name]) for name in CHANGES},
            by_path={name: _by_category("path", *chosen[name]) for name in CHANGES},
            fields=Counter({name: count for name, count in zip(FIELDS, counts, strict=True) if count}),
        )

    def edge_counts(self) -> dict[ChangeName, Counter[str]]:
        """How many edges differ, by type."""
        return {
            "added": Counter({changes.edge_type: len(changes.added) for changes in self._edges}),
            "removed": Counter({changes.edge_type: len(changes.removed) for changes in self._edges}),
            "changed": Counter({changes.edge_type: changes.changed.shape[1] for changes in self._edges}),
        }


def _node(
    change: ChangeName,
    index: LoadedIndex,
    row: int,
    fields: list[str] | None = None,
    old_access: NodeAccess | None = None,
    new_access: NodeAccess | None = None,
) -> NodeChange:
    categories = index.nodes.categories
    place = index.nodes.ids[row], categories["kind"][row], categories["path"][row]
    return NodeChange(change, *place, fields or [], old_access, new_access)


def _edge(
    change: ChangeName, index: LoadedIndex, changes: EdgeChanges, position: int, fields: list[str] | None = None
) -> EdgeChange:
    ids, edges = index.nodes.ids, index.edges
    ends = ids[int(edges.from_rows[position])], ids[int(edges.to_rows[position])]
    return EdgeChange(change, *ends, changes.edge_type, fields or [])


def _by_category(name: str, index: LoadedIndex, rows: NDArray[np.intp]) -> Counter[str]:
    category = index.nodes.categories[name]
    codes, counts = np.unique(category.codes[rows], return_counts=True)
    return Counter({category.values[code]: count for code, count in zip(codes.tolist(), counts.tolist(), strict=True)})
