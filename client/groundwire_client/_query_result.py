"""What a query answers: messages of `query.proto` as the client's values.

Enum values that only a newer server knows become `UNKNOWN`.
"""

import json
from collections.abc import Mapping
from datetime import UTC

import grpc

from groundwire.v1 import query_pb2
from groundwire_client._conversions import SKIP_REASONS, location
from groundwire_client._enums import QueryClass, SkipReason
from groundwire_client._errors import InternalError
from groundwire_client._query_parameters import RankingParameters
from groundwire_client._query_request import FUSIONS, SOURCES
from groundwire_client._query_types import (
    JsonValue,
    MatchMeta,
    ParentContext,
    QueryMatch,
    QueryResult,
    RetrieveMeta,
    Routing,
    ServiceContext,
    ServiceEdge,
    SourceUse,
    StageScores,
)
from groundwire_client._scope_conversions import VISIBILITIES

_CLASSES: Mapping[query_pb2.QueryClass.ValueType, QueryClass] = {
    query_pb2.QUERY_CLASS_IDENTIFIER: QueryClass.IDENTIFIER,
    query_pb2.QUERY_CLASS_QUOTED: QueryClass.QUOTED,
    query_pb2.QUERY_CLASS_PATH: QueryClass.PATH,
    query_pb2.QUERY_CLASS_NATURAL_LANGUAGE: QueryClass.NATURAL_LANGUAGE,
    query_pb2.QUERY_CLASS_MIXED: QueryClass.MIXED,
}
_SOURCES_BACK = {number: source for source, number in SOURCES.items()}
_FUSIONS_BACK = {number: fusion for fusion, number in FUSIONS.items()}
_VISIBILITIES_BACK = {number: visibility for visibility, number in VISIBILITIES.items()}


def query_result(response: query_pb2.QueryResponse) -> QueryResult:
    """The matches, the services around them, and how they were found.

    Raises:
        InternalError: The server sent metadata that are no JSON object.
    """
    return QueryResult(
        matches=tuple(_match(match) for match in response.matches),
        service_context=tuple(_service_context(service) for service in response.service_context),
        meta=_retrieve_meta(response.meta),
        index=response.index,
    )


def _match(match: query_pb2.QueryMatch) -> QueryMatch:
    return QueryMatch(
        id=match.id,
        rank=match.rank,
        score=match.score,
        scores=_stage_scores(match.scores) if match.HasField("scores") else None,
        text=match.text,
        text_omitted=match.text_omitted,
        token_count=match.token_count,
        context_prefix=match.context_prefix,
        source_uri=match.source_uri,
        citation=location(match.location),
        kind=match.kind,
        corpus_type=match.corpus_type,
        language=match.language,
        symbol_name=match.symbol,
        signature=match.signature,
        service_name=match.service_name,
        repo_name=match.repo_name,
        section_path=match.section_path,
        author=match.author,
        timestamp=match.timestamp.ToDatetime(tzinfo=UTC) if match.HasField("timestamp") else None,
        channel=match.channel,
        meta=_match_meta(match.meta),
        is_test=match.is_test,
        is_generated=match.is_generated,
        omit_reason=_omit_reason(match),
    )


def _stage_scores(scores: query_pb2.StageScores) -> StageScores:
    return StageScores(
        dense=scores.dense if scores.HasField("dense") else None,
        bm25_code=scores.bm25_code if scores.HasField("bm25_code") else None,
        bm25_nlp=scores.bm25_prose if scores.HasField("bm25_prose") else None,
        trigram=scores.trigram if scores.HasField("trigram") else None,
        fused=scores.fused,
        file=scores.file if scores.HasField("file") else None,
        kind_factor=scores.kind_factor,
        graph=scores.graph if scores.HasField("graph") else None,
        rerank=scores.rerank if scores.HasField("rerank") else None,
        freshness=scores.freshness if scores.HasField("freshness") else None,
        boost=scores.boost,
        repeat_factor=scores.repeat_factor,
        final=scores.final,
    )


def _match_meta(meta: query_pb2.MatchMeta) -> MatchMeta:
    return MatchMeta(
        document_id=meta.document_id,
        document_version_id=meta.document_version_id,
        chunk_id=meta.chunk_id,
        collection_id=meta.collection_id,
        case_id=meta.case_id,
        is_latest=meta.is_latest,
        deleted=meta.deleted,
        parent_ids=tuple(meta.parent_ids),
        parents=tuple(
            ParentContext(
                id=parent.id,
                text=parent.text,
                text_omitted=parent.text_omitted,
                symbol=parent.symbol,
                citation=location(parent.location),
                omit_reason=_omit_reason(parent),
                token_count=parent.token_count,
            )
            for parent in meta.parents
        ),
        neighbor=meta.neighbor,
        neighbor_of=meta.neighbor_of,
        metadata=_json_object(meta.metadata_json),
    )


def _omit_reason(source: query_pb2.QueryMatch | query_pb2.ParentContext) -> SkipReason | None:
    return SKIP_REASONS.get(source.omit_reason, SkipReason.UNKNOWN) if source.text_omitted else None


def _json_object(encoded: str) -> Mapping[str, JsonValue]:
    """What a match's `metadata_json` holds; empty for none."""
    if not encoded:
        return {}
    try:
        decoded = json.loads(encoded)
    except ValueError as error:
        raise _no_object(f"{error}") from error
    if not isinstance(decoded, dict):
        raise _no_object(f"it is of type {type(decoded).__name__}")
    return decoded


def _no_object(problem: str) -> InternalError:
    message = f"the server sent a metadata_json that is no JSON object: {problem}"
    return InternalError(grpc.StatusCode.INTERNAL, "", message, {}, "")


def _service_context(service: query_pb2.ServiceContext) -> ServiceContext:
    return ServiceContext(
        service_name=service.service_name,
        calls=tuple(service.calls),
        called_by=tuple(service.called_by),
        edges=tuple(
            ServiceEdge(edge.from_service, edge.to_service, edge.edge_type, edge.count) for edge in service.edges
        ),
    )


def _retrieve_meta(meta: query_pb2.RetrieveMeta) -> RetrieveMeta:
    return RetrieveMeta(
        routing=_routing(meta.routing),
        took_ms=meta.took_ms,
        query_class=_CLASSES.get(meta.query_class, QueryClass.UNKNOWN),
        fusion=_FUSIONS_BACK.get(meta.fusion),
        sources=tuple(
            SourceUse(_SOURCES_BACK.get(use.retriever), use.weight, use.candidates) for use in meta.retrievers
        ),
        alpha=meta.alpha if meta.HasField("alpha") else None,
        min_sim=meta.min_sim if meta.HasField("min_sim") else None,
        top_k_effective=meta.top_k_effective,
        matches_returned=meta.matches_returned,
        max_candidates_effective=meta.max_candidates_effective if meta.HasField("max_candidates_effective") else None,
        vec_limit=meta.vec_limit if meta.HasField("vec_limit") else None,
        lex_limit=meta.lex_limit if meta.HasField("lex_limit") else None,
        trgm_limit=meta.trgm_limit if meta.HasField("trgm_limit") else None,
        diversify_strength=meta.diversify_strength if meta.HasField("diversify_strength") else None,
        rrf_k=meta.rrf_k if meta.HasField("rrf_k") else None,
        vector_candidates=meta.vector_candidates,
        lexical_candidates=meta.lexical_candidates,
        fused_candidates=meta.fused_candidates,
        deleted_matches_blocked=meta.deleted_matches_blocked,
        visibility_effective=_VISIBILITIES_BACK.get(meta.lifecycle_effective),
        lexical_index_used=tuple(_SOURCES_BACK.get(source) for source in meta.lexical_index_used),
        boosts=tuple(meta.boosts),
        freshness_half_life_days=meta.freshness_half_life_days if meta.HasField("freshness_half_life_days") else None,
        freshness_weight=meta.freshness_weight if meta.HasField("freshness_weight") else None,
        now=meta.now.ToDatetime(tzinfo=UTC),
        exact=meta.exact,
        truncated=meta.truncated,
        used_tokens=meta.used_tokens,
        ranking=_ranking(meta.ranking),
    )


def _ranking(ranking: query_pb2.RankingParameters) -> RankingParameters:
    return RankingParameters(
        file_weight=ranking.file_weight if ranking.HasField("file_weight") else None,
        test_factor=ranking.test_factor if ranking.HasField("test_factor") else None,
        generated_factor=ranking.generated_factor if ranking.HasField("generated_factor") else None,
        prose_factor=ranking.prose_factor if ranking.HasField("prose_factor") else None,
        fragment_factor=ranking.fragment_factor if ranking.HasField("fragment_factor") else None,
        graph_weight=ranking.graph_weight if ranking.HasField("graph_weight") else None,
        repeat_factor=ranking.repeat_factor if ranking.HasField("repeat_factor") else None,
    )


def _routing(routing: query_pb2.Routing) -> Routing:
    return Routing(
        profile=routing.profile,
        embedder=routing.embedder,
        vector_space_id=routing.vector_space_id,
        process=routing.process,
        doc_class=routing.doc_class,
        collection_ids=tuple(routing.collection_ids),
        workflow_id=routing.workflow_id,
    )
