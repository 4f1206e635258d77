"""Several index versions asked as if they were one: words are counted over all, and lists are merged by score."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import accumulate, chain
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from groundwire_index.nodes.node import Node
from groundwire_index.scope import id_prefix
from groundwire_index.store.manifest import VectorSpace
from groundwire_server.backends.interface import IndexSnapshot, PathSearch, Snapshot, Walk
from groundwire_server.backends.shared.graph.expansion import expand
from groundwire_server.backends.shared.graph.paths import find_paths
from groundwire_server.domain.graph.expansion import Expansion
from groundwire_server.domain.graph.paths import Paths
from groundwire_server.domain.query.neighbourhood import Neighbourhood
from groundwire_server.domain.query.query_result import ServiceContext, ServiceEdge
from groundwire_server.domain.search.candidates import (
    NO_COLUMNS,
    NO_FILE,
    Candidates,
    FileScores,
    NodeColumns,
    Positions,
    Retrieval,
    RetrieverScores,
    WordStatistics,
    no_file_scores,
)
from groundwire_server.domain.search.fusion import best_first
from groundwire_server.domain.search.search import Declaration, NodeLabel, Retriever
from groundwire_server.domain.texts.texts import StoredText, TextSize
from groundwire_server.engine.edges_between import BetweenEdges, EdgesBetween, with_edges_between
from groundwire_server.engine.union_graph import UnionGraph
from groundwire_server.engine.union_rows import PART_BITS, by_part, first_row
from groundwire_server.execution.call import Checkpoint

_WORDS = (Retriever.BM25_CODE, Retriever.BM25_PROSE)
Item = TypeVar("Item")


class UnionSnapshot:
    """A Snapshot over parts of distinct repositories and branches, in the order of their nodes' ids.

    `checkpoint` is that of the call which it is made for.
    """

    index = ""

    def __init__(self, parts: Sequence[IndexSnapshot], edges_between: EdgesBetween, checkpoint: Checkpoint) -> None:
        self.parts = parts
        self._edges_between = edges_between
        self._checkpoint = checkpoint

    @property
    def vector_space(self) -> VectorSpace | None:
        """None if the vectors of those parts that have any cannot be compared."""
        spaces = [part.vector_space for part in self.parts if part.vector_space]
        return spaces[0] if spaces and all(space.compares_with(spaces[0]) for space in spaces) else None

    @property
    def retrievers(self) -> frozenset[Retriever]:
        """Those that some part has data for."""
        return frozenset().union(*(part.retrievers for part in self.parts))

    @property
    def node_count(self) -> int:
        return sum(part.node_count for part in self.parts)

    def retrieve(self, search: Retrieval, checkpoint: Checkpoint) -> Candidates:
        """The result is that of an index that holds the nodes of all parts.

        Each retriever searches the parts that have data for it.
        """
        word_retrievers = [retriever for retriever in _WORDS if retriever in search.limits]
        if word_retrievers:
            counted = self._together(
                lambda part: part.word_statistics(
                    search.query, [retriever for retriever in word_retrievers if retriever in part.retrievers]
                )
            )
            checkpoint()
            words = {
                retriever: WordStatistics.total(
                    [part_statistics[retriever] for part_statistics in counted if retriever in part_statistics]
                )
                for retriever in word_retrievers
            }
            search = replace(search, words=words)
        return _merged(self._together(lambda part: _retrieved(part, search, checkpoint)), search)

    def matched_tokens(self, query: str, rows: Positions) -> list[tuple[str, ...]]:
        return self._of_parts(rows, lambda part, part_rows: part.matched_tokens(query, part_rows))

    def rows(self, ids: Sequence[str]) -> Mapping[str, int]:
        rows: dict[str, int] = {}
        for number, part in enumerate(self.parts):
            if part_ids := [id_ for id_ in ids if id_.startswith(id_prefix(part.scope))]:
                rows |= {id_: first_row(number) + row for id_, row in part.rows(part_ids).items()}
        return {id_: rows[id_] for id_ in dict.fromkeys(ids) if id_ in rows}

    def ids(self, rows: Positions) -> list[str]:
        return self._of_parts(rows, lambda part, part_rows: part.ids(part_rows))

    def labels(self, rows: Positions) -> list[NodeLabel]:
        return self._of_parts(rows, lambda part, part_rows: part.labels(part_rows))

    def declarations(self, rows: Positions) -> list[Declaration]:
        return self._of_parts(rows, lambda part, part_rows: part.declarations(part_rows))

    def nodes(self, rows: Positions) -> list[Node]:
        return self._of_parts(rows, lambda part, part_rows: part.nodes(part_rows))

    def texts(self, rows: Positions) -> list[StoredText]:
        return self._of_parts(rows, lambda part, part_rows: part.texts(part_rows))

    def text_sizes(self, rows: Positions) -> list[TextSize]:
        return self._of_parts(rows, lambda part, part_rows: part.text_sizes(part_rows))

    def vectors(self, rows: Positions) -> NDArray[np.float64]:
        space = self.vector_space
        if space is None:
            raise AssertionError("bug: vectors asked of indexes without vectors")
        vectors = np.zeros((len(rows), space.dimension), dtype=np.float64)
        for part, places, part_rows in self._split(rows):
            if part.vector_space:
                vectors[places] = part.vectors(part_rows)
        return vectors

    def neighbourhood(self, rows: Positions) -> Neighbourhood:
        neighbourhoods = [(places, part.neighbourhood(part_rows)) for part, places, part_rows in self._split(rows)]
        return with_edges_between(
            Neighbourhood(
                np.concatenate([places[edges.ends] for places, edges in neighbourhoods], axis=1),
                np.concatenate([edges.confidences for _, edges in neighbourhoods]),
                np.concatenate([edges.degrees for _, edges in neighbourhoods]),
            ),
            rows,
            self._between,
        )

    def parents(self, rows: Positions) -> list[Positions]:
        return self._around(rows, lambda part, part_rows: part.parents(part_rows))

    def adjacent(self, rows: Positions) -> list[Positions]:
        return self._around(rows, lambda part, part_rows: part.adjacent(part_rows))

    def service_contexts(self, service_names: Sequence[str]) -> tuple[ServiceContext, ...]:
        """Services of one name are one service, whatever part they are in."""
        contexts_of_parts = [part.service_contexts(service_names) for part in self.parts]
        return tuple(map(_context, zip(*contexts_of_parts, strict=True)))

    def expand(self, walk: Walk, checkpoint: Checkpoint) -> Expansion:
        return expand(self, UnionGraph(self.parts, self._between), walk, checkpoint)

    def find_paths(self, search: PathSearch, checkpoint: Checkpoint) -> Paths:
        return find_paths(self, UnionGraph(self.parts, self._between), search, checkpoint)

    def with_deleted(self) -> "Snapshot | None":
        whole = [part.with_deleted() for part in self.parts]
        if all(part_with_deleted is None for part_with_deleted in whole):
            return None
        return UnionSnapshot(
            [
                part if part_with_deleted is None else part_with_deleted.parts[0]
                for part, part_with_deleted in zip(self.parts, whole, strict=True)
            ],
            self._edges_between,
            self._checkpoint,
        )

    @cached_property
    def _between(self) -> BetweenEdges:
        """Found once for a call, since evidence makes many walks."""
        return self._edges_between.of(self.parts, self._checkpoint)

    def _together(self, ask: Callable[[IndexSnapshot], Item]) -> list[Item]:
        return self.parts[0].together([partial(ask, part) for part in self.parts])

    def _split(self, rows: Positions) -> list[tuple[IndexSnapshot, Positions, Positions]]:
        """The parts that rows [m] are in, each with the places of its rows and their rows in it."""
        return [(self.parts[number], places, part_rows) for number, places, part_rows in by_part(rows)]

    def _of_parts(self, rows: Positions, ask: Callable[[IndexSnapshot, Positions], Sequence[Item]]) -> list[Item]:
        """The answers of the parts, in the order of rows [m]."""
        split = self._split(rows)
        order = np.argsort(np.concatenate([places for _, places, _ in split])) if split else ()
        answers = list(chain.from_iterable(ask(part, part_rows) for part, _, part_rows in split))
        return [answers[place] for place in order]

    def _around(self, rows: Positions, ask: Callable[[IndexSnapshot, Positions], list[Positions]]) -> list[Positions]:
        rows_around = self._of_parts(rows, ask)
        return [
            near_rows + first_row(row >> PART_BITS) for row, near_rows in zip(rows.tolist(), rows_around, strict=True)
        ]


def _retrieved(part: IndexSnapshot, search: Retrieval, checkpoint: Checkpoint) -> Candidates:
    """The candidates of those retrievers that a part has data for."""
    limits = {retriever: limit for retriever, limit in search.limits.items() if retriever in part.retrievers}
    if not limits:
        return Candidates(np.empty(0, dtype=np.int64), {}, NO_COLUMNS, no_file_scores(0))
    vector = search.query_vector if Retriever.DENSE in limits else None
    return part.retrieve(replace(search, limits=limits, query_vector=vector), checkpoint)


def _of_retriever(part: Candidates, retriever: Retriever) -> RetrieverScores:
    """The scores of a retriever; where a part has no data for it, those of what it neither lists nor matches."""
    if retriever in part.by_retriever:
        return part.by_retriever[retriever]
    score = np.nan if retriever is Retriever.DENSE else 0.0
    return RetrieverScores(np.full(len(part), score), np.zeros(len(part), dtype=np.int64))


def _merged(parts: Sequence[Candidates], search: Retrieval) -> Candidates:
    """The candidates of all parts that are in the list of a retriever, when each list is cut to its limit again."""
    rows = np.concatenate([part.rows + first_row(number) for number, part in enumerate(parts)])
    lists: dict[Retriever, RetrieverScores] = {}
    for retriever in Retriever:
        if retriever not in search.limits:
            continue
        part_scores = [_of_retriever(part, retriever) for part in parts]
        scores = np.concatenate([scores_of_part.scores for scores_of_part in part_scores])
        listed = np.flatnonzero(np.concatenate([scores_of_part.ranks for scores_of_part in part_scores]))
        best = best_first(listed, scores)[: search.limits[retriever]]
        ranks = np.zeros(len(rows), dtype=np.int64)
        ranks[best] = np.arange(1, len(best) + 1)
        lists[retriever] = RetrieverScores(scores, ranks)
    kept = np.flatnonzero(np.any([merged.ranks > 0 for merged in lists.values()], axis=0))
    return Candidates(
        rows=rows[kept],
        by_retriever={name: RetrieverScores(merged.scores[kept], merged.ranks[kept]) for name, merged in lists.items()},
        columns=_columns([part.columns for part in parts], kept) if search.with_columns else NO_COLUMNS,
        files=FileScores(
            np.concatenate([part.files.scores for part in parts])[kept],
            np.concatenate([part.files.is_alone for part in parts])[kept],
        ),
        exact=all(part.exact for part in parts),
    )


def _columns(parts: Sequence[NodeColumns], kept: Positions) -> NodeColumns:
    """The columns of some of the candidates of all parts. No two parts share a file."""
    corpus_types = tuple(sorted(set(chain.from_iterable(part.corpus_types for part in parts))))
    places = {corpus_type: place for place, corpus_type in enumerate(corpus_types)}
    codes = [np.asarray([places[name] for name in part.corpus_types], dtype=np.int64) for part in parts]
    firsts = accumulate((int(part.files.max(initial=NO_FILE)) + 1 for part in parts[:-1]), initial=0)
    files = [
        np.where(part.files == NO_FILE, NO_FILE, part.files + first) for part, first in zip(parts, firsts, strict=True)
    ]
    return NodeColumns(
        corpus_types=corpus_types,
        corpus_codes=np.concatenate([code_of[part.corpus_codes] for code_of, part in zip(codes, parts, strict=True)])[
            kept
        ],
        timestamps=np.concatenate([part.timestamps for part in parts])[kept],
        purposes=np.concatenate([part.purposes for part in parts])[kept],
        is_deleted=np.concatenate([part.is_deleted for part in parts])[kept],
        char_counts=np.concatenate([part.char_counts for part in parts])[kept],
        files=np.concatenate(files)[kept],
    )


def _context(parts: Sequence[ServiceContext]) -> ServiceContext:
    """The neighbourhood of one service by all parts."""
    counts = Counter[tuple[str, str, str]]()
    for edge in chain.from_iterable(part.edges for part in parts):
        counts[edge.from_service, edge.to_service, edge.edge_type] += edge.count
    return ServiceContext(
        service_name=parts[0].service_name,
        calls=tuple(sorted(set(chain.from_iterable(part.calls for part in parts)))),
        called_by=tuple(sorted(set(chain.from_iterable(part.called_by for part in parts)))),
        edges=tuple(ServiceEdge(*names, count) for names, count in sorted(counts.items())),
    )
