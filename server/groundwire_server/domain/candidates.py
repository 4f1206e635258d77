"""What the sources of a query propose: candidates with every source's score, before they are fused."""

from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from groundwire_server.domain.query import Source
from groundwire_server.domain.ranking import Traits
from groundwire_server.domain.search import Filter


@dataclass(frozen=True, slots=True)
class CandidateSearch:
    """One search of several sources; already validated. `query_vector` is a unit vector, None without one.

    `sources` is what the caller named, empty for every source that the index has. The dense list holds at most
    `dense_limit` nodes of at least `min_similarity`, of any similarity for None, each lexical one `lexical_limit`, the
    trigram list only nodes of at least `trigram_threshold`. With `scores_files` candidates bring the scores of their
    files.
    """

    query: str
    query_vector: NDArray[np.float64] | None
    sources: frozenset[Source]
    dense_limit: int
    lexical_limit: int
    min_similarity: float | None
    trigram_threshold: float
    filter: Filter
    scores_files: bool = False


@dataclass(frozen=True, slots=True)
class SourceScore:
    """A candidate in one source: its score, and its 1-based rank there or None when the list ended before it."""

    score: float
    rank: int | None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A node that stands in at least one list, with its score in each source that was asked.

    `dense` is also None for a node without a vector; a lexical score of 0 means that nothing matches. Candidates of one
    file, which is the document they were ingested under, have the same number as `file`; None stands for none.
    `file_score` is BM25 over the code tokens of all that the caller sees of the file, None where that was not asked.
    """

    id: str
    corpus_type: str
    timestamp: datetime | None
    dense: SourceScore | None
    bm25_code: SourceScore | None
    bm25_nlp: SourceScore | None
    trigram: SourceScore | None
    traits: Traits = field(default_factory=Traits)
    file: int | None = None
    file_score: float | None = None

    def of(self, source: Source) -> SourceScore | None:
        """The score in one source."""
        score: SourceScore | None = getattr(self, source.value)
        return score


@dataclass(frozen=True, slots=True)
class Candidates:
    """The union of the lists in the order of their ids, and the length of each list that was asked.

    `deleted_blocked` counts the deleted nodes, visible to the caller, that would be candidates were they active.
    `has_vectors` tells whether the index does, whether or not the dense source was asked. `embedder` and
    `vector_space_id` name the space of the dense list, "" without one. `exact` is False when an approximate index made
    the dense list. `milliseconds` is the processor time that finding them took once the query had its vector.
    """

    items: tuple[Candidate, ...]
    list_lengths: tuple[tuple[Source, int], ...]
    deleted_blocked: int
    has_vectors: bool
    embedder: str
    vector_space_id: str
    exact: bool = True
    milliseconds: float = field(default=0.0, compare=False)

    @property
    def sources(self) -> tuple[Source, ...]:
        """The sources that were asked, in the order of their enum."""
        return tuple(source for source, _ in self.list_lengths)
