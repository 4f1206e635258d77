"""Query: the whole flow in one call."""

from dataclasses import dataclass, replace

from groundwire_server.backends.interface import RetrievalSnapshot
from groundwire_server.domain.candidates import Candidates, CandidateSearch
from groundwire_server.domain.checkpoint import Checkpoint
from groundwire_server.domain.corpus_boost import BoostRule
from groundwire_server.domain.errors import NotFoundError, Reason
from groundwire_server.domain.limits import Limits
from groundwire_server.domain.observation import stage
from groundwire_server.domain.query import LEXICAL_SOURCES, FusionMode, QueryClass, QueryRequest, Source
from groundwire_server.domain.query_class import classify
from groundwire_server.domain.query_parameters import EffectiveParameters, effective_parameters
from groundwire_server.domain.query_result import QueryResult, RetrieveMeta, Routing
from groundwire_server.domain.query_validation import check_query
from groundwire_server.domain.ranking import Ranking, Traits, effective_ranking
from groundwire_server.domain.search import Filter, MetadataCondition
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


@dataclass(frozen=True, slots=True)
class QuerySettings:
    """What a server brings to a query besides its indexes."""

    reranker: Reranker | None
    boosts: CorpusBoosts


@dataclass(frozen=True, slots=True)
class _Plan:
    """How one query is run: everything that is settled before the sources answer."""

    request: QueryRequest
    parameters: EffectiveParameters
    ranking: Ranking
    asked: Traits
    query_class: QueryClass
    filter: Filter
    rules: tuple[BoostRule, ...]
    reranker: Reranker | None


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What the sources and the stages gave."""

    candidates: Candidates
    weights: tuple[tuple[Source, float], ...]
    fused_count: int
    ranked: list[Ranked]


def run_query(
    request: QueryRequest, indexes: Indexes, settings: QuerySettings, limits: Limits, checkpoint: Checkpoint
) -> QueryResult:
    """Answers a query.

    Raises InvalidRequestError, PermissionDeniedError, NotFoundError, PreconditionError, RerankerUnavailableError, or
    what the checkpoint raises.
    """
    plan = _plan(request, settings, limits)
    time = OwnTime()
    snapshot = indexes.open(request)
    outcome = _ranked(plan, snapshot, time, checkpoint)
    if request.not_found_when_empty and not outcome.ranked:
        names = replace(request.scope, active_index=snapshot.index).names
        raise NotFoundError(Reason.NO_MATCHES, "nothing that you may see matches; widen the query or its filter", names)
    with time.stage("context"):
        surroundings = QueryContext(snapshot.narrowed(plan.filter), request).surround(outcome.ranked)
    meta = _meta(plan, outcome, surroundings, time.milliseconds)
    return QueryResult(surroundings.matches, surroundings.service_context, meta, snapshot.index)


def _plan(request: QueryRequest, settings: QuerySettings, limits: Limits) -> _Plan:
    hybrid = check_query(request, limits)
    reranker = configured(settings.reranker) if request.rerank else None
    query_class, rules = classify(request.query), settings.boosts.called(request.query)
    return _Plan(
        request=request,
        parameters=effective_parameters(hybrid, request.top_k, request.rrf_k, request.freshness),
        ranking=effective_ranking(request.ranking, query_class),
        asked=asked_traits(request.query, rules),
        query_class=query_class,
        filter=_narrowed(request),
        rules=rules,
        reranker=reranker,
    )


def _narrowed(request: QueryRequest) -> Filter:
    """The filter with what the caller routes by: process, doc_class, workflow_id."""
    routed = (("process", request.process), ("doc_class", request.doc_class), ("workflow_id", request.workflow_id))
    conditions = tuple(MetadataCondition(key, (value,)) for key, value in routed if value)
    return replace(request.filter, metadata=(*request.filter.metadata, *conditions))


def _ranked(plan: _Plan, snapshot: RetrievalSnapshot, time: OwnTime, checkpoint: Checkpoint) -> _Outcome:
    request, parameters = plan.request, plan.parameters
    with stage("sources"):
        candidates = snapshot.find_candidates(_candidate_search(plan), checkpoint)
    time.add(candidates.milliseconds)
    with time.stage("fusion"):
        weights = fusion_weights(request.fusion, plan.query_class, parameters, candidates.sources)
        ranked = fuse(candidates, request.fusion, weights, parameters)
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
    with time.stage("boost"):
        ranked = boost(ranked, plan.rules)
    diversifies = _diversifies(parameters, candidates)
    with time.stage("spread"):
        count = len(ranked) if diversifies else parameters.top_k
        ranked = spread_over_files(ranked, plan.ranking.repeat_factor, count)
    if diversifies:
        with time.stage("diversify"):
            ranked = diversified(ranked, parameters, snapshot, checkpoint)
    return _Outcome(candidates, weights, fused_count, ranked)


def _candidate_search(plan: _Plan) -> CandidateSearch:
    return CandidateSearch(
        query=plan.request.query,
        query_vector=plan.request.query_vector,
        sources=frozenset(plan.request.sources),
        dense_limit=plan.parameters.vec_limit,
        lexical_limit=plan.parameters.lex_limit,
        min_similarity=plan.parameters.min_sim,
        trigram_threshold=plan.parameters.trgm_limit,
        scores_files=plan.ranking.file_weight > 0.0,
        filter=plan.filter,
    )


def _diversifies(parameters: EffectiveParameters, candidates: Candidates) -> bool:
    return parameters.diversify_strength > 0 and candidates.has_vectors


def _meta(plan: _Plan, outcome: _Outcome, surroundings: Surroundings, took_ms: float) -> RetrieveMeta:
    request, candidates = plan.request, outcome.candidates
    parameters = plan.parameters
    if not _diversifies(parameters, candidates):
        parameters = replace(parameters, diversify_strength=0.0)
    if request.fusion is not FusionMode.RRF:
        parameters = replace(parameters, rrf_k=0)
    return RetrieveMeta(
        routing=Routing(
            profile=candidates.embedder,
            vector_space_id=candidates.vector_space_id,
            process=request.process,
            doc_class=request.doc_class,
            collection_ids=request.filter.collection_ids,
            workflow_id=request.workflow_id,
        ),
        took_ms=took_ms,
        query_class=plan.query_class,
        fusion=request.fusion,
        weights=outcome.weights,
        parameters=parameters,
        ranking=plan.ranking,
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
