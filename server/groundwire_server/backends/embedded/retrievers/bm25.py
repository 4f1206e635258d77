"""BM25 with the statistics of the documents that a caller may see.

`bm25_scan` says which documents could be among the best, and one routine scores these in double precision. A score
depends only on its document, the query and the statistics, so the other scored documents do not change it by a bit.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from groundwire_index.lexical.lexical import LexicalTable, TermPostings
from groundwire_server.backends.embedded.retrievers.bm25_scan import LIMITS, ScanLimits, WeightedTerm, possible_best
from groundwire_server.backends.shared.scoring import RankedRows, inverse_document_frequency, term_scores, top_rows
from groundwire_server.domain.search.candidates import WordStatistics


class Bm25:
    """A query's tokens over one lexical table, weighted by the statistics. A repeated token counts each time.

    `terms` are those that some node has, by the statistics.
    """

    def __init__(
        self, lexical: LexicalTable, tokens: Sequence[str], words: WordStatistics, postings: Mapping[str, TermPostings]
    ) -> None:
        """`postings` are those of the tokens, each once."""
        self._lexical = lexical
        self._mean_length = words.mean_length
        self.terms = tuple(
            WeightedTerm(postings[token], repeats * inverse_document_frequency(words.nodes, holders))
            for token, repeats in sorted(Counter(tokens).items())
            if (holders := words.holders[token])
        )

    def rank(self, allowed: NDArray[np.bool_], count: int, limits: ScanLimits = LIMITS) -> RankedRows:
        """The `count` rows of highest score among those of a mask [n]; only rows that hold a token.

        The mask lies within the visible rows; it narrows the result, not the statistics.
        """
        rows = possible_best(self._lexical, self.terms, self._mean_length, allowed, count, limits)
        scores = self.scores(rows)
        hits = np.flatnonzero(scores)
        return top_rows(rows[hits], scores[hits], count)

    def scores(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """The scores of visible rows [m]; 0 for one without a token."""
        relative_lengths = self._lexical.lengths[rows] / self._mean_length
        scores = np.zeros(len(rows), dtype=np.float64)
        # Terms are summed in their own order, so that the sum does not depend on how an index numbers them.
        for term in self.terms:
            scores += term_scores(term.weight, term.postings.frequencies_at(rows), relative_lengths)
        return scores


def matched_tokens(lexical: LexicalTable, tokens: Sequence[str], rows: NDArray[np.int64]) -> list[tuple[str, ...]]:
    """The distinct query tokens, sorted, that each of rows [m] holds."""
    distinct = sorted(set(tokens))
    held = [lexical.postings(token).frequencies_at(rows).astype(np.bool_).tolist() for token in distinct]
    return [tuple(compress(distinct, of_row)) for of_row in zip(*held, strict=True)] if held else [()] * len(rows)
