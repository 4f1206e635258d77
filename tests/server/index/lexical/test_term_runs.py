"""Runs of postings, merged, against plain Python: where segments end, on disk or in memory, changes no byte."""

from array import array
from collections.abc import Callable
from contextlib import AbstractContextManager
from itertools import pairwise
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from groundwire_index.files.segment import HeldSegment, Segment
from groundwire_index.lexical.postings import Postings
from groundwire_index.lexical.term_runs import TermRun, merged_terms, write_merged_postings

Scratch = Callable[[], AbstractContextManager[Path]]
TERMS = ["", "a", "ab", "é", "\uffff", "\U0001f600", "z\0"]

rows_of_terms = st.lists(st.dictionaries(st.sampled_from(TERMS), st.integers(1, 300)), max_size=12)


def segment_of(first_row: int, rows: list[dict[str, int]]) -> HeldSegment:
    run, frequencies = TermRun(), array("i")
    for terms in rows:
        run.add(terms)
        frequencies.extend(terms.values())
    return HeldSegment(first_row, len(rows), run.parts("x", frequencies))


@given(rows=rows_of_terms, cuts=st.sets(st.integers(0, 12)), spilled=st.booleans(), block=st.sampled_from([1, 3, 1000]))
def test_merged_runs_are_the_postings_of_all_rows(
    rows: list[dict[str, int]], cuts: set[int], spilled: bool, block: int, scratch: Scratch
) -> None:
    bounds = sorted({0, len(rows), *(cut for cut in cuts if cut < len(rows))})
    held = [segment_of(first, rows[first:last]) for first, last in pairwise(bounds)]
    with scratch() as directory:
        segments: list[Segment] = [
            segment.spill(directory / f"segment.{segment.first_row}") if spilled else segment for segment in held
        ]
        counts = write_merged_postings(directory, "x", segments, frequencies=True, pairs_a_block=block)
        postings = Postings(directory, "x")
        frequencies = array("i", (directory / "x.frequencies.bin").read_bytes())
    terms = sorted(set().union(*rows))
    pairs = [(term, row, rows[row][term]) for term in terms for row in range(len(rows)) if term in rows[row]]
    assert counts == (len(terms), len(pairs))
    assert [postings.terms[position] for position in range(len(postings.terms))] == terms
    assert postings.rows.tolist() == [row for _, row, _ in pairs]
    assert frequencies.tolist() == [frequency for _, _, frequency in pairs]
    for term in [*TERMS, "unknown"]:
        assert postings.rows_with(term).tolist() == [row for row, row_terms in enumerate(rows) if term in row_terms]


@given(vocabularies=st.lists(st.sets(st.sampled_from([term.encode() for term in TERMS])).map(sorted), max_size=4))
def test_ranks_tell_where_each_vocabularys_terms_stand(vocabularies: list[list[bytes]]) -> None:
    ranks = [array("i") for _ in vocabularies]
    merged = list(merged_terms(vocabularies, ranks))
    assert merged == sorted(set().union(*vocabularies))
    assert [[merged[rank] for rank in places] for places in ranks] == vocabularies
