"""What stands around the matches of a query: their texts, parents, neighbours and services, as far as there is room."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from groundwire_index.nodes.node import Node
from groundwire_server.backends.interface import RetrievalSnapshot
from groundwire_server.domain.query import QueryRequest, Source
from groundwire_server.domain.query_result import Match, ParentText, ServiceContext, StageScores
from groundwire_server.domain.texts import SkipReason
from groundwire_server.engine.query_stages import Ranked
from groundwire_server.engine.response_room import ResponseRoom, context_bytes, node_bytes, string_bytes


@dataclass(frozen=True, slots=True)
class Surroundings:
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

    def __init__(self, snapshot: RetrievalSnapshot, request: QueryRequest) -> None:
        self._snapshot = snapshot
        self._request = request
        self._room = ResponseRoom(request)
        self._truncated = False
        self._returned: dict[str, int] = {}
        self._charged: set[str] = set()
        self._spent_tokens = 0

    def surround(self, ranked: Sequence[Ranked]) -> Surroundings:
        """The matches for the final list, in its order."""
        nodes = self._snapshot.nodes([entry.id for entry in ranked])
        parent_ids = self._snapshot.parents([entry.id for entry in ranked])
        kept = [entry for entry in ranked if self._fits(nodes[entry.id], parent_ids.get(entry.id, ()))]
        services = self._services([nodes[entry.id] for entry in kept]) if self._request.expand_graph else ()
        texts = {entry.id: self._text(nodes[entry.id]) for entry in kept}
        parents = self._parents([entry.id for entry in kept], parent_ids)
        matches = [
            Match(
                node=nodes[entry.id],
                text=texts[entry.id],
                rank=rank,
                scores=_stage_scores(entry),
                parent_ids=parent_ids.get(entry.id, ()),
                parents=parents.get(entry.id, ()),
            )
            for rank, entry in enumerate(kept, start=1)
        ]
        neighbors = self._neighbors([entry.id for entry in kept], parent_ids) if self._request.include_neighbors else []
        return Surroundings((*matches, *neighbors), services, self._truncated, sum(self._returned.values()))

    def _fits(self, node: Node, parent_ids: Sequence[str]) -> bool:
        return self._take(node_bytes(node) + sum(map(string_bytes, parent_ids)))

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
        if not self._room.take(string_bytes(node.text)):
            return SkipReason.RESPONSE_LIMIT
        self._returned[node.id] = node.token_count
        return node.text

    def _take(self, size: int) -> bool:
        fits = self._room.take(size)
        self._truncated = self._truncated or not fits
        return fits

    def _services(self, nodes: Sequence[Node]) -> tuple[ServiceContext, ...]:
        names = sorted({node.service_name for node in nodes if node.service_name})
        contexts = self._snapshot.service_contexts(names)
        return tuple(context for context in contexts if self._take(context_bytes(context)))

    def _parents(
        self, ids: Sequence[str], parent_ids: Mapping[str, tuple[str, ...]]
    ) -> dict[str, tuple[ParentText, ...]]:
        """The parents of each node, in the order of `ids`; none unless they are asked for."""
        if not self._request.include_parents:
            return {}
        wanted = dict.fromkeys(parent for id_ in ids for parent in parent_ids.get(id_, ()))
        nodes = self._snapshot.nodes(list(wanted))
        return {
            id_: tuple(
                ParentText(nodes[parent], self._text(nodes[parent]))
                for parent in parent_ids.get(id_, ())
                if self._take(node_bytes(nodes[parent]))
            )
            for id_ in ids
        }

    def _neighbors(self, match_ids: Sequence[str], parent_ids: Mapping[str, tuple[str, ...]]) -> list[Match]:
        """What stands beside the matches; a whole stands around its part, not beside it."""
        excluded = {*match_ids, *(id_ for ids in parent_ids.values() for id_ in ids)}
        beside: dict[str, str] = {}
        for match_id, ids in self._snapshot.neighbors(match_ids).items():
            for id_ in ids:
                beside.setdefault(id_, match_id)
        wanted = [id_ for id_ in beside if id_ not in excluded]
        nodes = self._snapshot.nodes(wanted)
        parents_beside = self._snapshot.parents(wanted)
        kept = [id_ for id_ in wanted if self._fits(nodes[id_], parents_beside.get(id_, ()))]
        texts = {id_: self._text(nodes[id_]) for id_ in kept}
        parents = self._parents(kept, parents_beside)
        return [
            Match(
                node=nodes[id_],
                text=texts[id_],
                rank=0,
                scores=None,
                parent_ids=parents_beside.get(id_, ()),
                parents=parents.get(id_, ()),
                neighbor_of=beside[id_],
            )
            for id_ in kept
        ]


def _stage_scores(entry: Ranked) -> StageScores:
    dense, bm25_code, bm25_nlp, trigram = (
        None if score is None else score.score for score in map(entry.candidate.of, Source)
    )
    return StageScores(
        dense=dense,
        bm25_code=bm25_code,
        bm25_nlp=bm25_nlp,
        trigram=trigram,
        fused=entry.fused,
        file=entry.file,
        kind_factor=entry.kind_factor,
        graph=entry.graph,
        rerank=entry.rerank,
        freshness=entry.freshness,
        boost=entry.boost,
        repeat_factor=entry.repeat_factor,
        final=entry.final,
    )
