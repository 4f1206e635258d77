"""BM25 against bm25s and against brute force, both over the visible documents alone."""

import math
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import bm25s
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from groundwire_index.lexical.lexical import K1, B, LexicalTable
from groundwire_server.backends.embedded.retrievers.bm25 import matched_tokens
from groundwire_server.backends.shared.scoring import inverse_document_frequency
from support.index_tables import bm25_of, lexical_table
from support.ranked import RankedRow, listed

WORDS = ["get", "user", "id", "tax", "invoice"]

Documents = list[list[str]]


def lexical_of(documents: Documents) -> LexicalTable:
    with TemporaryDirectory() as directory:
        return lexical_table(Path(directory), documents)


def rank(
    documents: Documents, visible: Sequence[bool], passing: Sequence[bool], query: Sequence[str], count: int
) -> list[RankedRow]:
    """The hits of a caller who sees the visible documents, with a filter that lets some pass."""
    lexical = lexical_of(documents)
    seen = np.asarray(visible, dtype=np.bool_)
    allowed = seen & np.asarray(passing, dtype=np.bool_)
    return listed(bm25_of(lexical, query, seen).rank(allowed, count))


@st.composite
def corpora(draw: st.DrawFn) -> tuple[Documents, list[bool], list[bool]]:
    """Documents, which of them are visible (at least one), and which pass a filter; with repeats, so with ties."""
    pool = draw(st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=8), min_size=1, max_size=8))
    documents = draw(st.lists(st.sampled_from(pool), min_size=1, max_size=25))
    size = len(documents)
    visible = draw(st.lists(st.booleans(), min_size=size, max_size=size))
    assume(any(visible))
    return documents, visible, draw(st.lists(st.booleans(), min_size=size, max_size=size))


queries = st.lists(st.sampled_from([*WORDS, "absent"]), max_size=6)


def brute_force(documents: Documents, visible: Sequence[bool], query: Sequence[str]) -> dict[int, float]:
    """The formula over the visible documents, token by token of the query; a document without any is left out."""
    seen = [document for document, may in zip(documents, visible, strict=True) if may]
    mean = sum(map(len, seen)) / len(seen)
    scores: dict[int, float] = {}
    for row, document in enumerate(documents):
        if not visible[row] or not set(document) & set(query):
            continue
        scores[row] = 0.0
        for token in query:
            holding = len([other for other in seen if token in other])
            idf = math.log(1 + (len(seen) - holding + 0.5) / (holding + 0.5))
            frequency = document.count(token)
            scores[row] += idf * frequency / (frequency + 1.5 * (0.25 + 0.75 * len(document) / mean))
    return scores


def check_against(scores: dict[int, float], hits: list[RankedRow], passing: Sequence[bool], count: int) -> None:
    """The hits are the best `count` of those that pass, with their scores, best first, equal ones by row."""
    admitted = {row: score for row, score in scores.items() if passing[row]}
    assert len(hits) == min(count, len(admitted))
    for hit in hits:
        assert hit.score == pytest.approx(admitted[hit.row], rel=1e-12)
    assert hits == sorted(hits, key=lambda hit: (-hit.score, hit.row))
    worst = hits[-1].score if hits else math.inf
    left_out = set(admitted) - {hit.row for hit in hits}
    assert all(admitted[row] <= worst * (1 + 1e-12) for row in left_out)


@given(corpus=corpora(), query=queries, count=st.integers(1, 30))
def test_hits_equal_brute_force_over_the_visible_documents(
    corpus: tuple[Documents, list[bool], list[bool]], query: list[str], count: int
) -> None:
    documents, visible, passing = corpus
    hits = rank(documents, visible, passing, query, count)
    check_against(brute_force(documents, visible, query), hits, passing, count)


@given(corpus=corpora(), query=queries.filter(bool))
def test_scores_equal_those_of_bm25s_over_the_visible_documents(
    corpus: tuple[Documents, list[bool], list[bool]], query: list[str]
) -> None:
    documents, visible, _ = corpus
    rows = [row for row, may in enumerate(visible) if may]
    reference = bm25s.BM25(method="lucene", k1=1.5, b=0.75, dtype="float64")
    reference.index([documents[row] for row in rows], show_progress=False)
    # bm25s cannot be asked for a token that no document holds; such a token adds nothing.
    known = [token for token in query if any(token in documents[row] for row in rows)]
    expected = reference.get_scores(known) if known else np.zeros(len(rows))
    scores = {row: float(score) for row, score in zip(rows, expected, strict=True) if score > 0}
    everything = [True] * len(documents)
    check_against(scores, rank(documents, visible, everything, query, len(documents)), everything, len(documents))


@given(corpus=corpora(), query=queries)
def test_hidden_documents_change_no_bit_of_any_score(
    corpus: tuple[Documents, list[bool], list[bool]], query: list[str]
) -> None:
    documents, visible, _ = corpus
    rows = [row for row, may in enumerate(visible) if may]
    trimmed = [documents[row] for row in rows]
    alone = rank(trimmed, [True] * len(rows), [True] * len(rows), query, 30)
    among = rank(documents, visible, [True] * len(documents), query, 30)
    assert [RankedRow(rows[hit.row], hit.score) for hit in alone] == among


@given(corpus=corpora(), query=queries)
def test_a_filter_narrows_the_hits_and_not_the_statistics(
    corpus: tuple[Documents, list[bool], list[bool]], query: list[str]
) -> None:
    documents, visible, passing = corpus
    everything = rank(documents, visible, [True] * len(documents), query, 30)
    assert rank(documents, visible, passing, query, 30) == [hit for hit in everything if passing[hit.row]]


@given(corpus=corpora(), query=queries, data=st.data())
def test_the_order_of_query_tokens_changes_no_bit(
    corpus: tuple[Documents, list[bool], list[bool]], query: list[str], data: st.DataObject
) -> None:
    documents, visible, passing = corpus
    shuffled = data.draw(st.permutations(query))
    assert rank(documents, visible, passing, query, 30) == rank(documents, visible, passing, shuffled, 30)


def test_a_document_without_a_query_token_and_a_hidden_one_are_no_hits_however_many_are_asked() -> None:
    documents = [["get"], ["user"], ["get", "user"], ["tax"]]
    hits = rank(documents, [True, True, False, True], [True] * 4, ["get", "absent"], 1_000)
    assert [hit.row for hit in hits] == [0]
    assert rank(documents, [True] * 4, [True] * 4, ["absent"], 1_000) == []
    assert rank(documents, [True] * 4, [True] * 4, [], 1_000) == []


def test_a_repeated_query_token_counts_each_time() -> None:
    documents = [["get", "tax"], ["user", "tax"]]
    once = rank(documents, [True] * 2, [True] * 2, ["get", "user"], 2)
    assert [hit.row for hit in once] == [0, 1]
    twice = rank(documents, [True] * 2, [True] * 2, ["get", "user", "user"], 2)
    assert [hit.row for hit in twice] == [1, 0]
    assert twice[0].score == 2 * once[1].score


def test_a_term_that_every_document_holds_still_counts() -> None:
    assert inverse_document_frequency(10, 10) == pytest.approx(math.log(1 + 0.5 / 10.5))
    assert inverse_document_frequency(1, 1) > 0
    assert [hit.row for hit in rank([["get"], ["get"]], [True] * 2, [True] * 2, ["get"], 2)] == [0, 1]


def test_empty_documents_count_in_the_statistics_and_are_no_hits() -> None:
    documents = [["get", "user"], [], [], ["tax", "tax", "tax", "tax"]]
    hits = rank(documents, [True] * 4, [True] * 4, ["get"], 10)
    check_against(brute_force(documents, [True] * 4, ["get"]), hits, [True] * 4, 10)
    assert rank([[], []], [True, True], [True, True], ["get"], 10) == []


def test_the_parameters_are_those_of_the_reference() -> None:
    assert (K1, B) == (1.5, 0.75)


@given(documents=st.lists(st.lists(st.sampled_from(WORDS), max_size=5), min_size=1, max_size=6), query=queries)
def test_matched_tokens_are_those_that_both_hold(documents: Documents, query: list[str]) -> None:
    lexical = lexical_of(documents)
    rows = np.arange(len(documents))
    assert matched_tokens(lexical, query, rows) == [tuple(sorted(set(query) & set(document))) for document in documents]
