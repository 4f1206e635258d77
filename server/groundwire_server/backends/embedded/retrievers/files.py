"""How well the words of a query fit whole files: BM25 over all that the caller sees of each.

A file is the document that nodes were ingested under: the id that they state, else their path. Terms weigh as in the
nodes' own scores; lengths are those of the visible parts, and so is their mean.
"""

import numpy as np
from numpy.typing import NDArray

from groundwire_index.lexical.lexical import LexicalTable, TermPostings
from groundwire_index.nodes.reading_order import NO_DOCUMENT, ReadingOrder
from groundwire_server.backends.embedded.retrievers.bm25_scan import WeightedTerm
from groundwire_server.backends.embedded.visibility.visibility import Visibility
from groundwire_server.backends.shared.scoring import MAX_FILE_NODES, term_scores
from groundwire_server.execution.call import Checkpoint

Rows = NDArray[np.int64]


def file_scores(
    terms: tuple[WeightedTerm, ...],
    lexical: LexicalTable,
    reading: ReadingOrder,
    visibility: Visibility,
    checkpoint: Checkpoint,
    rows: Rows,
    max_nodes: int = MAX_FILE_NODES,
) -> NDArray[np.float64]:
    """The score of each row's file [m]; NaN for a row of none, or of one with more than `max_nodes` nodes.

    Costs what the rows of these files do, and for each term no more than the rows that hold it do. Raises what the
    checkpoint raises.
    """
    of_rows = reading.document.take(rows)
    files = np.unique(of_rows[of_rows != NO_DOCUMENT])
    members, places = reading.members(files)
    seen = np.flatnonzero(visibility.mask.take(members))
    members, places = members.take(seen), places.take(seen)
    too_large = np.bincount(places, minlength=len(files)) > max_nodes
    kept = np.flatnonzero(~too_large.take(places))
    members, places = members.take(kept), places.take(kept)
    lengths = np.bincount(places, lexical.lengths.take(members), minlength=len(files))
    relative = lengths / visibility.mean_file_length(lexical)
    scores = np.zeros(len(files), dtype=np.float64)
    for term in terms:
        checkpoint()
        if len(term.postings.rows) < len(members):
            near, held = _held(term.postings, files, reading, visibility)
        else:
            near, held = places, term.postings.frequencies_at(members)
        frequencies = np.bincount(near, held, minlength=len(files)).astype(np.float64)
        scores += term_scores(term.weight, frequencies, relative)
    scores[too_large] = np.nan
    found = np.full(len(rows), np.nan, dtype=np.float64)
    in_file = of_rows != NO_DOCUMENT
    found[in_file] = scores.take(np.searchsorted(files, of_rows[in_file]))
    return found


def _held(
    postings: TermPostings, files: NDArray[np.int32], reading: ReadingOrder, visibility: Visibility
) -> tuple[Rows, NDArray[np.float64]]:
    """Of the visible rows in files that hold a term, the file's place and how often each does."""
    of_holders = reading.document.take(postings.rows)
    near = np.minimum(np.searchsorted(files, of_holders), len(files) - 1)
    kept = np.flatnonzero((files.take(near) == of_holders) & visibility.mask.take(postings.rows))
    return near.take(kept), postings.frequencies.take(kept).astype(np.float64)
