"""Rerankers: they reorder the candidates of a semantic search, or of a query, and trim them.

A reranker sees texts of one snapshot, which has enforced scope and access; it adds no ids. Ties keep the order of
the search.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from groundwire_index.text.code_tokenizer import tokenize
from groundwire_server.backends.interface import Snapshot
from groundwire_server.domain.errors import PreconditionError, Reason
from groundwire_server.domain.search.candidates import Candidates, Floats, Positions
from groundwire_server.domain.search.search import Retriever
from groundwire_server.execution.call import Checkpoint


@dataclass(frozen=True, slots=True)
class RerankCandidate:
    """A candidate's text, its cosine similarity to the query, its symbol and its path.

    The similarity is 0 for one without a vector.
    """

    text: str
    similarity: float
    symbol: str = ""
    path: str = ""


class Reranker(Protocol):
    """Scores candidates; `widen_factor` times `top_k` of them are retrieved for it."""

    @property
    def widen_factor(self) -> int:
        """At least 1."""
        ...

    def scores(self, query: str, candidates: Sequence[RerankCandidate], checkpoint: Checkpoint) -> list[float]:
        """One score a candidate, higher is better; deterministic."""
        ...


@dataclass(frozen=True, slots=True)
class KeywordReranker:
    """`alpha * similarity + beta * coverage`.

    Coverage is the share of the query's distinct tokens that the text, the symbol or the path has.

    Coverage is already in [0, 1], so nothing is normalised over the candidates.
    """

    widen_factor: int
    alpha: float = 0.5
    beta: float = 0.5

    def scores(self, query: str, candidates: Sequence[RerankCandidate], checkpoint: Checkpoint) -> list[float]:
        """The weighted sums of coverage and relevance, one for each candidate."""
        checkpoint()
        wanted = set(tokenize(query))
        return [
            self.alpha * candidate.similarity + self.beta * _coverage(wanted, candidate) for candidate in candidates
        ]


@dataclass(frozen=True, slots=True)
class Rerankers:
    """The rerankers of a server; `codebert` is the configured one, None where there is none."""

    keyword: Reranker
    codebert: Reranker | None = None


def configured(reranker: Reranker | None) -> Reranker:
    """The server's reranker. Raises PreconditionError where it has none."""
    if reranker is None:
        raise PreconditionError(
            Reason.RERANKER_NOT_CONFIGURED, "this server has no reranker; configure one or drop `rerank`"
        )
    return reranker


def rerank_scores(
    query: str,
    candidates: Candidates,
    positions: Positions,
    snapshot: Snapshot,
    reranker: Reranker,
    checkpoint: Checkpoint,
) -> Floats:
    """The reranker's scores [m] of the candidates at some positions [m]."""
    dense = candidates.by_retriever.get(Retriever.DENSE)
    similarities = np.zeros(len(positions)) if dense is None else np.nan_to_num(dense.scores[positions])
    texts = snapshot.texts(candidates.rows[positions])
    read = [
        RerankCandidate(text.text, similarity, text.symbol, text.location.path)
        for text, similarity in zip(texts, similarities.tolist(), strict=True)
    ]
    return np.asarray(reranker.scores(query, read, checkpoint), dtype=np.float64)


def _coverage(wanted: set[str], candidate: RerankCandidate) -> float:
    had = tokenize("\n".join((candidate.text, candidate.symbol, candidate.path)))
    return len(wanted.intersection(had)) / len(wanted) if wanted else 0.0
