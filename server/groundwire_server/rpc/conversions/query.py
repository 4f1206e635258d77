"""A query's request between protobuf and the domain, and the enums that requests and results share."""

from collections.abc import Sequence
from datetime import datetime

from groundwire.v1 import query_pb2, retrieval_pb2
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.query.query import FusionMode, HybridParameters, QueryRequest
from groundwire_server.domain.search.search import Retriever
from groundwire_server.domain.validation import Violations
from groundwire_server.rpc.conversions.filter import decode_filter
from groundwire_server.rpc.conversions.scope import decode_lifecycle, decode_scopes, decoder_of
from groundwire_server.rpc.conversions.shared_fields import given_fields
from groundwire_server.rpc.conversions.timestamps import decode_timestamp

_decode_retriever = decoder_of(Retriever, retrieval_pb2.Retriever, None)
_decode_fusion = decoder_of(FusionMode, query_pb2.FusionMode, None)
_given_fields = given_fields(QueryRequest, query_pb2.QueryRequest)


def decode_query(request: query_pb2.QueryRequest, access: AccessContext, now: datetime) -> QueryRequest:
    """The query a caller with `access` asks; `now` is the server's clock, for a request that brings no time."""
    violations = Violations()
    scope, scopes = decode_scopes(request, violations)
    return QueryRequest(
        scope=scope,
        scopes=scopes,
        access=access,
        **_given_fields(request),
        hybrid=HybridParameters(**{field.name: value for field, value in request.hybrid.ListFields()}),
        now=decode_timestamp(request.now, "now", violations) if request.HasField("now") else now,
        filter=decode_filter(request.filter, violations),
        lifecycle=decode_lifecycle(request.lifecycle, "lifecycle", violations),
        retrievers=decode_retrievers(request.retrievers, violations),
        fusion=_decode_fusion(request.fusion, "fusion", violations),
        broken=violations.noted,
    )


def decode_retrievers(numbers: Sequence[int], violations: Violations) -> tuple[Retriever, ...]:
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
