"""GatherEvidence: what is asked and what is answered."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from datetime import datetime

from groundwire.evidence.evidence_nodes import Evidence
from groundwire_index.nodes.node import Node
from groundwire_index.scope import Scope
from groundwire_server.domain.search.search import LeftOut, NodesRequest, Retriever

DEFAULT_GRAPH_SHARE = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceRequest(NodesRequest):
    """A question as the caller asked it; see `groundwire.v1.GatherEvidenceRequest`.

    `now` is the time that freshness counts from.
    """

    question: str
    budget_tokens: int
    now: datetime
    phrasings: tuple[str, ...] = ()
    shown_ids: tuple[str, ...] = ()
    rerank: bool = False
    graph_share: float = DEFAULT_GRAPH_SHARE
    retrievers: tuple[Retriever, ...] = ()
    explain: bool = False
    query_vector: tuple[float, ...] = ()
    phrase: bool = False
    history: bool = False

    @property
    def extent(self) -> tuple[int, ...]:
        """See `NodesRequest.extent`."""
        return len(self.text), len(self.shown_ids), self.budget_tokens

    @property
    def choices(self) -> tuple[Hashable, ...]:
        """See `NodesRequest.choices`."""
        return self.retrievers, bool(self.query_vector), self.rerank, self.graph_share, self.phrase, self.explain

    @property
    def text(self) -> str:
        """The question and its phrasings, which are searched together."""
        return "\n".join((self.question, *self.phrasings))


@dataclass(frozen=True, slots=True)
class MatchScores:
    """The rank of a match, its score, and its score by each retriever; None where one was not used."""

    rank: int
    score: float
    similarity: float | None = None
    bm25_code: float | None = None
    bm25_prose: float | None = None
    trigram: float | None = None


@dataclass(frozen=True, slots=True)
class Weakness:
    """Why the evidence does probably not answer the question; see `groundwire.v1.Weakness`."""

    reason: str
    similarity: float | None
    words: float
    near_words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EvidenceResult:
    """The evidence, and what is known of its nodes.

    `nodes` and `scores` are by id; those of passages and of named nodes are among them. `earlier` has the numbers of
    nodes that earlier evidence has shown. `index` is "" for several versions, which `scopes` has. `left_out` has
    what a version has no data for, `phrasings` those that were used.
    """

    evidence: Evidence
    nodes: Mapping[str, Node]
    scores: Mapping[str, MatchScores]
    earlier: Mapping[str, int]
    weakness: Weakness | None
    exact: bool
    index: str
    scopes: tuple[Scope, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    phrasings: tuple[str, ...] = ()
