"""Candidates of retrievers, as columns, before they are fused.

A candidate's place in the columns is its position. A row is the number of a node in the order of the ids of its index
version, so a smaller row is a smaller id; rows never leave the server.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from groundwire_index.text.trigram_names import query_names
from groundwire_server.domain.search.search import Retriever

NO_FILE = -1

Floats = NDArray[np.float64]
Positions = NDArray[np.int64]


def as_positions(rows: Iterable[int]) -> Positions:
    """Rows or positions as an array."""
    return np.fromiter(rows, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class WordStatistics:
    """Counts over all nodes that a caller sees, for one BM25 retriever and the tokens of one query.

    `length` is in tokens, of `nodes`; `file_length` is that of the nodes which belong to one of `files`. `holders` has
    how many nodes hold each token.
    """

    nodes: int
    length: int
    files: int
    file_length: int
    holders: Mapping[str, int]

    @property
    def mean_length(self) -> float:
        """Of a node, the pivot of BM25's length normalisation; 1 instead of 0."""
        return self.length / max(1, self.nodes) or 1.0

    @property
    def mean_file_length(self) -> float:
        """Of what is seen of a file; 1 instead of 0."""
        return self.file_length / max(1, self.files) or 1.0

    @classmethod
    def total(cls, parts: Sequence[Self]) -> Self:
        """The counts over the nodes of several indexes."""
        return cls(
            nodes=sum(part.nodes for part in parts),
            length=sum(part.length for part in parts),
            files=sum(part.files for part in parts),
            file_length=sum(part.file_length for part in parts),
            holders={token: sum(part.holders[token] for part in parts) for token in parts[0].holders},
        )


@dataclass(frozen=True, slots=True)
class Retrieval:
    """One search by several retrievers; already validated.

    `limits` has the asked retrievers and how long the list of each may be. `query_vector` is a unit vector, None where
    DENSE is not asked. DENSE lists nodes of at least `min_similarity`, of any for None, TRIGRAM of at least
    `trigram_threshold`. Candidates bring their columns with `with_columns`, the BM25 scores of their files with
    `scores_files`, where BM25_CODE is asked. TRIGRAM compares `names`, which are normalised; where there are none,
    those that the query mentions. BM25 is computed from `words`; None takes those of the snapshot.
    """

    query: str
    query_vector: Floats | None
    limits: Mapping[Retriever, int]
    min_similarity: float | None = None
    trigram_threshold: float = 0.0
    with_columns: bool = False
    scores_files: bool = False
    names: tuple[str, ...] = ()
    words: Mapping[Retriever, WordStatistics] | None = None

    @property
    def compared_names(self) -> tuple[str, ...]:
        """The normalised names that TRIGRAM compares."""
        return self.names or query_names(self.query)


@dataclass(frozen=True, slots=True, eq=False)
class RetrieverScores:
    """One retriever's score of each candidate [n], and its 1-based rank, 0 beyond the retriever's list.

    NaN means a node that cannot be scored: one without a vector. A lexical score of 0 means that nothing matches.
    """

    scores: Floats
    ranks: Positions

    @property
    def length(self) -> int:
        """How long the list is."""
        return int(np.count_nonzero(self.ranks))


@dataclass(frozen=True, slots=True, eq=False)
class NodeColumns:
    """The facts that ranking needs about each candidate [n] besides its scores.

    Its corpus type is the one of `corpus_types` at `corpus_codes`. Timestamps are microseconds since 1970 UTC or
    NO_TIMESTAMP. `purposes` are numbers of `Purpose`. Candidates of one file, which is the document they were ingested
    under, have the same number in `files`, NO_FILE for none.
    """

    corpus_types: tuple[str, ...]
    corpus_codes: NDArray[np.integer]
    timestamps: NDArray[np.int64]
    purposes: NDArray[np.int8]
    is_deleted: NDArray[np.bool_]
    char_counts: NDArray[np.integer]
    files: NDArray[np.integer]


_NO_FLAGS, _NO_NUMBERS = np.empty(0, dtype=np.bool_), np.empty(0, dtype=np.int64)
NO_COLUMNS = NodeColumns((), _NO_NUMBERS, _NO_NUMBERS, np.empty(0, dtype=np.int8), _NO_FLAGS, _NO_NUMBERS, _NO_NUMBERS)
"""The columns of candidates that were asked without."""


@dataclass(frozen=True, slots=True, eq=False)
class FileScores:
    """BM25 over the code tokens of all that the caller sees of each candidate's file.

    `scores` [n] are NaN for a candidate of no file, or of one with too many nodes, and where they were not asked.
    `is_alone` [n] is True where the candidate is all that the caller sees of its file.
    """

    scores: Floats
    is_alone: NDArray[np.bool_]


def no_file_scores(count: int) -> FileScores:
    """The file scores of candidates [count] that were asked without."""
    return FileScores(np.full(count, np.nan), np.zeros(count, dtype=np.bool_))


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """The union of the retrievers' lists: distinct rows [n], ascending, with each asked retriever's score of each.

    `by_retriever` is in the order of the enum. `columns` are NO_COLUMNS where they were not asked. `exact` is False
    when an approximate index made the dense list.
    """

    rows: Positions
    by_retriever: Mapping[Retriever, RetrieverScores]
    columns: NodeColumns
    files: FileScores
    exact: bool = True

    def __len__(self) -> int:
        return len(self.rows)
