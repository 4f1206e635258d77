"""A query's result as a response."""

import json
from dataclasses import asdict

from groundwire.v1 import query_pb2, retrieval_pb2
from groundwire_server.domain.query.query import FusionMode, QueryClass
from groundwire_server.domain.query.query_result import (
    Match,
    ParentText,
    QueryResult,
    RetrieveMeta,
    Routing,
    ServiceContext,
    StageScores,
)
from groundwire_server.domain.search.search import Retriever
from groundwire_server.domain.texts.texts import SkipReason
from groundwire_server.rpc.conversions.location import citation, encode_location
from groundwire_server.rpc.conversions.scope import LIFECYCLES, numbers_of
from groundwire_server.rpc.conversions.search import RETRIEVERS
from groundwire_server.rpc.conversions.texts import SKIP_REASONS
from groundwire_server.rpc.conversions.timestamps import encode_timestamp

_FUSION_MODES = numbers_of(FusionMode, query_pb2.FusionMode)
_QUERY_CLASSES = numbers_of(QueryClass, query_pb2.QueryClass)


def encode_query(result: QueryResult) -> query_pb2.QueryResponse:
    """Matches and neighbours, services, and how the answer was made."""
    return query_pb2.QueryResponse(
        matches=[_encode_match(match) for match in result.matches],
        service_context=[_encode_service(service) for service in result.service_context],
        meta=_encode_meta(result.meta),
        index=result.index,
    )


def _encode_match(match: Match) -> query_pb2.QueryMatch:
    node = match.node
    return query_pb2.QueryMatch(
        id=node.id,
        rank=match.rank,
        score=0.0 if match.scores is None else match.scores.final,
        scores=None if match.scores is None else _encode_scores(match.scores),
        text=_text(match.text),
        text_omitted=isinstance(match.text, SkipReason),
        token_count=node.token_count,
        context_prefix=node.context_prefix,
        source_uri=node.source_uri,
        location=encode_location(node.location),
        kind=node.kind,
        corpus_type=node.corpus_type,
        language=node.language,
        symbol=node.symbol,
        signature=node.signature,
        service_name=node.service_name,
        repo_name=node.repo_name,
        section_path=node.section_path,
        author=node.author,
        timestamp=None if node.timestamp is None else encode_timestamp(node.timestamp),
        channel=node.channel,
        meta=_encode_match_meta(match),
        is_test=node.is_test,
        is_generated=node.is_generated,
        omit_reason=_omit_reason(match.text),
        citation=citation(node.id, node.location),
    )


def _encode_scores(scores: StageScores) -> query_pb2.StageScores:
    return query_pb2.StageScores(
        dense=scores.dense,
        bm25_code=scores.bm25_code,
        bm25_prose=scores.bm25_prose,
        trigram=scores.trigram,
        fused=scores.fused,
        file=scores.file,
        kind_factor=scores.kind_factor,
        graph=scores.graph,
        rerank=scores.rerank,
        freshness=scores.freshness,
        boost=scores.boost,
        repeat_factor=scores.repeat_factor,
        final=scores.final,
    )


def _encode_match_meta(match: Match) -> query_pb2.MatchMeta:
    node = match.node
    return query_pb2.MatchMeta(
        document_id=node.document_id,
        document_version_id=node.document_version_id,
        chunk_id=node.local_id,
        collection_id=node.collection_id,
        case_id=node.case_id,
        is_latest=node.is_latest,
        deleted=node.deleted,
        parent_ids=match.parent_ids,
        parents=[_encode_parent(parent) for parent in match.parents],
        neighbor=bool(match.neighbor_of),
        neighbor_of=match.neighbor_of,
        metadata_json=json.dumps(dict(node.metadata), ensure_ascii=False, sort_keys=True, separators=(",", ":")),
    )


def _encode_parent(parent: ParentText) -> query_pb2.ParentContext:
    return query_pb2.ParentContext(
        id=parent.node.id,
        text=_text(parent.text),
        text_omitted=isinstance(parent.text, SkipReason),
        symbol=parent.node.symbol,
        location=encode_location(parent.node.location),
        omit_reason=_omit_reason(parent.text),
        token_count=parent.node.token_count,
        citation=citation(parent.node.id, parent.node.location),
    )


def _text(text: str | SkipReason) -> str:
    return text if isinstance(text, str) else ""


def _omit_reason(text: str | SkipReason) -> retrieval_pb2.SkipReason.ValueType:
    return SKIP_REASONS[text] if isinstance(text, SkipReason) else retrieval_pb2.SKIP_REASON_UNSPECIFIED


def _encode_service(service: ServiceContext) -> query_pb2.ServiceContext:
    return query_pb2.ServiceContext(
        service_name=service.service_name,
        calls=service.calls,
        called_by=service.called_by,
        edges=[
            query_pb2.ServiceEdge(
                from_service=edge.from_service, to_service=edge.to_service, edge_type=edge.edge_type, count=edge.count
            )
            for edge in service.edges
        ],
    )


def _encode_meta(meta: RetrieveMeta) -> query_pb2.RetrieveMeta:
    parameters, lengths, weights = meta.parameters, dict(meta.list_lengths), dict(meta.weights)
    return query_pb2.RetrieveMeta(
        routing=_encode_routing(meta.routing),
        took_ms=meta.took_ms,
        query_class=_QUERY_CLASSES[meta.query_class],
        fusion=_FUSION_MODES[meta.fusion],
        retrievers=[
            query_pb2.RetrieverUse(retriever=RETRIEVERS[retriever], weight=weights[retriever], candidates=length)
            for retriever, length in meta.list_lengths
        ],
        alpha=parameters.alpha,
        min_sim=parameters.min_sim,
        top_k_effective=parameters.top_k,
        matches_returned=meta.matches_returned,
        max_candidates_effective=parameters.max_candidates,
        vec_limit=parameters.vec_limit,
        lex_limit=parameters.lex_limit,
        trgm_limit=parameters.trgm_limit,
        diversify_strength=parameters.diversify_strength,
        rrf_k=parameters.rrf_k,
        vector_candidates=lengths.get(Retriever.DENSE, 0),
        lexical_candidates=meta.lexical_candidates,
        fused_candidates=meta.fused_candidates,
        deleted_matches_blocked=meta.deleted_matches_blocked,
        lifecycle_effective=LIFECYCLES[meta.visibility_effective],
        lexical_index_used=[
            RETRIEVERS[retriever]
            for retriever, length in meta.list_lengths
            if length and retriever is not Retriever.DENSE
        ],
        boosts=meta.boost_rules,
        freshness_half_life_days=parameters.freshness.half_life_days if parameters.freshness else None,
        freshness_weight=parameters.freshness.weight if parameters.freshness else None,
        now=encode_timestamp(meta.now),
        exact=meta.exact,
        truncated=meta.truncated,
        used_tokens=meta.used_tokens,
        ranking=query_pb2.RankingParameters(**asdict(meta.ranking)),
    )


def _encode_routing(routing: Routing) -> query_pb2.Routing:
    return query_pb2.Routing(
        profile=routing.profile,
        embedder=routing.embedder,
        vector_space_id=routing.vector_space_id,
        process=routing.process,
        doc_class=routing.doc_class,
        collection_ids=routing.collection_ids,
        workflow_id=routing.workflow_id,
    )
