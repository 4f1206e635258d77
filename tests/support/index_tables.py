"""Single tables of an index, written from what they hold alone."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groundwire_index.files.durable_files import map_array
from groundwire_index.files.segment import HeldSegment
from groundwire_index.graph.edges import EdgeTable
from groundwire_index.lexical.lexical import (
    LEAST_HOLDERS,
    ROWS_A_HOLDER,
    LexicalRun,
    LexicalTable,
    TermPostings,
    write_frequent_terms,
    write_lexical,
)
from groundwire_index.lexical.postings import Postings
from groundwire_server.backends.embedded.retrievers.bm25 import Bm25
from groundwire_server.domain.search.candidates import WordStatistics

TypedEdge = tuple[int, int, int]
"""From row, to row, edge type."""


def postings_of(table: LexicalTable, words: Iterable[str]) -> dict[str, TermPostings]:
    """The postings of words."""
    return {word: table.postings(word) for word in words}


def bm25_of(table: LexicalTable, words: Sequence[str], visible: NDArray[np.bool_]) -> Bm25:
    """BM25 for a query of words over the visible rows of a table without files."""
    postings = postings_of(table, words)
    holders = {word: int(visible[word_postings.rows].sum()) for word, word_postings in postings.items()}
    counts = WordStatistics(int(visible.sum()), int(table.lengths[visible].sum()), 0, 0, holders)
    return Bm25(table, words, counts, postings)


def lexical_table(
    directory: Path,
    documents: Sequence[Sequence[str]],
    rows_a_holder: float = ROWS_A_HOLDER,
    least_holders: int = LEAST_HOLDERS,
) -> LexicalTable:
    """The table of tokenised documents, one a row, over files in an empty directory."""
    run = LexicalRun("code")
    for document in documents:
        run.add(document)
    terms, postings = write_lexical(directory, "code", [HeldSegment(0, len(documents), run.parts())])
    frequencies = map_array(directory / "code.frequencies.bin", np.int32, (postings,))
    held = Postings(directory, "code", terms)
    write_frequent_terms(directory, "code", held, frequencies, len(documents), rows_a_holder, least_holders)
    return LexicalTable(directory, "code", len(documents), terms, postings)


def edge_table(edge_types: tuple[str, ...], edges: Iterable[TypedEdge]) -> EdgeTable:
    """Distinct edges of confidence 1 and no known line."""
    from_rows, to_rows, types = np.asarray([*edges], dtype=np.int32).reshape(-1, 3).T
    return EdgeTable(edge_types, from_rows, to_rows, types, np.ones(len(types), np.float64), np.zeros_like(types))
