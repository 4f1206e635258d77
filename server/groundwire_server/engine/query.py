"""Query: the whole flow in one call."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from groundwire_server.backends.interface import RetrievalSnapshot
from groundwire_server.domain.acting_parameters import acting_parameters, acting_ranking
from groundwire_server.domain.candidates import Candidates, CandidateSearch
from groundwire_server.domain.checkpoint import Checkpoint
from groundwire_server.domain.corpus_boost import BoostRule
from groundwire_server.domain.errors import NotFoundError, Reason
from groundwire_server.domain.limits import Limits
from groundwire_server.domain.observation import stage
from groundwire_server.domain.query import LEXICAL_SOURCES, FusionMode, QueryClass, QueryRequest, Source
from groundwire_server.domain.query_class import classify
from groundwire_server.domain.query_parameters import EffectiveParameters, QueryDefaults, effective_parameters
from groundwire_server.domain.query_result import QueryResult, RetrieveMeta, Routing
from groundwire_server.domain.query_validation import check_query
from groundwire_server.domain.ranking import Ranking, Traits, effective_ranking
from groundwire_server.domain.routing import RoutingRule, routed, rule_for, settled_fusion
from groundwire_server.engine.corpus_boost import CorpusBoosts
from groundwire_server.engine.indexes import Indexes
from groundwire_server.engine.own_time import OwnTime
from groundwire_server.engine.query_context import QueryContext, Surroundings
from groundwire_server.engine.query_ranking import asked_traits, ranked_by_surroundings, spread_over_files
from groundwire_server.engine.query_stages import (
    Ranked,
    boost,
    diversified,
    freshen,
    fuse,
    fusion_weights,
    rerank,
)
from groundwire_server.engine.rerank import Reranker, configured
from groundwire_server.engine.retrieval import Asked, query_vector
from groundwire_server.query_embedding.query_vectors import QueryVectors

_PACKAGED = QueryDefaults()


@dataclass(frozen=True, slots=True)
class QuerySettings:
    """What a server brings to a query besides its indexes.

    Of the rules of `routing` the first that matches counts. `defaults` are what absent parameters take.
    """

    reranker: Reranker | None
    boosts: CorpusBoosts
    routing: tuple[RoutingRule, ...] = ()
    defaults: QueryDefaults = _PACKAGED


@dataclass(frozen=True, slots=True)
class _Plan:
    """How one query is run: everything that is settled before the sources answer. `request` is as `rule` changed it."""

    request: QueryRequest
    rule: RoutingRule
    fusion: FusionMode
    parameters: EffectiveParameters
    ranking: Ranking
    asked: Traits
    query_class: QueryClass
    rules: tuple[BoostRule, ...]
    reranker: Reranker | None


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What the sources and the stages gave."""

    candidates: Candidates
    weights: tuple[tuple[Source, float], ...]
    fused_count: int
    freshened: bool
    ranked: list[Ranked]


def run_query(
    request: QueryRequest,
    indexes: Indexes,
    query_vectors: QueryVectors,
    settings: QuerySettings,
    limits: Limits,
    checkpoint: Checkpoint,
) -> QueryResult:
    """Answers a query.

    Raises InvalidRequestError, PermissionDeniedError, NotFoundError, PreconditionError, RerankerUnavailableError, or
    what the checkpoint raises.
    """
    plan = _plan(request, settings, limits)
    time = OwnTime()
    snapshot = indexes.open(plan.request)
    vector = _vector(plan.request, snapshot, query_vectors, checkpoint)
    outcome = _ranked(plan, vector, snapshot, time, checkpoint)
    if request.not_found_when_empty and not outcome.ranked:
        names = replace(plan.request.scope, active_index=snapshot.index).names
        raise NotFoundError(Reason.NO_MATCHES, "nothing that you may see matches; widen the query or its filter", names)
    with time.stage("context"):
        surroundings = QueryContext(snapshot.narrowed(plan.request.filter), plan.request).surround(outcome.ranked)
    meta = _meta(plan, outcome, surroundings, time.milliseconds)
    return QueryResult(surroundings.matches, surroundings.service_context, meta, snapshot.index)


def _plan(request: QueryRequest, settings: QuerySettings, limits: Limits) -> _Plan:
    rule = rule_for(request, settings.routing)
    fusion = settled_fusion(request, rule)
    check_query(request, fusion, limits)
    reranker = configured(settings.reranker) if request.rerank else None
    query_class, rules = classify(request.query), settings.boosts.called(request.query)
    request = routed(request, rule)
    return _Plan(
        request=request,
        rule=rule,
        fusion=fusion,
        parameters=effective_parameters(request, settings.defaults),
        ranking=effective_ranking(request.ranking, query_class),
        asked=asked_traits(request.query, rules),
        query_class=query_class,
        rules=rules,
        reranker=reranker,
    )


def _vector(
    request: QueryRequest, snapshot: RetrievalSnapshot, query_vectors: QueryVectors, checkpoint: Checkpoint
) -> NDArray[np.float64] | None:
    """The query's vector, None where the dense source is not asked. Who sends a vector names that source by it."""
    if request.sources:
        is_asked = Source.DENSE in request.sources
    else:
        is_asked = snapshot.vector_space is not None or bool(request.query_vector)
    if not is_asked:
        return None
    asked = Asked(request.query, request.query_vector, request.access)
    return query_vector(asked, snapshot, query_vectors, "send no query_vector and ask other sources", checkpoint)


def _ranked(
    plan: _Plan,
    vector: NDArray[np.float64] | None,
    snapshot: RetrievalSnapshot,
    time: OwnTime,
    checkpoint: Checkpoint,
) -> _Outcome:
    request, parameters = plan.request, plan.parameters
    with stage("sources"):
        candidates = snapshot.find_candidates(_candidate_search(plan, vector), checkpoint)
    time.add(candidates.milliseconds)
    with time.stage("fusion"):
        weights = fusion_weights(plan.fusion, plan.query_class, parameters, candidates.sources)
        ranked = fuse(candidates, plan.fusion, weights, parameters)
    fused_count = len(ranked)
    checkpoint()
    with time.stage("ranking"):
        ranked = ranked_by_surroundings(ranked, plan.asked, plan.ranking, snapshot)
    checkpoint()
    if plan.reranker is not None:
        with time.stage("rerank"):
            ranked = rerank(request.query, ranked, parameters.top_k, snapshot, plan.reranker, checkpoint)
    with time.stage("freshness"):
        ranked = freshen(ranked, request.now, parameters.freshness)
        freshened = any(entry.freshness is not None for entry in ranked)
    with time.stage("boost"):
        ranked = boost(ranked, plan.rules)
    diversifies = _diversifies(parameters, candidates)
    with time.stage("spread"):
        count = len(ranked) if diversifies else parameters.top_k
        ranked = spread_over_files(ranked, plan.ranking.repeat_factor, count)
    if diversifies:
        with time.stage("diversify"):
            ranked = diversified(ranked, parameters, snapshot, checkpoint)
    return _Outcome(candidates, weights, fused_count, freshened, ranked)


def _candidate_search(plan: _Plan, vector: NDArray[np.float64] | None) -> CandidateSearch:
    return CandidateSearch(
        query=plan.request.query,
        query_vector=vector,
        sources=frozenset(plan.request.sources),
        dense_limit=plan.parameters.vec_limit,
        lexical_limit=plan.parameters.lex_limit,
        min_similarity=plan.parameters.min_sim,
        trigram_threshold=plan.parameters.trgm_limit,
        scores_files=plan.ranking.file_weight > 0.0,
        filter=plan.request.filter,
    )


def _diversifies(parameters: EffectiveParameters, candidates: Candidates) -> bool:
    return parameters.diversify_strength > 0 and candidates.has_vectors


def _meta(plan: _Plan, outcome: _Outcome, surroundings: Surroundings, took_ms: float) -> RetrieveMeta:
    request, candidates = plan.request, outcome.candidates
    return RetrieveMeta(
        routing=Routing(
            profile=plan.rule.name,
            embedder=candidates.embedder,
            vector_space_id=candidates.vector_space_id,
            process=request.process,
            doc_class=request.doc_class,
            collection_ids=request.filter.collection_ids,
            workflow_id=request.workflow_id,
        ),
        took_ms=took_ms,
        query_class=plan.query_class,
        fusion=plan.fusion,
        weights=outcome.weights,
        parameters=acting_parameters(
            plan.parameters,
            plan.fusion,
            candidates.sources,
            diversified=_diversifies(plan.parameters, candidates),
            freshened=outcome.freshened,
        ),
        ranking=acting_ranking(plan.ranking, plan.asked, candidates.sources),
        matches_returned=sum(match.rank > 0 for match in surroundings.matches),
        list_lengths=candidates.list_lengths,
        lexical_candidates=_lexical_count(candidates),
        fused_candidates=outcome.fused_count,
        deleted_matches_blocked=candidates.deleted_blocked,
        visibility_effective=request.lifecycle,
        boost_rules=tuple(sorted(rule.name for rule in plan.rules)),
        now=request.now,
        exact=candidates.exact,
        truncated=surroundings.truncated,
        used_tokens=surroundings.used_tokens,
    )


def _lexical_count(candidates: Candidates) -> int:
    """Distinct candidates that a source other than the dense one proposed."""
    return sum(
        any((score := item.of(source)) is not None and score.rank is not None for source in LEXICAL_SOURCES)
        for item in candidates.items
    )
