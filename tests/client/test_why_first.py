"""Why a match is first, in words."""

import pytest

from groundwire.v1 import query_pb2, retrieval_pb2
from groundwire_client.cli import why_first, why_first_hit


def match(rank: int, **scores: float) -> query_pb2.QueryMatch:
    given = {"kind_factor": 1.0, "repeat_factor": 1.0, "length_factor": 1.0, "boost": 1.0, **scores}
    return query_pb2.QueryMatch(id=f"n{rank}", rank=rank, scores=query_pb2.StageScores(**given))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("matches", "why"),
    [
        (
            [match(1, dense=0.5, bm25_code=3, bm25_prose=1), match(2, dense=0.25, bm25_code=2, bm25_prose=4)],
            "1 is first: best by meaning and by words of code; second by words of prose.",
        ),
        (
            [match(1, dense=0.5, bm25_code=0), match(2, dense=0.75, bm25_code=2), match(3, dense=0.6)],
            "1 is first: third by meaning.",
        ),
        (
            [match(1, bm25_code=1, file=1, graph=0.5, rerank=0.9), match(2, bm25_code=1, file=0.5, rerank=0.8)],
            "1 is first: best by words of code; the reranker prefers it; its file matches best; "
            "its neighbours in the graph match best.",
        ),
        (
            [match(1, bm25_code=1, fused=0.4), match(2, bm25_code=2, fused=0.5, kind_factor=0.5, repeat_factor=0.7)],
            "1 is first: second by words of code. 2 fits the query better by itself, but ranks lower: by its kind of "
            "text, such as tests or prose and as better matches come from its file.",
        ),
        (
            [match(1, trigram=0.5, boost=1.3, older_definitions=2), match(2, trigram=0.25)],
            "1 is first: best by parts of names; the words of the query ask for its corpus or its definition; "
            "2 older definitions of it match as well.",
        ),
        ([match(1, dense=0.5)], "1 is the only match."),
        ([query_pb2.QueryMatch(id="a", rank=1)], ""),
        ([], ""),
    ],
)
def test_a_query_says_what_the_first_match_has_before_the_others(matches: list[query_pb2.QueryMatch], why: str) -> None:
    assert why_first(matches) == why


def test_neighbours_are_no_matches() -> None:
    beside = match(0, dense=0.9)
    beside.meta.neighbor = True
    assert why_first([match(1, dense=0.5), beside]) == "1 is the only match."


def test_a_search_says_its_place_in_the_list_of_each_retriever() -> None:
    hit = retrieval_pb2.SearchHit(id="a", rank=1)
    assert why_first_hit([hit]) == ""
    hit.retrievers.add(retriever=retrieval_pb2.RETRIEVER_DENSE, rank=4, score=0.5)
    hit.retrievers.add(retriever=retrieval_pb2.RETRIEVER_BM25_CODE, rank=1, score=5)
    assert why_first_hit([hit]) == "1 is first: best by words of code; number 4 by meaning."
    assert why_first_hit([]) == ""
