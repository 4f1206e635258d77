"""What BM25 scores leave out changes nothing: pruned searches give the bytes of scoring every document."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from hypothesis import event, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from groundwire_index.lexical.lexical import K1, SATURATED, B, LexicalTable
from groundwire_server.backends.embedded.retrievers.bm25_scan import ScanLimits
from groundwire_server.backends.shared.scoring import inverse_document_frequency
from support.index_tables import bm25_of, lexical_table
from support.ranked import RankedRow, listed

WORDS = "abcdefgh"

Documents = list[list[str]]
Mask = NDArray[np.bool_]


@contextmanager
def table_of(documents: Documents, rows_a_holder: float) -> Iterator[LexicalTable]:
    """The table, in which terms of few rows are frequent already."""
    with TemporaryDirectory() as directory:
        yield lexical_table(Path(directory), documents, rows_a_holder, least_holders=1)


def every_score(documents: Documents, query: Sequence[str], mask: Mask, allowed: Mask) -> NDArray[np.float64]:
    """The score of each allowed document, summed in the terms' order, document by document."""
    seen = [document for document, may in zip(documents, mask, strict=True) if may]
    mean = sum(map(len, seen)) / max(1, len(seen)) or 1.0
    scores = np.zeros(len(documents), dtype=np.float64)
    for term, repeats in sorted(Counter(query).items()):
        weight = repeats * inverse_document_frequency(len(seen), sum(term in document for document in seen))
        for row in np.flatnonzero(allowed):
            frequency = float(documents[row].count(term))
            if frequency:
                norm = K1 * (1.0 - B + B * (len(documents[row]) / mean))
                scores[row] += weight * frequency / (frequency + norm)
    return scores


def best(scores: NDArray[np.float64], count: int) -> list[RankedRow]:
    """The rows of highest score above 0, equal ones by row."""
    hits = sorted(np.flatnonzero(scores).tolist(), key=lambda row: (-scores[row], row))
    return [RankedRow(row, float(scores[row])) for row in hits[:count]]


# Few distinct documents, so that many scores are equal; long runs of one word, so that frequencies saturate.
texts = st.lists(st.sampled_from(WORDS), max_size=10) | st.builds(
    lambda word, times: [word] * times,
    st.sampled_from(WORDS),
    st.sampled_from([1, 2, 5, 40, SATURATED - 1, SATURATED, SATURATED + 1, 300]),
)


@st.composite
def corpora(draw: st.DrawFn) -> tuple[Documents, Mask, Mask]:
    """Documents, which of them are visible, and which of these may be in the result."""
    documents = draw(st.lists(st.sampled_from(draw(st.lists(texts, min_size=1, max_size=12))), min_size=1, max_size=60))
    masks = st.lists(st.booleans(), min_size=len(documents), max_size=len(documents)).map(np.asarray)
    whole = st.just(np.ones(len(documents), dtype=np.bool_))
    mask = draw(masks | whole)
    return documents, mask, mask & draw(masks | whole)


@given(
    corpus=corpora(),
    query=st.lists(st.sampled_from([*WORDS, "absent"]), max_size=10),
    count=st.integers(1, 70),
    rows_a_holder=st.sampled_from([1.0, 2.0, 4.0, 1_000.0]),
    piece=st.sampled_from([1, 3, 16, 1_000]),
    gather_share=st.sampled_from([0, 1, 2, 6]),
)
def test_pruning_changes_no_bit(
    corpus: tuple[Documents, Mask, Mask],
    query: list[str],
    count: int,
    rows_a_holder: float,
    piece: int,
    gather_share: int,
) -> None:
    documents, mask, allowed = corpus
    scores = every_score(documents, query, mask, allowed)
    with table_of(documents, rows_a_holder) as table:
        bm25 = bm25_of(table, query, mask)
        assert listed(bm25.rank(allowed, count, ScanLimits(piece, gather_share))) == best(scores, count)
        rows = np.flatnonzero(allowed)
        assert bm25.scores(rows).tolist() == scores[rows].tolist()
    event(f"{min(len(np.flatnonzero(scores)), count)} hits")


def test_a_large_table_is_searched_in_pieces_and_prunes() -> None:
    """As many documents as several pieces have, with terms of every frequency: rare, in a column, saturated."""
    rng = np.random.default_rng(11)
    weights = 1.0 / (np.arange(400) + 2.0)
    words = rng.choice(400, size=(70_000, 12), p=weights / weights.sum())
    documents = [[f"w{word}" for word in row[: 3 + number % 10]] for number, row in enumerate(words.tolist())]
    documents[40_000] = ["w0"] * 300 + ["w9"]
    with TemporaryDirectory() as directory:
        table = lexical_table(Path(directory), documents)
    assert table.postings("w0").column is not None
    assert table.postings("w300").column is None
    assert table.saturated.tolist() == [40_000]
    everything = np.ones(len(documents), dtype=np.bool_)
    for query in (["w0"], ["w0", "w1", "w2"], ["w300", "w0"], ["w350", "w60", "w1", "w0", "w0"]):
        for share in (1.0, 0.5, 0.01):
            allowed = rng.random(len(documents)) < share
            bm25 = bm25_of(table, query, everything)
            scores = np.zeros(len(documents), dtype=np.float64)
            scores[allowed] = bm25.scores(np.flatnonzero(allowed))
            for count in (1, 10, 1_000):
                assert listed(bm25.rank(allowed, count)) == best(scores, count)


def test_ties_beyond_the_result_are_broken_by_row() -> None:
    documents = [["a", "b"]] * 50
    with table_of(documents, 1.0) as table:
        everything = np.ones(50, dtype=np.bool_)
        hits = listed(bm25_of(table, ["a", "b"], everything).rank(everything, 5))
    assert [hit.row for hit in hits] == [0, 1, 2, 3, 4]
    assert len({hit.score for hit in hits}) == 1
