"""Query: the whole flow in one call."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from groundwire_index.nodes.purposes import Purpose
from groundwire_server.backends.interface import Snapshot
from groundwire_server.domain.errors import NotFoundError, Reason
from groundwire_server.domain.query.asked_definition import AskedDefinition, asked_definition
from groundwire_server.domain.query.corpus_boost import BoostRule
from groundwire_server.domain.query.query import FusionMode, QueryClass, QueryRequest
from groundwire_server.domain.query.query_class import classify
from groundwire_server.domain.query.query_parameters import (
    EffectiveParameters,
    QueryDefaults,
    asked_fusion,
    effective_parameters,
    with_capped_top_k,
)
from groundwire_server.domain.query.query_result import QueryResult, RetrieveMeta, Routing, applied_parameters
from groundwire_server.domain.query.query_validation import check_query
from groundwire_server.domain.query.ranking_parameters import (
    OLDER_DEFINITION_FACTOR,
    OLDER_DEFINITION_FACTOR_IN_HISTORY,
    REPEAT_FACTOR,
    RankingParameters,
    applied_ranking,
)
from groundwire_server.domain.query.routing import RoutingRule, routed, rule_for, settled_fusion
from groundwire_server.domain.search.candidates import Candidates, Retrieval
from groundwire_server.domain.search.search import LEXICAL_RETRIEVERS, Retriever
from groundwire_server.engine.corpus_boost import CorpusBoosts
from groundwire_server.engine.indexes import Indexes
from groundwire_server.engine.query_context import QueryContent, QueryContext
from groundwire_server.engine.redefinitions import NO_REDEFINITIONS, redefinitions_among
from groundwire_server.engine.rerankers.rerank import Reranker, configured
from groundwire_server.engine.retrieval import check_held, left_out, scopes_of, vector_of
from groundwire_server.engine.stages import (
    Ranked,
    boost,
    definitions_in_order,
    diversified,
    freshen,
    fuse,
    fusion_weights,
    purposes_asked_for,
    ranked_in_repository,
    rerank,
    spread_over_files,
)
from groundwire_server.execution.call import Call
from groundwire_server.execution.observation import stage
from groundwire_server.query_embedding.query_vectors import QueryVectors

Result = TypeVar("Result")

_ADVICE = {
    Retriever.DENSE: "send no query_vector and ask other retrievers, such as BM25_CODE",
    Retriever.BM25_CODE: "ask other retrievers",
    Retriever.BM25_PROSE: "ask other retrievers",
}
_PACKAGED = QueryDefaults()
_IN_WORDS = (QueryClass.NATURAL_LANGUAGE, QueryClass.MIXED)


class OwnTime:
    """Adds up processor time that a call's own work takes, in milliseconds.

    The time must not depend on calls of others, so opening an index, embedding a query and waiting are left out.
    """

    def __init__(self, milliseconds: float = 0.0) -> None:
        """`milliseconds` were measured before."""
        self.milliseconds = milliseconds

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Adds the time while the context is open, and reports it as a stage to the call's observer."""
        start = time.thread_time()
        with stage(name):
            yield
        self.milliseconds += (time.thread_time() - start) * 1000.0


@dataclass(frozen=True, slots=True)
class QuerySettings:
    """The parts of a server that a query needs besides its indexes.

    Of the rules of `routing` the first that matches counts. `defaults` are what absent parameters take.
    """

    boosts: CorpusBoosts
    routing: tuple[RoutingRule, ...] = ()
    defaults: QueryDefaults = _PACKAGED


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """How one query is run: everything that is settled before retrieval. `request` is as `rule` changed it.

    `ranks` is False where the order is that of the fusion: for names, paths and quotations, and for a fusion by ranks
    or weights that the request names. `orders_definitions` is False for the latter, and for paths and quotations, which
    ask for a certain text. `wanted_purposes` are those that the question or a rule asks for: they are not lowered.
    `asked_definition` is the object whose definition the question asks for, if it does and `ranks` is True.
    """

    request: QueryRequest
    rule: RoutingRule
    fusion: FusionMode
    parameters: EffectiveParameters
    ranks: bool
    orders_definitions: bool
    wanted_purposes: frozenset[Purpose]
    query_class: QueryClass
    rules: tuple[BoostRule, ...]
    asked_definition: AskedDefinition | None
    reranker: Reranker | None

    @property
    def older_definition_factor(self) -> float:
        """What the score of an older definition is multiplied by."""
        return OLDER_DEFINITION_FACTOR_IN_HISTORY if self.request.history else OLDER_DEFINITION_FACTOR


@dataclass(frozen=True, slots=True)
class RankedMatches:
    """The result of the retrievers and of the stages until now; the call's own work took `milliseconds`.

    `deleted` is how many deleted nodes would be candidates were they active.
    """

    weights: tuple[tuple[Retriever, float], ...]
    fused_count: int
    deleted: int
    ranked: Ranked
    milliseconds: float


@dataclass(frozen=True, slots=True)
class MatchRanking:
    """Ranks the nodes that match a question, for the calls that return texts of them."""

    indexes: Indexes
    query_vectors: QueryVectors
    reranker: Reranker | None
    settings: QuerySettings
    max_top_k: int

    async def answer(
        self, request: QueryRequest, call: Call, finish: Callable[[QueryPlan, RankedMatches, Snapshot, Call], Result]
    ) -> Result:
        """What `finish` makes of the ranked matches, in the same step as the last stage of ranking.

        Raises InvalidRequestError, PermissionDeniedError, NotFoundError, PreconditionError, RerankerUnavailableError,
        or what the call's checkpoint raises.
        """
        plan = _plan(request, self.reranker, self.settings, self.max_top_k)
        snapshot = await self.indexes.open_with_graph(plan.request, call)
        retrievers = _wanted_retrievers(plan.request, snapshot)
        check_held(snapshot, retrievers, _ADVICE)
        uses_vectors = Retriever.DENSE in retrievers
        vector = await vector_of(plan.request, snapshot, self.query_vectors, call) if uses_vectors else None
        retrieve = partial(_retrieved, plan, _retrieval(plan, retrievers, vector), snapshot, call)
        if plan.reranker is None:
            return await call.compute(lambda: finish(plan, _ordered(plan, retrieve(), snapshot, call), snapshot, call))
        matches = await call.compute(retrieve)
        matches = await call.ask_model(partial(_reranked, plan, matches, snapshot, plan.reranker, call))
        return await call.compute(lambda: finish(plan, _ordered(plan, matches, snapshot, call), snapshot, call))

    async def query(self, request: QueryRequest, call: Call) -> QueryResult:
        """Answers a query; raises as `answer` does."""
        return await self.answer(request, call, _result)


def _plan(request: QueryRequest, reranker: Reranker | None, settings: QuerySettings, max_top_k: int) -> QueryPlan:
    if request.cap_top_k:
        request = with_capped_top_k(request, max_top_k)
    rule = rule_for(request, settings.routing)
    fusion = settled_fusion(request, rule)
    check_query(request, fusion, max_top_k)
    query_class, rules = classify(request.query), settings.boosts.called(request.query)
    orders_by_fusion = asked_fusion(request.fusion, request.hybrid) in (FusionMode.RRF, FusionMode.WEIGHTED)
    request = routed(request, rule)
    ranks = query_class in _IN_WORDS and not orders_by_fusion
    return QueryPlan(
        request=request,
        rule=rule,
        fusion=fusion,
        parameters=effective_parameters(request, settings.defaults),
        ranks=ranks,
        orders_definitions=query_class in (*_IN_WORDS, QueryClass.IDENTIFIER) and not orders_by_fusion,
        wanted_purposes=purposes_asked_for(request.query, rules),
        query_class=query_class,
        rules=rules,
        asked_definition=asked_definition(request.query) if ranks else None,
        reranker=configured(reranker) if request.rerank else None,
    )


def _wanted_retrievers(request: QueryRequest, snapshot: Snapshot) -> tuple[Retriever, ...]:
    """The retrievers that are named, or every one that the index has, in the order of their enum.

    A query vector without retrievers selects the dense retriever.
    """
    wanted = set(request.retrievers or snapshot.retrievers)
    if request.query_vector:
        wanted.add(Retriever.DENSE)
    return tuple(retriever for retriever in Retriever if retriever in wanted)


def _retrieval(plan: QueryPlan, retrievers: tuple[Retriever, ...], vector: NDArray[np.float64] | None) -> Retrieval:
    parameters = plan.parameters
    return Retrieval(
        query=plan.request.query,
        query_vector=vector,
        limits={
            retriever: parameters.vec_limit if retriever is Retriever.DENSE else parameters.lex_limit
            for retriever in retrievers
        },
        min_similarity=parameters.min_sim,
        trigram_threshold=parameters.trgm_limit,
        with_columns=True,
        scores_files=plan.ranks,
    )


def _retrieved(plan: QueryPlan, search: Retrieval, snapshot: Snapshot, call: Call) -> RankedMatches:
    parameters, time = plan.parameters, OwnTime()
    with time.stage("retrieve"):
        candidates = snapshot.retrieve(search, call.checkpoint)
        whole = snapshot.with_deleted()
        deleted = 0 if whole is None else np.count_nonzero(whole.retrieve(search, call.checkpoint).columns.is_deleted)
    with time.stage("fusion"):
        weights = fusion_weights(plan.fusion, plan.query_class, parameters, tuple(candidates.by_retriever))
        ranked = fuse(candidates, plan.fusion, weights, parameters)
    fused_count = len(ranked.order)
    call.checkpoint()
    if plan.ranks:
        with time.stage("ranking"):
            ranked = ranked_in_repository(ranked, plan.wanted_purposes, snapshot)
        call.checkpoint()
    return RankedMatches(weights, fused_count, int(deleted), ranked, time.milliseconds)


def _reranked(
    plan: QueryPlan, outcome: RankedMatches, snapshot: Snapshot, reranker: Reranker, call: Call
) -> RankedMatches:
    time = OwnTime(outcome.milliseconds)
    with time.stage("rerank"):
        ranked = rerank(plan.request.query, outcome.ranked, plan.parameters.top_k, snapshot, reranker, call.checkpoint)
    return replace(outcome, ranked=ranked, milliseconds=time.milliseconds)


def _result(plan: QueryPlan, outcome: RankedMatches, snapshot: Snapshot, call: Call) -> QueryResult:
    del call  # it is asked between stages, and this is the last one
    time, request = OwnTime(outcome.milliseconds), plan.request
    if request.not_found_when_empty and not len(outcome.ranked.order):
        names = {} if request.scopes else replace(request.scope, active_index=snapshot.index).names
        raise NotFoundError(Reason.NO_MATCHES, "nothing that you may see matches; widen the query or its filter", names)
    with time.stage("context"):
        content = QueryContext(snapshot, request).fill(outcome.ranked)
    meta = _meta(plan, outcome, content, snapshot, time.milliseconds)
    missing = left_out(snapshot, request.retrievers or tuple(Retriever))
    return QueryResult(content.matches, content.service_context, meta, snapshot.index, scopes_of(snapshot), missing)


def _ordered(plan: QueryPlan, outcome: RankedMatches, snapshot: Snapshot, call: Call) -> RankedMatches:
    """The matches as the stages after the reranker leave them."""
    parameters, ranked, time = plan.parameters, outcome.ranked, OwnTime(outcome.milliseconds)
    with time.stage("freshness"):
        ranked = freshen(ranked, plan.request.now, parameters.freshness)
    with time.stage("boost"):
        ranked = boost(ranked, plan.rules, plan.asked_definition, snapshot)
    redefined = NO_REDEFINITIONS
    if plan.orders_definitions:
        with time.stage("definitions"):
            redefined = redefinitions_among(snapshot, np.sort(ranked.rows))
        call.checkpoint()
    diversifies = _diversifies(parameters, snapshot)
    with time.stage("spread"):
        has_older = len(redefined.older) > 0
        count = len(ranked.order) if diversifies or has_older else parameters.top_k
        ranked = spread_over_files(ranked, REPEAT_FACTOR if plan.ranks else 1.0, count)
        if has_older:
            ranked = definitions_in_order(ranked, redefined, plan.older_definition_factor)
            ranked = replace(ranked, order=ranked.order if diversifies else ranked.order[: parameters.top_k])
    if diversifies:
        with time.stage("diversify"):
            ranked = diversified(ranked, parameters, snapshot, call.checkpoint)
    return replace(outcome, ranked=ranked, milliseconds=time.milliseconds)


def _diversifies(parameters: EffectiveParameters, snapshot: Snapshot) -> bool:
    """True if matches are to be diversified, and each index has vectors that can be compared with the others'."""
    has_vectors = snapshot.vector_space is not None and all(part.vector_space for part in snapshot.parts)
    return parameters.diversify_strength > 0 and has_vectors


def _meta(
    plan: QueryPlan, outcome: RankedMatches, content: QueryContent, snapshot: Snapshot, took_ms: float
) -> RetrieveMeta:
    request, candidates, space = plan.request, outcome.ranked.candidates, snapshot.vector_space
    lengths = {retriever: retriever_scores.length for retriever, retriever_scores in candidates.by_retriever.items()}
    searched = space if Retriever.DENSE in lengths else None
    return RetrieveMeta(
        routing=Routing(
            profile=plan.rule.name,
            embedder=searched.embedder if searched else "",
            vector_space_id=searched.fingerprint if searched else "",
            process=request.process,
            doc_class=request.doc_class,
            collection_ids=request.filter.collection_ids,
            workflow_id=request.workflow_id,
        ),
        took_ms=took_ms,
        query_class=plan.query_class,
        fusion=plan.fusion,
        weights=outcome.weights,
        parameters=applied_parameters(
            plan.parameters,
            plan.fusion,
            tuple(lengths),
            diversified=_diversifies(plan.parameters, snapshot),
            freshened=outcome.ranked.freshness is not None,
        ),
        ranking=_applied_ranking(plan, outcome.ranked, tuple(lengths)),
        matches_returned=sum(match.rank > 0 for match in content.matches),
        list_lengths=tuple(lengths.items()),
        lexical_candidates=_lexical_count(candidates),
        fused_candidates=outcome.fused_count,
        deleted_matches_blocked=outcome.deleted,
        visibility_effective=request.lifecycle,
        boost_rules=tuple(sorted(rule.name for rule in plan.rules)),
        now=request.now,
        exact=candidates.exact,
        truncated=content.truncated,
        used_tokens=content.used_tokens,
    )


def _applied_ranking(plan: QueryPlan, ranked: Ranked, retrievers: tuple[Retriever, ...]) -> RankingParameters:
    applied = applied_ranking(plan.wanted_purposes, retrievers) if plan.ranks else RankingParameters()
    has_older = ranked.older_definitions is not None
    return replace(applied, older_definition_factor=plan.older_definition_factor if has_older else None)


def _lexical_count(candidates: Candidates) -> int:
    """Distinct candidates that a retriever other than the dense one listed."""
    listed = np.zeros(len(candidates), dtype=np.bool_)
    for retriever, retriever_scores in candidates.by_retriever.items():
        if retriever in LEXICAL_RETRIEVERS:
            listed |= retriever_scores.ranks > 0
    return int(np.count_nonzero(listed))
