"""The dense source: cosine similarity of embeddings, cut at the least similarity that counts."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groundwire_index.vectors.vectors import VectorTable
from groundwire_server.backends.embedded.proposal import Proposal
from groundwire_server.backends.embedded.semantic import rank_by_similarity, similarities
from groundwire_server.backends.embedded.visibility import Visibility
from groundwire_server.domain.observation import stage
from groundwire_server.domain.query import Source


@dataclass(frozen=True, slots=True)
class DenseSource:
    """`query` is a unit vector [dimension]; the list holds at most `limit` rows.

    They are of at least `min_similarity`, of any for None.
    """

    vectors: VectorTable
    query: NDArray[np.float64]
    limit: int
    min_similarity: float | None

    def propose(self, visibility: Visibility, allowed: NDArray[np.bool_]) -> Proposal:
        """See `CandidateSource.propose`. A row without a vector cannot be scored."""
        with stage(Source.DENSE.value):
            nearest = rank_by_similarity(self.vectors, self.query, allowed, self.limit)
        least = self.min_similarity
        hits = [hit for hit in nearest.hits if least is None or hit.score >= least]
        return Proposal(Source.DENSE, hits, self._scores, nearest.exact)

    def _scores(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.where(self.vectors.present[rows], similarities(self.vectors, rows, self.query), np.nan)
