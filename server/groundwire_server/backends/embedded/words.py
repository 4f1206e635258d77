"""The BM25 sources: the query's tokens, of code or of prose, against the artifacts of the same tokeniser."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from groundwire_index.lexical.lexical import LexicalTable
from groundwire_index.nodes.reading_order import ReadingOrder
from groundwire_server.backends.embedded.bm25 import Bm25
from groundwire_server.backends.embedded.files import file_scores
from groundwire_server.backends.embedded.proposal import Proposal
from groundwire_server.backends.embedded.visibility import Visibility
from groundwire_server.domain.checkpoint import Checkpoint
from groundwire_server.domain.observation import stage
from groundwire_server.domain.query import Source


@dataclass(frozen=True, slots=True)
class WordSource:
    """`source` says which tokens; the list holds at most `limit` rows, each with a token of the query.

    With `reading`, the order of the table's rows in their files, these are scored as well.
    """

    source: Source
    lexical: LexicalTable
    tokens: Sequence[str]
    limit: int
    reading: ReadingOrder | None
    checkpoint: Checkpoint

    def propose(self, visibility: Visibility, allowed: NDArray[np.bool_]) -> Proposal:
        """See `CandidateSource.propose`."""
        bm25 = Bm25(self.lexical, self.tokens, visibility)
        with stage(self.source.value):
            ranked = bm25.rank(allowed, self.limit)
        scored = None
        if self.reading is not None:
            scored = partial(file_scores, bm25.terms, self.lexical, self.reading, visibility, self.checkpoint)
        return Proposal(self.source, ranked, bm25.scores, file_scores_of=scored)
