"""The scores that both backends compute alike, and the order of what is scored.

BM25 of one document and one term; each backend gives N, df and the mean length. The variant is Lucene's:
`idf(t) * f / (f + k1 * (1 - b + b * length / mean))` with `idf(t) = ln(1 + (N - df + 0.5) / (df + 0.5))`. N, df and the
mean length count only visible documents (Robertson and Zaragoza 2009; Kamphuis et al. 2020, "Which BM25 do you mean?").

The similarity of names is PostgreSQL's pg_trgm: the size of the intersection of their trigrams over the union's. Top-k
selection has one total order: score descending, then row (which is id order) ascending.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groundwire_index.lexical.lexical import K1, B

MAX_FILE_NODES = 2_000
"""A document with more nodes visible to the caller is not a file that people read as one; it has no score."""


def term_scores(
    weight: float, frequencies: NDArray[np.float64], relative_lengths: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The addition of a term to documents [m], below its weight, by its frequency and their length over the mean."""
    scores: NDArray[np.float64] = weight * frequencies / (frequencies + K1 * (1.0 - B + B * relative_lengths))
    return scores


def inverse_document_frequency(documents: int, document_frequency: int) -> float:
    """Lucene's idf; above 0 for every document frequency up to the number of documents."""
    return math.log(1.0 + (documents - document_frequency + 0.5) / (document_frequency + 0.5))


def name_similarity(size: int, common: NDArray[np.integer], sizes: NDArray[np.integer]) -> NDArray[np.float64]:
    """The similarity, in [0, 1], of names [m] to a name of `size` trigrams; `common` [m] are shared."""
    shared = common.astype(np.int64)
    similarity: NDArray[np.float64] = shared / (size + sizes - shared)
    return similarity


@dataclass(frozen=True, slots=True, eq=False)
class RankedRows:
    """Rows [m], best first, and their scores [m]."""

    rows: NDArray[np.int64]
    scores: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.rows)

    def first(self, count: int) -> "RankedRows":
        """The best `count`."""
        return RankedRows(self.rows[:count], self.scores[:count])

    def followed_by(self, later: "RankedRows") -> "RankedRows":
        """These, then others."""
        return RankedRows(np.concatenate((self.rows, later.rows)), np.concatenate((self.scores, later.scores)))


NO_ROWS = RankedRows(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float64))


def top_rows(rows: NDArray[np.int64], scores: NDArray[np.float64], count: int) -> RankedRows:
    """The best `count` of rows [m] by their scores [m]. The result for a smaller count is a prefix of a larger's."""
    if len(rows) > count:
        lowest = np.partition(scores, len(scores) - count)[len(scores) - count]
        possible = scores >= lowest
        rows, scores = rows[possible], scores[possible]
    order = np.lexsort((rows, -scores))[:count]
    return RankedRows(rows[order], scores[order])
