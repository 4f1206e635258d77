"""SearchNodes between protobuf and the domain."""

from collections.abc import Iterable, Iterator, Mapping

from groundwire.v1 import retrieval_pb2, scope_pb2
from groundwire_index.limits import RESPONSE_BYTES
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.search.search import (
    DEFAULT_RRF_K,
    NameMatch,
    Rerank,
    Retriever,
    RetrieverScore,
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

_HIT_OVERHEAD_BYTES = 5
"""The tag and length of a hit within a response."""
_WIRE_SEARCH_TYPES = numbers_of(SearchType, retrieval_pb2.SearchType)
_decode_search_type = decoder_of(SearchType, retrieval_pb2.SearchType, None)
_decode_rerank = decoder_of(Rerank, retrieval_pb2.Rerank, Rerank.NONE)
RETRIEVERS = numbers_of(Retriever, retrieval_pb2.Retriever)
_NAME_MATCHES = numbers_of(NameMatch, retrieval_pb2.NameMatch)
_PATHS = numbers_of(SearchPath, retrieval_pb2.SearchPath)


def decode_search(request: retrieval_pb2.SearchNodesRequest, access: AccessContext) -> SearchRequest:
    """The search a caller with `access` asks for. Raises InvalidRequestError."""
    violations = Violations()
    scope, scopes = decode_scopes(request, violations)
    decoded = SearchRequest(
        scope=scope,
        scopes=scopes,
        access=access,
        search_type=_decode_search_type(request.search_type, "search_type", violations),
        query=request.query,
        top_k=request.top_k,
        filter=decode_filter(request.filter, violations),
        query_vector=tuple(request.query_vector),
        rrf_k=request.rrf_k if request.HasField("rrf_k") else DEFAULT_RRF_K,
        rerank=_decode_rerank(request.rerank, "rerank", violations),
        explain=request.explain,
        lifecycle=decode_lifecycle(request.lifecycle, "lifecycle", violations),
    )
    violations.raise_any()
    return decoded


def encode_search(result: SearchResult) -> retrieval_pb2.SearchNodesResponse:
    """The first hits that a response has room for, and the debug part when the result has one."""
    scopes = encode_scopes(result.scopes)
    response = retrieval_pb2.SearchNodesResponse(
        index=result.index,
        scopes=scopes.values(),
        exact=result.exact,
        debug=None if result.debug is None else _encode_debug(result.debug),
        search_type=_WIRE_SEARCH_TYPES[result.search_type],
        name_match=_NAME_MATCHES[result.name_match] if result.name_match else retrieval_pb2.NAME_MATCH_UNSPECIFIED,
        ambiguous=result.is_ambiguous,
    )
    response.hits.extend(
        _fitting((_encode_hit(hit, scopes) for hit in result.hits), RESPONSE_BYTES - response.ByteSize())
    )
    return response


def _fitting(hits: Iterable[retrieval_pb2.SearchHit], room: int) -> Iterator[retrieval_pb2.SearchHit]:
    """The first hits that fit `room` bytes: ids are bounded, but no source bounds its symbols and paths."""
    for hit in hits:
        room -= hit.ByteSize() + _HIT_OVERHEAD_BYTES
        if room < 0:
            return
        yield hit


def _encode_hit(hit: SearchHit, scopes: Mapping[str, scope_pb2.IndexScope]) -> retrieval_pb2.SearchHit:
    return retrieval_pb2.SearchHit(
        id=hit.id,
        score=hit.score,
        rank=hit.rank,
        retrievers=list(map(_encode_retriever_score, hit.retrievers)),
        matched_tokens=hit.matched_tokens,
        is_test=hit.is_test,
        is_generated=hit.is_generated,
        symbol=hit.symbol,
        location=encode_location(hit.location),
        citation=citation(hit.id, hit.location),
        kind=hit.kind,
        signature=hit.signature,
        scope=scope_of(hit.id, scopes),
    )


def _encode_retriever_score(found: RetrieverScore) -> retrieval_pb2.RetrieverScore:
    return retrieval_pb2.RetrieverScore(retriever=RETRIEVERS[found.retriever], rank=found.rank, score=found.score)


def _encode_debug(debug: SearchDebug) -> retrieval_pb2.SearchDebug:
    return retrieval_pb2.SearchDebug(
        path=_PATHS[debug.path] if debug.path else retrieval_pb2.SEARCH_PATH_UNSPECIFIED,
        filtered=debug.filtered,
        visible_count=debug.visible_count,
        dense_candidates=debug.semantic_candidates,
        bm25_candidates=debug.bm25_candidates,
        query_tokens=debug.query_tokens,
        rrf_k=debug.rrf_k,
    )
