"""The difference of two index versions: every change of a node or edge, and how many there are of each kind."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from groundwire_index.difference.alignment import Alignment
from groundwire_index.difference.edges import EdgeChanges, edge_changes
from groundwire_index.difference.nodes import ACCESS, FIELDS, NodeChanges
from groundwire_index.nodes.node import NodeAccess
from groundwire_index.store.loaded import LoadedIndex

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
            "changed": Counter({found.edge_type: len(found.line_differs) for found in self._edges}),
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
