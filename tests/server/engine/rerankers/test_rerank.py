"""The keyword reranker: its blend of similarity and keyword coverage."""

import pytest

from groundwire_server.engine.rerankers.rerank import KeywordReranker, RerankCandidate
from support.calls import never_stop


@pytest.mark.parametrize(
    ("query", "text", "similarity", "score"),
    [
        pytest.param("tax id", "tax id", 1.0, 1.0, id="all tokens and the same direction"),
        pytest.param("tax id", "tax", 0.5, 0.5, id="half of the tokens"),
        pytest.param("tax tax id", "tax tax", 0.0, 0.25, id="repeats count once"),
        pytest.param("user", "getUserById", 0.0, 0.5, id="parts of an identifier count"),
        pytest.param("users", "user", 0.0, 0.5, id="words are compared by their stems"),
        pytest.param("the of", "the of", 0.8, 0.4, id="a query without tokens covers nothing"),
        pytest.param("tax", "", -1.0, -0.5, id="an empty text"),
    ],
)
def test_scores(query: str, text: str, similarity: float, score: float) -> None:
    assert KeywordReranker(widen_factor=1).scores(query, [RerankCandidate(text, similarity)], never_stop) == [
        pytest.approx(score)
    ]


def test_the_symbol_and_the_path_count_as_the_text_does() -> None:
    reranker = KeywordReranker(widen_factor=1)
    named = RerankCandidate("return 1", 0.0, "TaxService.rate", "src/billing/rates.py")
    assert reranker.scores("tax billing zebra lion", [named], never_stop) == [pytest.approx(0.25)]


def test_a_score_does_not_depend_on_the_other_candidates() -> None:
    candidates = [RerankCandidate("tax", 0.3), RerankCandidate("id", 0.9), RerankCandidate("", -0.2)]
    reranker = KeywordReranker(widen_factor=1)
    together = reranker.scores("tax id", candidates, never_stop)
    assert together == [reranker.scores("tax id", [candidate], never_stop)[0] for candidate in candidates]
    assert reranker.scores("tax id", [], never_stop) == []
