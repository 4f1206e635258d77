"""The surroundings of a query's matches: texts, parents, neighbours and services, within the response's size."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice

from groundwire_index.limits import RESPONSE_BYTES
from groundwire_index.nodes.node import Node
from groundwire_index.nodes.purposes import PURPOSES
from groundwire_server.backends.interface import Snapshot
from groundwire_server.domain.query.query import QueryRequest
from groundwire_server.domain.query.query_result import Match, ParentText, ServiceContext, StageScores
from groundwire_server.domain.response_size import (
    QUERY_BYTES,
    Room,
    of_left_out,
    of_match,
    of_request,
    of_scope,
    of_service,
    of_string,
)
from groundwire_server.domain.search.candidates import Floats, Positions, as_positions
from groundwire_server.domain.search.search import Retriever
from groundwire_server.domain.texts.texts import SkipReason
from groundwire_server.engine.retrieval import left_out, scopes_of
from groundwire_server.engine.stages import Ranked


@dataclass(frozen=True, slots=True)
class QueryContent:
    """The matches with their neighbours, and the services; `truncated` when some did not fit the response.

    `used_tokens` are those of the texts, each counted once.
    """

    matches: tuple[Match, ...]
    service_context: tuple[ServiceContext, ...]
    truncated: bool
    used_tokens: int


class QueryContext:
    """Fills one response: first every match, then services, texts, parents and neighbours while there is room.

    The request is as the routing rule changed it.
    """

    def __init__(self, snapshot: Snapshot, request: QueryRequest) -> None:
        self._snapshot = snapshot
        self._request = request
        scope_sizes = [of_scope(scope) for scope in scopes_of(snapshot)]
        missing_data = left_out(snapshot, request.retrievers or tuple(Retriever))
        left_out_size = sum(of_left_out(missing.scope) for missing in missing_data)
        self._scope_bytes = max(scope_sizes, default=0)
        self._room = Room(RESPONSE_BYTES - QUERY_BYTES - of_request(request) - sum(scope_sizes) - left_out_size)
        self._truncated = False
        self._rows: dict[str, int] = {}
        self._returned: dict[str, int] = {}
        self._charged: set[str] = set()
        self._spent_tokens = 0

    def fill(self, ranked: Ranked) -> QueryContent:
        """The matches for the final list, in its order."""
        matching = self._without_texts(ranked.rows)
        fitting = [place for place, match in enumerate(matching) if self._fits(match)]
        kept, positions = [matching[place] for place in fitting], ranked.order[fitting].tolist()
        services = self._services(kept) if self._request.expand_graph else ()
        matches = [
            replace(match, rank=rank, scores=_stage_scores(ranked, position))
            for rank, (match, position) in enumerate(zip(self._with_texts(kept), positions, strict=True), start=1)
        ]
        neighbors = self._with_texts(self._neighbors(kept, matching)) if self._request.include_neighbors else []
        return QueryContent((*matches, *neighbors), services, self._truncated, sum(self._returned.values()))

    def _without_texts(self, rows: Positions) -> list[Match]:
        """The nodes of rows, each with the ids of the nodes that contain it."""
        nodes, parents = self._snapshot.nodes(rows), self._snapshot.parents(rows)
        parent_rows = as_positions(chain.from_iterable(inside.tolist() for inside in parents))
        ids = self._snapshot.ids(parent_rows)
        self._rows.update(zip(ids, parent_rows.tolist(), strict=True))
        self._rows.update((node.id, row) for node, row in zip(nodes, rows.tolist(), strict=True))
        next_id = iter(ids)
        return [
            Match(node=node, parent_ids=tuple(islice(next_id, len(inside))))
            for node, inside in zip(nodes, parents, strict=True)
        ]

    def _fits(self, match: Match) -> bool:
        return self._take(of_match(match.node) + self._scope_bytes + sum(map(of_string, match.parent_ids)))

    def _with_texts(self, matches: Sequence[Match]) -> list[Match]:
        """The same with their texts and then with their parents, as far as these fit."""
        texts = [self._text(match.node) for match in matches]
        return [
            replace(match, text=text, parents=parents)
            for match, text, parents in zip(matches, texts, self._parents(matches), strict=True)
        ]

    def _text(self, node: Node) -> str | SkipReason:
        """The text if budget and room hold it; one that is there already takes no more of the budget.

        One that only the response has no room for keeps its part of the budget, so that it can be fetched with it.
        """
        budget = self._request.budget_tokens
        spent = self._spent_tokens + (0 if node.id in self._charged else node.token_count)
        if budget is not None and spent > budget:
            return SkipReason.OVER_BUDGET
        self._charged.add(node.id)
        self._spent_tokens = spent
        if not self._room.take(of_string(node.text)):
            return SkipReason.RESPONSE_LIMIT
        self._returned[node.id] = node.token_count
        return node.text

    def _take(self, size: int) -> bool:
        fits = self._room.take(size)
        self._truncated = self._truncated or not fits
        return fits

    def _services(self, matches: Sequence[Match]) -> tuple[ServiceContext, ...]:
        names = sorted({match.node.service_name for match in matches if match.node.service_name})
        contexts = self._snapshot.service_contexts(names)
        return tuple(context for context in contexts if self._take(of_service(context)))

    def _parents(self, matches: Sequence[Match]) -> list[tuple[ParentText, ...]]:
        """The parents of each node; none unless they are asked for."""
        if not self._request.include_parents:
            return [()] * len(matches)
        wanted = dict.fromkeys(chain.from_iterable(match.parent_ids for match in matches))
        nodes = dict(zip(wanted, self._snapshot.nodes(self._rows_of(wanted)), strict=True))
        return [
            tuple(
                ParentText(nodes[parent], self._text(nodes[parent]))
                for parent in match.parent_ids
                if self._take(of_match(nodes[parent]))
            )
            for match in matches
        ]

    def _neighbors(self, matches: Sequence[Match], ranked: Sequence[Match]) -> list[Match]:
        """The neighbours of the matches. A whole text contains its part and is not its neighbour."""
        matched_ids = [match.node.id for match in matches]
        excluded = set(self._rows_of(chain(matched_ids, *(match.parent_ids for match in ranked))).tolist())
        beside: dict[int, str] = {}
        for matched_id, rows in zip(matched_ids, self._snapshot.adjacent(self._rows_of(matched_ids)), strict=True):
            for row in rows.tolist():
                if row not in excluded:
                    beside.setdefault(row, matched_id)
        return [
            replace(neighbour, neighbor_of=matched_id)
            for neighbour, matched_id in zip(self._without_texts(as_positions(beside)), beside.values(), strict=True)
            if self._fits(neighbour)
        ]

    def _rows_of(self, ids: Iterable[str]) -> Positions:
        """The rows of nodes that were read, or that contain one of these."""
        return as_positions(self._rows[node_id] for node_id in ids)


def _stage_scores(ranked: Ranked, position: int) -> StageScores:
    by_retriever = ranked.candidates.by_retriever
    dense, bm25_code, bm25_prose, trigram = (
        _at(by_retriever[retriever].scores if retriever in by_retriever else None, position) for retriever in Retriever
    )
    return StageScores(
        dense=dense,
        bm25_code=bm25_code,
        bm25_prose=bm25_prose,
        trigram=trigram,
        fused=float(ranked.fused[position]),
        file=_at(ranked.file, position),
        kind_factor=_factor_at(ranked.kind_factor, position),
        purpose="" if ranked.purpose_factor is None else PURPOSES[ranked.candidates.columns.purposes[position]].name,
        purpose_factor=_factor_at(ranked.purpose_factor, position),
        graph=_at(ranked.graph, position),
        rerank=_at(ranked.rerank, position),
        freshness=_at(ranked.freshness, position),
        boost=_factor_at(ranked.boost, position),
        repeat_factor=_factor_at(ranked.repeat_factor, position),
        length_factor=_factor_at(ranked.length_factor, position),
        within_file_factor=_factor_at(ranked.within_file_factor, position),
        older_definition_factor=_factor_at(ranked.older_definition_factor, position),
        older_definitions=0 if ranked.older_definitions is None else int(ranked.older_definitions[position]),
        best_older_definition=_at(ranked.best_older_definition, position),
        final=float(ranked.final[position]),
    )


def _at(column: Floats | None, position: int) -> float | None:
    """The score of one candidate; None where there is none."""
    score = math.nan if column is None else float(column[position])
    return None if math.isnan(score) else score


def _factor_at(column: Floats | None, position: int) -> float:
    """The factor of one candidate; 1 where the stage did not run."""
    return 1.0 if column is None else float(column[position])
