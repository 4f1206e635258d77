"""The trigram source: nodes by their names, so that a name with a typo is found.

The similarity of two names is that of PostgreSQL's pg_trgm: the size of the intersection of their sets of trigrams
over that of the union. A node's is the greatest over the names that the query mentions and its own.
"""

import numpy as np
from numpy.typing import NDArray

from groundwire_server.backends.embedded.proposal import Proposal
from groundwire_server.backends.embedded.ranking import top_positive
from groundwire_server.backends.embedded.visibility import Visibility
from groundwire_server.domain.query import Source
from groundwire_server.index.loaded import LoadedIndex
from groundwire_server.index.names import NameTable
from groundwire_server.text.names import query_names, trigrams


class TrigramSource:
    """The names of an index against those of a query."""

    def __init__(self, index: LoadedIndex, query: str, limit: int, threshold: float) -> None:
        """The list holds at most `limit` rows, of a similarity above 0 and of at least `threshold`."""
        self._index = index
        self._query = query
        self._limit = limit
        self._threshold = threshold
        self._known: NDArray[np.float64] | None = None

    def propose(self, visibility: Visibility, allowed: NDArray[np.bool_]) -> Proposal:
        """See `CandidateSource.propose`."""
        similar = self._similarities()
        listed = np.where(allowed & (similar >= self._threshold), similar, 0.0)
        return Proposal(Source.TRIGRAM, top_positive(listed, self._limit), similar.__getitem__)

    def _similarities(self) -> NDArray[np.float64]:
        """Every row's similarity [n], hidden ones included: a row's depends on its own names alone."""
        if self._known is None:
            names = self._index.names
            similar = similarities_of_names(names, query_names(self._query))
            positions = np.flatnonzero(similar)
            rows, owners = names.rows_of(positions)
            self._known = np.zeros(len(self._index.policy_codes), dtype=np.float64)
            np.maximum.at(self._known, rows, similar[positions][owners])
        return self._known


def similarities_of_names(names: NameTable, wanted: tuple[str, ...]) -> NDArray[np.float64]:
    """For each name of the index [names] the greatest similarity to one of the wanted names, in [0, 1]."""
    best = np.zeros(len(names.sizes), dtype=np.float64)
    for name in wanted:
        held = sorted(trigrams(name))
        shared = np.bincount(np.concatenate([names.holding(trigram) for trigram in held]), minlength=len(best))
        found = np.flatnonzero(shared)
        union = len(held) + names.sizes[found] - shared[found]
        best[found] = np.maximum(best[found], shared[found] / union)
    return best
