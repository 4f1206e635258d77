"""A search arrives as it was asked, its result as it was found."""

import math

from hypothesis import given
from hypothesis import strategies as st

from groundwire.v1 import retrieval_pb2
from groundwire_server.domain.search import (
    Leg,
    LegScore,
    Rerank,
    SearchDebug,
    SearchHit,
    SearchPath,
    SearchRequest,
    SearchResult,
    SearchType,
)
from groundwire_server.rpc.conversions.search import decode_search, encode_search
from support.conversions import (
    ACCESS,
    SCOPE,
    counts,
    float32,
    int32,
    name_tuples,
    names,
    over_the_wire,
    scope_message,
    scopes,
    scores,
)


@given(
    st.builds(
        SearchRequest,
        scope=scopes,
        access=st.just(ACCESS),
        search_type=st.none() | st.sampled_from(SearchType),
        query=names,
        top_k=int32,
        query_vector=st.lists(float32, max_size=4).map(tuple),
        rrf_k=int32,
        rerank=st.sampled_from(Rerank),
        explain=st.booleans(),
    )
)
def test_a_search_arrives_as_it_was_asked(request: SearchRequest) -> None:
    message = retrieval_pb2.SearchNodesRequest(
        scope=scope_message(request.scope),
        search_type=retrieval_pb2.SearchType.Value(
            f"SEARCH_TYPE_{request.search_type.name if request.search_type else 'UNSPECIFIED'}"
        ),
        query=request.query,
        query_vector=request.query_vector,
        top_k=request.top_k,
        rrf_k=request.rrf_k,
        rerank=retrieval_pb2.Rerank.Value(f"RERANK_{request.rerank.name}"),
        explain=request.explain,
    )
    assert decode_search(over_the_wire(message), ACCESS) == request


def test_a_vector_that_is_not_finite_reaches_the_engine_as_it_is() -> None:
    message = retrieval_pb2.SearchNodesRequest(scope=SCOPE, query_vector=[math.nan, math.inf])
    first, second = decode_search(over_the_wire(message), ACCESS).query_vector
    assert math.isnan(first)
    assert second == math.inf


@given(
    st.builds(
        SearchResult,
        hits=st.lists(
            st.builds(
                SearchHit,
                id=names,
                score=scores,
                rank=counts,
                legs=st.lists(st.builds(LegScore, st.sampled_from(Leg), counts, scores), max_size=3).map(tuple),
                matched_tokens=name_tuples,
            ),
            max_size=3,
        ).map(tuple),
        index=names,
        exact=st.booleans(),
        debug=st.none()
        | st.builds(
            SearchDebug,
            path=st.none() | st.sampled_from(SearchPath),
            filtered=st.booleans(),
            visible_count=counts,
            semantic_candidates=counts,
            bm25_candidates=counts,
            query_tokens=name_tuples,
            rrf_k=counts,
        ),
    )
)
def test_a_search_result_arrives_as_it_was_found(result: SearchResult) -> None:
    message = over_the_wire(encode_search(result))
    assert message.SerializeToString() == encode_search(result).SerializeToString()
    debug = None
    if message.HasField("debug"):
        path = retrieval_pb2.SearchPath.Name(message.debug.path).removeprefix("SEARCH_PATH_")
        debug = SearchDebug(
            path=None if path == "UNSPECIFIED" else SearchPath[path],
            filtered=message.debug.filtered,
            visible_count=message.debug.visible_count,
            semantic_candidates=message.debug.semantic_candidates,
            bm25_candidates=message.debug.bm25_candidates,
            query_tokens=tuple(message.debug.query_tokens),
            rrf_k=message.debug.rrf_k,
        )
    hits = tuple(
        SearchHit(
            id=hit.id,
            score=hit.score,
            rank=hit.rank,
            legs=tuple(
                LegScore(Leg[retrieval_pb2.SearchLeg.Name(leg.leg).removeprefix("SEARCH_LEG_")], leg.rank, leg.score)
                for leg in hit.legs
            ),
            matched_tokens=tuple(hit.matched_tokens),
            is_test=hit.is_test,
            is_generated=hit.is_generated,
        )
        for hit in message.hits
    )
    assert SearchResult(hits, message.index, message.exact, debug) == result
