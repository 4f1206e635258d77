"""A query's request between protobuf and the domain, and the enums that requests and results share."""

from collections.abc import Sequence
from datetime import datetime

from groundwire.v1 import query_pb2, retrieval_pb2
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.query.query import FusionMode, HybridParameters, QueryRequest
from groundwire_server.domain.search.search import DEFAULT_RRF_K, Retriever
from groundwire_server.domain.validation import Violations
from groundwire_server.rpc.conversions.filter import decode_filter
from groundwire_server.rpc.conversions.scope import decode_lifecycle, decode_scopes, decoder_of
from groundwire_server.rpc.conversions.timestamps import decode_timestamp

_decode_retriever = decoder_of(Retriever, retrieval_pb2.Retriever, None)
_decode_fusion = decoder_of(FusionMode, query_pb2.FusionMode, None)


def decode_query(request: query_pb2.QueryRequest, access: AccessContext, now: datetime) -> QueryRequest:
    """The query a caller with `access` asks; `now` is the server's clock, for a request that brings no time.

    Raises InvalidRequestError.
    """
    violations = Violations()
    scope, scopes = decode_scopes(request, violations)
    decoded = QueryRequest(
        scope=scope,
        scopes=scopes,
        access=access,
        query=request.query,
        hybrid=HybridParameters(**{field.name: value for field, value in request.hybrid.ListFields()}),
        now=decode_timestamp(request.now, "now", violations) if request.HasField("now") else now,
        filter=decode_filter(request.filter, violations),
        top_k=request.top_k if request.HasField("top_k") else None,
        lifecycle=decode_lifecycle(request.lifecycle, "lifecycle", violations),
        process=request.process,
        doc_class=request.doc_class,
        workflow_id=request.workflow_id,
        retrievers=_decode_retrievers(request.retrievers, violations),
        fusion=_decode_fusion(request.fusion, "fusion", violations),
        rrf_k=request.rrf_k if request.HasField("rrf_k") else DEFAULT_RRF_K,
        rerank=request.rerank,
        freshness_half_life_days=(
            request.freshness_half_life_days if request.HasField("freshness_half_life_days") else None
        ),
        freshness_weight=request.freshness_weight if request.HasField("freshness_weight") else None,
        query_vector=tuple(request.query_vector),
        include_parents=request.include_parents if request.HasField("include_parents") else True,
        include_neighbors=request.include_neighbors,
        expand_graph=request.expand_graph,
        not_found_when_empty=request.not_found_when_empty,
        budget_tokens=request.budget_tokens if request.HasField("budget_tokens") else None,
        cap_top_k=request.cap_top_k,
    )
    violations.raise_any()
    return decoded


def _decode_retrievers(numbers: Sequence[int], violations: Violations) -> tuple[Retriever, ...]:
    """The retrievers in the order given. Those beyond one of each kind are not read: the request is refused anyway."""
    violations.bound_count("retrievers", numbers, len(Retriever))
    retrievers: list[Retriever] = []
    for position, number in enumerate(numbers[: len(Retriever)]):
        field = f"retrievers[{position}]"
        retriever = _decode_retriever(number, field, violations)
        if retriever is not None:
            retrievers.append(retriever)
        elif number == retrieval_pb2.RETRIEVER_UNSPECIFIED:
            violations.require(field, "UNSPECIFIED is no retriever; name one, or leave the list empty to use all")
    return tuple(retrievers)
