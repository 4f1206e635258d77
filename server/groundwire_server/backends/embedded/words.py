"""The BM25 sources: the query's tokens, of code or of prose, against the artifacts of the same tokeniser."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groundwire_server.backends.embedded.bm25 import Bm25
from groundwire_server.backends.embedded.proposal import Proposal
from groundwire_server.backends.embedded.visibility import Visibility
from groundwire_server.domain.observation import stage
from groundwire_server.domain.query import Source
from groundwire_server.index.lexical import LexicalTable


@dataclass(frozen=True, slots=True)
class WordSource:
    """`source` says which tokens; the list holds at most `limit` rows, each with a token of the query."""

    source: Source
    lexical: LexicalTable
    tokens: Sequence[str]
    limit: int

    def propose(self, visibility: Visibility, allowed: NDArray[np.bool_]) -> Proposal:
        """See `CandidateSource.propose`."""
        bm25 = Bm25(self.lexical, self.tokens, visibility)
        with stage(self.source.value):
            ranked = bm25.rank(allowed, self.limit)
        return Proposal(self.source, ranked, bm25.scores)
