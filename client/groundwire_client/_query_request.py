"""A question as a message of `query.proto`.

As in `_conversions`, what protobuf cannot carry raises `ValueError`, and other rules are the server's to check.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime

from google.protobuf.timestamp_pb2 import Timestamp

from groundwire.v1 import query_pb2, retrieval_pb2
from groundwire_client._enums import FusionMode, Source, Visibility
from groundwire_client._filters import Filter
from groundwire_client._query_parameters import DEFAULT_HYBRID, DEFAULT_RANKING, HybridParameters, RankingParameters
from groundwire_client._scope_conversions import VISIBILITIES, access_message, filter_message, scope_message, strings
from groundwire_client._types import Access, Scope

SOURCES: Mapping[Source, retrieval_pb2.Retriever.ValueType] = {
    Source.DENSE: retrieval_pb2.RETRIEVER_DENSE,
    Source.BM25_CODE: retrieval_pb2.RETRIEVER_BM25_CODE,
    Source.BM25_NLP: retrieval_pb2.RETRIEVER_BM25_PROSE,
    Source.TRIGRAM: retrieval_pb2.RETRIEVER_TRIGRAM,
}
FUSIONS: Mapping[FusionMode, query_pb2.FusionMode.ValueType] = {
    FusionMode.ADAPTIVE: query_pb2.FUSION_MODE_ADAPTIVE,
    FusionMode.RRF: query_pb2.FUSION_MODE_RRF,
    FusionMode.WEIGHTED: query_pb2.FUSION_MODE_WEIGHTED,
}


def query_request(
    scope: Scope,
    access: Access | None,
    query: str,
    *,
    hybrid: HybridParameters,
    top_k: int | None,
    filter: Filter | None,
    visibility: Visibility,
    process: str,
    doc_class: str,
    workflow_id: str,
    sources: Sequence[Source],
    fusion: FusionMode | None,
    rrf_k: int | None,
    rerank: bool,
    ranking: RankingParameters,
    freshness_half_life_days: float | None,
    freshness_weight: float | None,
    now: datetime | None,
    include_parents: bool,
    include_neighbors: bool,
    expand_graph: bool,
    not_found_when_empty: bool,
    query_vector: Sequence[float],
    budget_tokens: int | None,
) -> query_pb2.QueryRequest:
    """A question; None, empty values and parameters without any are left off."""
    return query_pb2.QueryRequest(
        scope=scope_message(scope),
        access=access_message(access),
        query=query,
        filter=filter_message(filter),
        hybrid=None if hybrid == DEFAULT_HYBRID else query_pb2.HybridParameters(**asdict(hybrid)),
        top_k=top_k,
        lifecycle=VISIBILITIES[visibility],
        process=process,
        doc_class=doc_class,
        workflow_id=workflow_id,
        retrievers=[SOURCES[Source(source)] for source in strings("sources", sources)],
        fusion=query_pb2.FUSION_MODE_UNSPECIFIED if fusion is None else FUSIONS[fusion],
        rrf_k=rrf_k,
        rerank=rerank,
        freshness_half_life_days=freshness_half_life_days,
        freshness_weight=freshness_weight,
        now=None if now is None else _timestamp("now", now),
        include_parents=include_parents,
        include_neighbors=include_neighbors,
        expand_graph=expand_graph,
        not_found_when_empty=not_found_when_empty,
        query_vector=query_vector,
        budget_tokens=budget_tokens,
        ranking=None if ranking == DEFAULT_RANKING else query_pb2.RankingParameters(**asdict(ranking)),
    )


def _timestamp(field: str, moment: datetime) -> Timestamp:
    if moment.tzinfo is None:
        raise ValueError(f"{field}: {moment.isoformat()} has no time zone: give one, such as datetime.UTC")
    timestamp = Timestamp()
    timestamp.FromDatetime(moment)
    return timestamp
