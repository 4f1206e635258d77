"""The difference of two index versions: every change of a node or edge, and how many there are of each kind."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from groundwire_index.difference.nodes import ACCESS, FIELDS, Alignment, NodeChanges
from groundwire_index.nodes.node import NodeAccess
from groundwire_index.store.loaded import LoadedIndex


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
        for found in self._edges:
            for position in found.removed.tolist():
                yield _edge("removed", self.old, found, position)
            for position in found.added.tolist():
                yield _edge("added", self.new, found, position)
            for place, position in enumerate(found.changed[1].tolist()):
                yield _edge("changed", self.new, found, position, found.fields(place))

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
            "added": Counter({found.edge_type: len(found.added) for found in self._edges}),
            "removed": Counter({found.edge_type: len(found.removed) for found in self._edges}),
            "changed": Counter({found.edge_type: found.changed.shape[1] for found in self._edges}),
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
    change: ChangeName, index: LoadedIndex, found: EdgeChanges, position: int, fields: list[str] | None = None
) -> EdgeChange:
    ids, edges = index.nodes.ids, index.edges
    ends = ids[int(edges.from_rows[position])], ids[int(edges.to_rows[position])]
    return EdgeChange(change, *ends, found.edge_type, fields or [])


def _by_category(name: str, index: LoadedIndex, rows: NDArray[np.intp]) -> Counter[str]:
    category = index.nodes.categories[name]
    codes, counts = np.unique(category.codes[rows], return_counts=True)
    return Counter({category.values[code]: count for code, count in zip(codes.tolist(), counts.tolist(), strict=True)})
