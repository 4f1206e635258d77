"""BM25 with the statistics of the documents that a caller may see.

The variant is Lucene's: `idf(t) * f / (f + k1 * (1 - b + b * length / mean))` with
`idf(t) = ln(1 + (N - df + 0.5) / (df + 0.5))`; N, df and the mean length count visible documents only
(Robertson and Zaragoza 2009; Kamphuis et al. 2020, "Which BM25 do you mean?").
"""

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from groundwire_server.backends.embedded.ranking import RankedRow, top_positive
from groundwire_server.backends.embedded.visibility import Visibility
from groundwire_server.index.lexical import LexicalTable

K1 = 1.5
B = 0.75


def rank_by_bm25(
    lexical: LexicalTable,
    tokens: Sequence[str],
    visibility: Visibility,
    allowed: NDArray[np.bool_],
    count: int,
) -> list[RankedRow]:
    """The `count` allowed rows of highest BM25 score; only rows that hold a token."""
    return top_positive(bm25_scores(lexical, tokens, visibility, allowed), count)


def bm25_scores(
    lexical: LexicalTable, tokens: Sequence[str], visibility: Visibility, allowed: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """The score [n] of each allowed row; 0 for one without a token. A repeated token counts each time.

    `allowed` is a mask [n] within the visible rows; it narrows the result, not the statistics.
    """
    scores = np.zeros(len(allowed), dtype=np.float64)
    mean_length = visibility.mean_length(lexical)
    # Terms are summed in their own order, so that the sum does not depend on how an index numbers them.
    for term, repeats in sorted(Counter(tokens).items()):
        rows, frequencies = lexical.postings(term)
        document_frequency = int(np.count_nonzero(visibility.mask[rows]))
        keep = allowed[rows]
        rows, frequencies = rows[keep], frequencies[keep].astype(np.float64)
        relative_length = lexical.lengths[rows] / mean_length
        weight = repeats * inverse_document_frequency(visibility.count, document_frequency)
        scores[rows] += weight * frequencies / (frequencies + K1 * (1.0 - B + B * relative_length))
    return scores


def inverse_document_frequency(documents: int, document_frequency: int) -> float:
    """Lucene's idf; above 0 for every document frequency up to the number of documents."""
    return math.log(1.0 + (documents - document_frequency + 0.5) / (document_frequency + 0.5))


def matched_tokens(lexical: LexicalTable, tokens: Sequence[str], row: int) -> tuple[str, ...]:
    """The distinct query tokens that a row holds, sorted."""
    return tuple(token for token in sorted(set(tokens)) if _holds(lexical.postings(token)[0], row))


def _holds(rows: NDArray[np.int32], row: int) -> bool:
    position = int(np.searchsorted(rows, row))
    return position < len(rows) and int(rows[position]) == row
