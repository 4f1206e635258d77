"""GatherEvidence: ranks as Query does, adds what edges join to the best matches, and packs passages into a budget."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from groundwire.evidence.choosing import LINK_SOURCES, Match, QuestionNames, best_linked, choose, shown_edges
from groundwire.evidence.evidence_nodes import EvidenceNode
from groundwire.evidence.packing import Material, earlier_numbers, pack
from groundwire.evidence.question_words import QuestionWords, identifiers
from groundwire.tokens import TokenCounter
from groundwire_index.limits import RESPONSE_BYTES
from groundwire_index.nodes.node import Edge, Node
from groundwire_index.nodes.purposes import PURPOSES, purpose_of
from groundwire_index.scope import SEPARATOR
from groundwire_index.text.trigram_names import normalised_name
from groundwire_server.backends.interface import Snapshot, Walk
from groundwire_server.domain.errors import PreconditionError, Reason
from groundwire_server.domain.evidence.evidence import EvidenceRequest, EvidenceResult, MatchScores
from groundwire_server.domain.evidence.evidence_validation import check_evidence
from groundwire_server.domain.graph.expansion import Direction
from groundwire_server.domain.limits import MAX_PHRASINGS, MAX_QUERY_CHARS
from groundwire_server.domain.query.query import QueryRequest
from groundwire_server.domain.search.candidates import Retrieval, as_positions
from groundwire_server.domain.search.search import Retriever
from groundwire_server.engine.evidence_weakness import weakness_of
from groundwire_server.engine.phrasing.phrasing_service import PhrasingService
from groundwire_server.engine.query import MatchRanking, QueryPlan, RankedMatches
from groundwire_server.engine.retrieval import left_out, scopes_of
from groundwire_server.execution.call import Call
from groundwire_server.execution.observation import stage

MATCHES = 60
"""The most matches that evidence is made of."""
_OUTGOING_NODES, _INCOMING_NODES = 40, 20
"""The most nodes that a walk from one of the best matches reaches in each direction."""
_WEIGHING_TEXTS = 20
"""The texts of this many matches say how rare a word of the question is."""


_MOST_NAMES = 3
"""The most names of code in a question that are answered with their definitions and uses."""
_MOST_MENTIONING = 12
"""The most nodes that are looked at for these names, by each retriever."""


class DeferredTokenCounter:
    """The token counter, loaded when it is first used: its vocabulary takes a second and 100 MB."""

    def __init__(self) -> None:
        self._counter: TokenCounter | None = None

    async def loaded(self, call: Call) -> TokenCounter:
        """The counter."""
        if self._counter is None:
            self._counter = await call.wait_for(TokenCounter)
        return self._counter


async def gather_evidence(
    request: EvidenceRequest,
    ranking: MatchRanking,
    phrasing: PhrasingService | None,
    counter: DeferredTokenCounter,
    call: Call,
) -> EvidenceResult:
    """Answers a question with passages.

    Raises as `MatchRanking.answer` does; for a request that lets a model write phrasings, also
    PhrasingUnavailableError.
    """
    check_evidence(request)
    if request.phrase:
        request = await _phrased(request, phrasing, call)
    query = QueryRequest(
        scope=request.scope,
        access=request.access,
        query=request.text,
        now=request.now,
        scopes=request.scopes,
        granted=request.granted,
        filter=request.filter,
        lifecycle=request.lifecycle,
        top_k=MATCHES,
        cap_top_k=True,
        retrievers=request.retrievers,
        rerank=request.rerank,
        include_parents=False,
        query_vector=request.query_vector,
        history=request.history,
    )
    return await ranking.answer(query, call, partial(_gathered, request, await counter.loaded(call)))


async def _phrased(request: EvidenceRequest, phrasing: PhrasingService | None, call: Call) -> EvidenceRequest:
    """The request with phrasings of the model besides its own, as many as a request may have."""
    if phrasing is None:
        raise PreconditionError(
            Reason.PHRASING_NOT_CONFIGURED, "this server has no phrasing service; configure one or send `phrasings`"
        )
    written = await call.ask_model(partial(phrasing.phrasings, request.question, call.checkpoint))
    phrased = request
    for line in written:
        longer = replace(phrased, phrasings=(*phrased.phrasings, line))
        if len(longer.phrasings) <= MAX_PHRASINGS and len(longer.text) <= MAX_QUERY_CHARS:
            phrased = longer
    return phrased


def _gathered(
    request: EvidenceRequest,
    counter: TokenCounter,
    plan: QueryPlan,
    matches: RankedMatches,
    snapshot: Snapshot,
    call: Call,
) -> EvidenceResult:
    with stage("texts"):
        nodes = snapshot.nodes(matches.ranked.rows)
        scores = {node.id: made for node, made in zip(nodes, _scores(matches), strict=True)}
        words = QuestionWords(request.text, [node.text for node in nodes[:_WEIGHING_TEXTS]])
        names = identifiers(request.question)[:_MOST_NAMES]
        mentioning = _mentioning_nodes(names, request, snapshot, call)
    call.checkpoint()
    with stage("walk"):
        edges = _edges_among([node.id for node in nodes], snapshot, call)
        best = scores[nodes[0].id].score if nodes else 0.0
        sources = {node.id: scores[node.id].score / best for node in nodes[:LINK_SOURCES] if best > 0.0}
        edges += _edges_around(sources, snapshot, call)
        links = shown_edges(edges, with_history=request.history)
        linked = best_linked(sources, links, _names_of_ends(edges, scores, snapshot), words)
        rows = snapshot.rows([*linked, *(id_ for id_ in request.shown_ids if id_ not in scores)])
        further = snapshot.nodes(as_positions(rows.values()))
    call.checkpoint()
    with stage("pack"):
        weakness = weakness_of(request, matches.ranked, nodes)
        known = {node.id: node for node in (*nodes, *further, *mentioning)}
        evidence_nodes = {
            node.id: _evidence_node(node, plan, with_scope=bool(request.scopes)) for node in known.values()
        }
        earlier = earlier_numbers(request.shown_ids)
        material = Material(
            choice=choose(
                [Match(evidence_nodes[node.id], scores[node.id].score) for node in nodes],
                [evidence_nodes[node.id] for node in further],
                [evidence_nodes[node.id] for node in mentioning],
                edges,
                QuestionNames(words, names),
                with_history=request.history,
            ),
            words=words,
            earlier=earlier,
            earlier_nodes={node_id: evidence_nodes[node_id] for node_id in earlier if node_id in evidence_nodes},
            graph_share=request.graph_share,
            weakness="" if weakness is None else weakness.reason,
            with_explanations=request.explain,
        )
        evidence = pack(material, request.budget_tokens, counter)
    return EvidenceResult(
        evidence=evidence,
        nodes=known,
        scores=scores,
        earlier=earlier,
        weakness=weakness,
        exact=matches.ranked.candidates.exact,
        index=snapshot.index,
        scopes=scopes_of(snapshot),
        left_out=left_out(snapshot, request.retrievers or tuple(Retriever)),
        phrasings=request.phrasings,
    )


def _mentioning_nodes(names: Sequence[str], request: EvidenceRequest, snapshot: Snapshot, call: Call) -> list[Node]:
    """The nodes that have a name of the question as their own, or in their text; best first."""
    word_retrievers = [Retriever.TRIGRAM, Retriever.BM25_CODE]
    limits = {
        retriever: _MOST_MENTIONING
        for retriever in word_retrievers
        if retriever in snapshot.retrievers and retriever in (request.retrievers or word_retrievers)
    }
    if not names or not limits:
        return []
    search = Retrieval(
        query=" ".join(names),
        query_vector=None,
        limits=limits,
        trigram_threshold=1.0,
        names=tuple(dict.fromkeys(filter(None, map(normalised_name, names)))),
    )
    candidates = snapshot.retrieve(search, call.checkpoint)
    by_rank = [
        (int(retriever_scores.ranks[position]), place, position)
        for place, retriever_scores in enumerate(candidates.by_retriever.values())
        for position in np.flatnonzero(retriever_scores.ranks).tolist()
    ]
    positions = list(dict.fromkeys(position for *_, position in sorted(by_rank)))
    return snapshot.nodes(candidates.rows[as_positions(positions)])


def _edges_among(ids: Sequence[str], snapshot: Snapshot, call: Call) -> list[Edge]:
    """All edges between nodes."""
    return _walked(ids, len(ids), Direction.OUTGOING, snapshot, call) if ids else []


def _edges_around(ids: Iterable[str], snapshot: Snapshot, call: Call) -> list[Edge]:
    """The edges of each node, by a walk of its own, so that one with many edges does not displace those of others."""
    edges: list[Edge] = []
    for node_id in ids:
        edges += _walked([node_id], _OUTGOING_NODES, Direction.OUTGOING, snapshot, call)
        edges += _walked([node_id], _INCOMING_NODES, Direction.INCOMING, snapshot, call)
    return edges


def _walked(
    seed_ids: Sequence[str], max_nodes: int, direction: Direction, snapshot: Snapshot, call: Call
) -> list[Edge]:
    walk = Walk(tuple(seed_ids), 1, max_nodes, None, direction, RESPONSE_BYTES)
    return list(snapshot.expand(walk, call.checkpoint).edges)


def _names_of_ends(edges: Iterable[Edge], known: Collection[str], snapshot: Snapshot) -> dict[str, str]:
    """The symbols and paths of the nodes at the ends of edges that are not known, by id."""
    ends = dict.fromkeys(end for edge in edges for end in (edge.from_id, edge.to_id) if end not in known)
    labels = snapshot.labels(as_positions(snapshot.rows(list(ends)).values()))
    return {label.id: f"{label.symbol} {label.location.path}" for label in labels}


def _scores(matches: RankedMatches) -> list[MatchScores]:
    """The scores of the matches, best first."""
    ranked = matches.ranked
    by_retriever = ranked.candidates.by_retriever
    columns = {retriever: by_retriever[retriever].scores for retriever in by_retriever}
    made = []
    for rank, position in enumerate(ranked.order.tolist(), start=1):
        values = {retriever: float(column[position]) for retriever, column in columns.items()}
        score_of = {retriever: value for retriever, value in values.items() if not np.isnan(value)}
        made.append(
            MatchScores(
                rank=rank,
                score=max(float(ranked.final[position]), 0.0),
                similarity=score_of.get(Retriever.DENSE),
                bm25_code=score_of.get(Retriever.BM25_CODE),
                bm25_prose=score_of.get(Retriever.BM25_PROSE),
                trigram=score_of.get(Retriever.TRIGRAM),
            )
        )
    return made


def _evidence_node(node: Node, plan: QueryPlan, with_scope: bool) -> EvidenceNode:
    repository, branch, _ = node.id.split(SEPARATOR, 2)
    purpose = purpose_of(node)
    row = PURPOSES[purpose]
    return EvidenceNode(
        id=node.id,
        text=node.text,
        token_count=node.token_count,
        symbol=node.symbol or node.section_path,
        kind=node.kind,
        path=node.location.path,
        start_line=node.location.start_line,
        end_line=node.location.end_line,
        scope=f"{repository}{SEPARATOR}{branch}" if with_scope else "",
        is_aside=row.is_aside and purpose not in plan.wanted_purposes,
        purpose=row.in_words,
        purpose_factor=row.factor if plan.ranks and purpose not in plan.wanted_purposes else 1.0,
        is_test=node.is_test,
        is_generated=node.is_generated,
    )
