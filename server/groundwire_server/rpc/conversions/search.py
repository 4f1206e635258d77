"""SearchNodes between protobuf and the domain."""

from collections.abc import Iterable, Iterator, Mapping

from groundwire.v1 import retrieval_pb2, scope_pb2
from groundwire_index.limits import RESPONSE_BYTES
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.search.search import (
    LeftOut,
    NodeLabel,
    Rerank,
    Retriever,
    SearchDebug,
    SearchHit,
    SearchPath,
    SearchRequest,
    SearchResult,
    SearchType,
)
from groundwire_server.domain.validation import Violations
from groundwire_server.rpc.conversions.filter import decode_filter
from groundwire_server.rpc.conversions.location import citation, encode_location
from groundwire_server.rpc.conversions.scope import (
    decode_lifecycle,
    decode_scopes,
    decoder_of,
    encode_scopes,
    numbers_of,
    scope_of,
)
from groundwire_server.rpc.conversions.shared_fields import given_fields, shared_fields

_HIT_OVERHEAD_BYTES = 5
"""The tag and length of a hit within a response."""
_WIRE_SEARCH_TYPES = numbers_of(SearchType, retrieval_pb2.SearchType)
_decode_search_type = decoder_of(SearchType, retrieval_pb2.SearchType, None)
_decode_rerank = decoder_of(Rerank, retrieval_pb2.Rerank, Rerank.NONE)
RETRIEVERS = numbers_of(Retriever, retrieval_pb2.Retriever)
_PATHS = numbers_of(SearchPath, retrieval_pb2.SearchPath)
_given_fields = given_fields(SearchRequest, retrieval_pb2.SearchNodesRequest)
_hit_fields = shared_fields(SearchHit, retrieval_pb2.SearchHit)
_label_fields = shared_fields(NodeLabel, retrieval_pb2.SearchHit)
_debug_fields = shared_fields(SearchDebug, retrieval_pb2.SearchDebug)


def decode_search(request: retrieval_pb2.SearchNodesRequest, access: AccessContext) -> SearchRequest:
    """The search a caller with `access` asks for."""
    violations = Violations()
    scope, scopes = decode_scopes(request, violations)
    return SearchRequest(
        scope=scope,
        scopes=scopes,
        access=access,
        **_given_fields(request),
        search_type=_decode_search_type(request.search_type, "search_type", violations),
        filter=decode_filter(request.filter, violations),
        rerank=_decode_rerank(request.rerank, "rerank", violations),
        lifecycle=decode_lifecycle(request.lifecycle, "lifecycle", violations),
        broken=violations.noted,
    )


def encode_search(result: SearchResult) -> retrieval_pb2.SearchNodesResponse:
    """The first hits that a response has room for, and the debug part when the result has one."""
    scopes = encode_scopes(result.scopes)
    response = retrieval_pb2.SearchNodesResponse(
        index=result.index,
        scopes=scopes.values(),
        exact=result.exact,
        debug=None if result.debug is None else _encode_debug(result.debug),
        search_type=_WIRE_SEARCH_TYPES[result.search_type],
        left_out=encode_left_out(result.left_out),
    )
    response.hits.extend(
        _fitting((_encode_hit(hit, scopes) for hit in result.hits), RESPONSE_BYTES - response.ByteSize())
    )
    return response


def encode_left_out(left_out: Iterable[LeftOut]) -> list[retrieval_pb2.LeftOut]:
    """What the versions had no data for."""
    return [
        retrieval_pb2.LeftOut(
            scope=scope_pb2.IndexScope(**missing.scope.names), retriever=RETRIEVERS[missing.retriever]
        )
        for missing in left_out
    ]


def _fitting(hits: Iterable[retrieval_pb2.SearchHit], room: int) -> Iterator[retrieval_pb2.SearchHit]:
    """The first hits that fit `room` bytes: ids are bounded, but no source bounds its symbols and paths."""
    for hit in hits:
        room -= hit.ByteSize() + _HIT_OVERHEAD_BYTES
        if room < 0:
            return
        yield hit


def _encode_hit(hit: SearchHit, scopes: Mapping[str, scope_pb2.IndexScope]) -> retrieval_pb2.SearchHit:
    label = hit.label
    return retrieval_pb2.SearchHit(
        **_label_fields(label),
        **_hit_fields(hit),
        retrievers=[
            retrieval_pb2.RetrieverScore(
                retriever=RETRIEVERS[retriever_score.retriever], rank=retriever_score.rank, score=retriever_score.score
            )
            for retriever_score in hit.retrievers
        ],
        location=encode_location(label.location),
        citation=citation(label.id, label.location),
        scope=scope_of(label.id, scopes),
    )


def _encode_debug(debug: SearchDebug) -> retrieval_pb2.SearchDebug:
    return retrieval_pb2.SearchDebug(
        **_debug_fields(debug),
        path=_PATHS[debug.path] if debug.path else retrieval_pb2.SEARCH_PATH_UNSPECIFIED,
        dense_candidates=debug.semantic_candidates,
    )
