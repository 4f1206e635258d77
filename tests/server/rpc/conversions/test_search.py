"""A search arrives as it was asked, its result as it was found."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.v1 import retrieval_pb2
from groundwire_index.limits import RESPONSE_BYTES
from groundwire_index.nodes.node import Location, Node
from groundwire_server.domain.query.query_result import Match, ParentText, QueryResult
from groundwire_server.domain.search.search import (
    NodeLabel,
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
from groundwire_server.domain.texts.texts import FetchedText, FetchResult, RequestedText, StoredText
from groundwire_server.rpc.conversions.query_result import encode_query
from groundwire_server.rpc.conversions.search import decode_search, encode_search
from groundwire_server.rpc.conversions.texts import encode_fetch
from support.conversions import (
    ACCESS,
    SCOPE,
    counts,
    decoded_location,
    float32,
    int32,
    locations,
    name_tuples,
    names,
    over_the_wire,
    scope_message,
    scopes,
    scores,
)
from support.query_meta import META


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


_RETRIEVERS = {retrieval_pb2.RETRIEVER_DENSE: Retriever.DENSE, retrieval_pb2.RETRIEVER_BM25_CODE: Retriever.BM25_CODE}

retriever_scores = st.builds(RetrieverScore, st.sampled_from(list(_RETRIEVERS.values())), counts, scores)


def test_a_vector_that_is_not_finite_reaches_the_engine_as_it_is() -> None:
    message = retrieval_pb2.SearchNodesRequest(scope=SCOPE, query_vector=[math.nan, math.inf])
    first, second = decode_search(over_the_wire(message), ACCESS).query_vector
    assert math.isnan(first)
    assert second == math.inf


def test_a_rerank_is_told_by_the_score_and_the_rank_of_the_hit_alone() -> None:
    dense = RetrieverScore(Retriever.DENSE, 3, 0.25)
    hit = SearchHit(NodeLabel("A", "A", Location("a.cs", 1, 2, "00")), 0.75, 1, retrievers=(dense,))
    (encoded,) = encode_search(SearchResult((hit,), "v1", SearchType.BM25)).hits
    assert (encoded.score, encoded.rank) == (0.75, 1)
    assert [(place.retriever, place.rank, place.score) for place in encoded.retrievers] == [
        (retrieval_pb2.RETRIEVER_DENSE, 3, 0.25)
    ]


@pytest.mark.parametrize(
    ("path", "first", "last", "citation"),
    [
        ("src/a.cs", 3, 9, "src/a.cs:3-9"),
        ("src/a.cs", 3, 3, "src/a.cs:3"),
        ("src/a.cs", 3, 0, "src/a.cs:3"),
        ("src/a.cs", 0, 0, "src/a.cs"),
        ("src/a.cs", 0, 9, "src/a.cs"),
        ("", 3, 9, "shop::main::cs::A:3-9"),
        ("", 0, 0, "shop::main::cs::A"),
        ("a b:7/é%20\n", 1, 2, "a b:7/é%20\n:1-2"),
    ],
)
def test_hits_matches_parents_and_texts_have_one_citation(path: str, first: int, last: int, citation: str) -> None:
    """The path is not escaped, and what is unknown is left out."""
    place = Location(path, first, last, "0" * 64)
    node = Node("shop::main::cs::A", "cs", "A", "", 1, place)
    (hit,) = encode_search(
        SearchResult((SearchHit(NodeLabel(node.id, "", place), 1.0, 1),), "v1", SearchType.BM25)
    ).hits
    fetched = FetchedText(RequestedText(node.id, 0, "", is_seed=True), StoredText("", 1, place, ""))
    (text,) = encode_fetch(FetchResult((fetched,), (), 0, 0, "v1")).texts
    match_ = Match(node, "", 1, None, (node.id,), (ParentText(node, ""),))
    (match,) = encode_query(QueryResult((match_,), (), META, "v1")).matches
    assert {hit.citation, text.citation, match.citation, match.meta.parents[0].citation} == {citation}


def test_hits_that_a_response_has_no_room_for_are_left_out_from_the_end() -> None:
    hits = tuple(
        SearchHit(
            NodeLabel(f"shop::main::cs::{rank}", "s" * 50_000, Location("p" * 50_000, 1, 2, "0" * 64)), 1 / rank, rank
        )
        for rank in range(1, 61)
    )
    response = encode_search(
        SearchResult(hits, "v1", SearchType.BM25, debug=SearchDebug(None, False, 60, 0, 60, ("t" * 8_000,), 0))
    )
    assert RESPONSE_BYTES - 2 * 100_000 < response.ByteSize() <= RESPONSE_BYTES
    assert [hit.rank for hit in response.hits] == list(range(1, len(response.hits) + 1))


@given(
    st.builds(
        SearchResult,
        hits=st.lists(
            st.builds(
                SearchHit,
                label=st.builds(
                    NodeLabel,
                    id=names,
                    symbol=names,
                    location=locations,
                    is_test=st.booleans(),
                    is_generated=st.booleans(),
                ),
                score=scores,
                rank=counts,
                retrievers=st.lists(retriever_scores, max_size=3).map(tuple),
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
        search_type=st.sampled_from(SearchType),
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
            semantic_candidates=message.debug.dense_candidates,
            bm25_candidates=message.debug.bm25_candidates,
            query_tokens=tuple(message.debug.query_tokens),
            rrf_k=message.debug.rrf_k,
        )
    hits = tuple(
        SearchHit(
            label=NodeLabel(hit.id, hit.symbol, decoded_location(hit.location), hit.is_test, hit.is_generated),
            score=hit.score,
            rank=hit.rank,
            retrievers=tuple(
                RetrieverScore(_RETRIEVERS[score.retriever], score.rank, score.score) for score in hit.retrievers
            ),
            matched_tokens=tuple(hit.matched_tokens),
        )
        for hit in message.hits
    )
    used = SearchType[retrieval_pb2.SearchType.Name(message.search_type).removeprefix("SEARCH_TYPE_")]
    assert SearchResult(hits, message.index, used, message.exact, debug) == result
