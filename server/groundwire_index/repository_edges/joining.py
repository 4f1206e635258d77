"""The edges between several indexes, by the same rules as those within one tree."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TypeVar

from groundwire_index.repository_edges.ends import Ends
from groundwire_index.repository_edges.full_names import NameMatching, OfferedIn
from groundwire_index.repository_edges.messages import HandlerMatching
from groundwire_index.repository_edges.requests import REQUESTS, Asker, RequestMatching
from groundwire_index.repository_edges.tables import TableIn, TableMatching

Item = TypeVar("Item")

STEP = 1_000
"""After as many wants as this, joining asks whether it may go on."""


@dataclass(frozen=True, slots=True)
class RepositoryEnds:
    """The ends of an index, as far as a caller sees their nodes, and its repository."""

    repository: str
    ends: Ends


@dataclass(frozen=True, slots=True)
class IndexNode:
    """A node by the place of its index among those asked, and its key."""

    index: int
    key: str

    @property
    def name(self) -> str:
        """A key that no node of another index has, and that begins like those of nodes in it and around it."""
        return f"{self.index}/{self.key}"

    @classmethod
    def named(cls, name: str) -> "IndexNode":
        """The node of a name."""
        index, _, key = name.partition("/")
        return cls(int(index), key)


@dataclass(frozen=True, slots=True)
class EdgeBetween:
    """An edge from a node of one repository to one of another."""

    from_node: IndexNode
    to_node: IndexNode
    edge_type: str
    confidence: float
    line: int


def edges_between(indexes: Sequence[RepositoryEnds], checkpoint: Callable[[], None]) -> list[EdgeBetween]:
    """The edges between different repositories, each pair and type once, the surest.

    They are those that one tree would have in which each index is a folder. What branches of one repository ask of
    each other is left out. `checkpoint` is called after every STEP steps, and raises if the work has to stop.
    """
    best: dict[tuple[str, IndexNode, IndexNode], EdgeBetween] = {}
    steps = Steps(checkpoint)
    for edge in chain(
        _requests(indexes, steps), _messages(indexes, steps), _names(indexes, steps), _tables(indexes, steps)
    ):
        if indexes[edge.from_node.index].repository != indexes[edge.to_node.index].repository:
            place = (edge.edge_type, edge.from_node, edge.to_node)
            known = best.get(place)
            if known is None or (-edge.confidence, edge.line) < (-known.confidence, known.line):
                best[place] = edge
    return list(best.values())


class Steps:
    """Counts the steps of a join, and calls the checkpoint after every STEP of them."""

    def __init__(self, checkpoint: Callable[[], None]) -> None:
        self._checkpoint = checkpoint
        self._count = 0

    def over(self, items: Iterable[Item]) -> Iterator[Item]:
        """The items, each as a step."""
        for item in items:
            self._count += 1
            if self._count % STEP == 0:
                self._checkpoint()
            yield item


def _requests(indexes: Sequence[RepositoryEnds], steps: Steps) -> Iterator[EdgeBetween]:
    folders = [f"{number}/{index.repository}/" for number, index in enumerate(indexes)]
    # Routes of tests are for the tests that serve them.
    served = (
        replace(
            route,
            handler_key=IndexNode(number, route.handler_key).name,
            from_key=IndexNode(number, route.from_key).name,
            path=folders[number] + route.path,
        )
        for number, index in enumerate(indexes)
        for route in steps.over(index.ends.routes)
        if not (route.is_test or route.within)
    )
    services = {
        f"{folders[number]}{folder}".removesuffix("/"): name
        for number, index in enumerate(indexes)
        for folder, name in index.ends.services.items()
    }
    matching = RequestMatching(served, services)
    for number, index in enumerate(indexes):
        for end in steps.over(index.ends.requests):
            from_node = IndexNode(number, end.request.from_key)
            asker = Asker(folders[number] + end.asker.path, end.asker.is_test)
            for name, confidence in matching.answers(asker, replace(end.request, from_key=from_node.name)):
                yield EdgeBetween(from_node, IndexNode.named(name), REQUESTS, confidence, end.request.line)


def _messages(indexes: Sequence[RepositoryEnds], steps: Steps) -> Iterator[EdgeBetween]:
    matching = HandlerMatching(
        replace(handler, key=IndexNode(number, handler.key).name)
        for number, index in enumerate(indexes)
        for handler in steps.over(index.ends.handlers)
    )
    for number, index in enumerate(indexes):
        for use in steps.over(index.ends.messages):
            for name, confidence in matching.handlers(use):
                yield EdgeBetween(
                    IndexNode(number, use.key), IndexNode.named(name), use.edge_type, confidence, use.line
                )


def _names(indexes: Sequence[RepositoryEnds], steps: Steps) -> Iterator[EdgeBetween]:
    matching = NameMatching(
        OfferedIn(number, index.repository, name)
        for number, index in enumerate(indexes)
        for name in steps.over(index.ends.names)
    )
    for number, index in enumerate(indexes):
        for use in steps.over(index.ends.uses):
            for edge in matching.edges(number, index.repository, use):
                from_node, to_node = IndexNode(number, edge.key), IndexNode(edge.other_index, edge.other_key)
                if edge.is_back:
                    from_node, to_node = to_node, from_node
                yield EdgeBetween(from_node, to_node, edge.edge_type, edge.confidence, edge.line)


def _tables(indexes: Sequence[RepositoryEnds], steps: Steps) -> Iterator[EdgeBetween]:
    matching = TableMatching(
        TableIn(number, index.repository, table)
        for number, index in enumerate(indexes)
        for table in steps.over(index.ends.tables)
    )
    for number, index in enumerate(indexes):
        for use in steps.over(index.ends.table_uses):
            for item, confidence in matching.tables(number, index.repository, use):
                to_node = IndexNode(item.index, item.table.key)
                yield EdgeBetween(IndexNode(number, use.key), to_node, use.edge_type, confidence, use.line)
