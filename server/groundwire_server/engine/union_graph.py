"""The graphs of several index versions as one, with the edges between their repositories."""

from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import partial
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from groundwire_server.backends.interface import IndexSnapshot
from groundwire_server.backends.selected_graph import FollowedEdges, Neighbours, Positions, Rows, StoredEdges
from groundwire_server.domain.graph.expansion import Direction
from groundwire_server.engine.edges_between import BetweenEdges, held
from groundwire_server.engine.union_rows import PART_BITS, by_part, first_row

_NO_EDGES = FollowedEdges(*(np.empty(0, dtype=np.int64) for _ in FollowedEdges._fields))


class UnionGraph:
    """The SelectedGraph of several parts, over rows and positions of the union; see `union_rows`.

    An edge type is the same in all parts, so its number is its place among the sorted names of all. The edges
    `between` the parts have the positions of a part after the last one.
    """

    def __init__(self, parts: Sequence[IndexSnapshot], between: BetweenEdges) -> None:
        self._parts = parts
        self._between = between
        self._graphs = [part.graph for part in parts]
        type_names = [*(graph.edge_types for graph in self._graphs), between.edge_types]
        self.edge_types = tuple(sorted(set(chain.from_iterable(type_names))))
        numbers = {name: number for number, name in enumerate(self.edge_types)}
        self._types = [np.asarray([numbers[name] for name in names], dtype=np.int64) for names in type_names]

    def neighbours(self, direction: Direction, followed_types: NDArray[np.bool_], least: np.float32) -> Neighbours:
        part_neighbours = [
            graph.neighbours(direction, followed_types.take(types), least)
            for graph, types in zip(self._graphs, self._types[:-1], strict=True)
        ]
        between = BetweenNeighbours(
            self._parts, self._between, self._types[-1], direction, followed_types.take(self._types[-1]), least
        )
        return UnionNeighbours(self._parts, part_neighbours, self._types, between)

    def edges(self, positions: Sequence[int] | Positions) -> StoredEdges:
        given = np.asarray(positions, dtype=np.int64)
        columns = StoredEdges(
            from_rows=np.empty(len(given), dtype=np.int64),
            to_rows=np.empty(len(given), dtype=np.int64),
            types=np.empty(len(given), dtype=np.int64),
            confidences=np.empty(len(given), dtype=np.float32),
            lines=np.empty(len(given), dtype=np.int32),
        )
        for number, places, part_positions in by_part(given):
            if number == len(self._parts):
                self._read_between(columns, places, part_positions)
                continue
            read = self._graphs[number].edges(part_positions)
            columns.from_rows[places] = read.from_rows.astype(np.int64) + first_row(number)
            columns.to_rows[places] = read.to_rows.astype(np.int64) + first_row(number)
            columns.types[places] = self._types[number].take(read.types)
            columns.confidences[places] = read.confidences
            columns.lines[places] = read.lines
        return columns

    def _read_between(self, columns: StoredEdges, places: Positions, numbers: Positions) -> None:
        """Puts the edges of some numbers between the parts at some places of columns."""
        stored = self._between.stored
        columns.from_rows[places] = stored.from_rows.take(numbers)
        columns.to_rows[places] = stored.to_rows.take(numbers)
        columns.types[places] = self._types[-1].take(stored.types.take(numbers))
        columns.confidences[places] = stored.confidences.take(numbers)
        columns.lines[places] = stored.lines.take(numbers)


@dataclass(frozen=True, slots=True)
class BetweenNeighbours:
    """The edges between parts that a walk follows, to rows that the question is about.

    `types` are the numbers of their edge types in the union, `followed_types` a mask of these.
    """

    parts: Sequence[IndexSnapshot]
    edges: BetweenEdges
    types: Positions
    direction: Direction
    followed_types: NDArray[np.bool_]
    least: np.float32

    def of(self, rows: Rows) -> FollowedEdges:
        if not len(self.edges):
            return _NO_EDGES
        places, ends, numbers = self.edges.following(rows, self.direction)
        stored = self.edges.stored
        followed = self.followed_types.take(stored.types.take(numbers))
        followed &= stored.confidences.take(numbers) >= self.least
        kept = np.flatnonzero(followed)
        kept = kept[held(self.parts, ends.take(kept))]
        numbers = numbers.take(kept)
        return FollowedEdges(
            places.take(kept),
            self.types.take(stored.types.take(numbers)),
            ends.take(kept),
            numbers + first_row(len(self.parts)),
        )


@dataclass(frozen=True, slots=True)
class UnionNeighbours:
    """The Neighbours of several parts.

    `neighbours` are those of each part, `types` the numbers of its edge types in the union. `between` has the edges
    from one part to another.
    """

    parts: Sequence[IndexSnapshot]
    neighbours: Sequence[Neighbours]
    types: Sequence[Positions]
    between: BetweenNeighbours

    def of(self, rows: Rows, known: Set[int], most: int) -> FollowedEdges:
        split = list(by_part(rows))
        known_of: dict[int, set[int]] = {number: set() for number, _, _ in split}
        for row in known:
            if (number := row >> PART_BITS) in known_of:
                known_of[number].add(row - first_row(number))
        return self._followed(
            [
                (number, places, partial(self.neighbours[number].of, rows_of_part, known_of[number], most))
                for number, places, rows_of_part in split
            ],
            self.between.of(rows),
        )

    def ends_of(self, rows: Rows) -> Iterator[Rows]:
        for number, _, rows_of_part in by_part(rows):
            for ends in self.neighbours[number].ends_of(rows_of_part):
                yield ends.astype(np.int64) + first_row(number)
        yield self.between.of(rows).ends

    def among(self, rows: Rows, chosen: Rows) -> FollowedEdges:
        crossing = self.between.of(rows)
        near = np.flatnonzero(np.isin(crossing.ends, chosen))
        chosen_of = {number: part_rows for number, _, part_rows in by_part(chosen)}
        return self._followed(
            [
                (number, places, partial(self.neighbours[number].among, rows_of_part, chosen_of[number]))
                for number, places, rows_of_part in by_part(rows)
                if number in chosen_of
            ],
            FollowedEdges(
                crossing.places.take(near),
                crossing.types.take(near),
                crossing.ends.take(near),
                crossing.positions.take(near),
            ),
        )

    def _followed(
        self, questions: Sequence[tuple[int, Positions, Callable[[], FollowedEdges]]], between: FollowedEdges
    ) -> FollowedEdges:
        """What the parts answer, asked together, and the edges between them.

        A question has the number of its part and the places of its rows among all.
        """
        answers = self.parts[0].together([ask for _, _, ask in questions])
        followed = [
            self._of_union(number, places, edges) for (number, places, _), edges in zip(questions, answers, strict=True)
        ]
        return FollowedEdges(*map(np.concatenate, zip(_NO_EDGES, *followed, between, strict=True)))

    def _of_union(self, number: int, places: Positions, edges: FollowedEdges) -> FollowedEdges:
        return FollowedEdges(
            places.take(edges.places),
            self.types[number].take(edges.types),
            edges.ends.astype(np.int64) + first_row(number),
            edges.positions + first_row(number),
        )
