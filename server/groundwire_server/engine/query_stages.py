"""The stages between the sources of a query and its matches: fusion, rerank, freshness, boost, diversity.

Each takes candidates, best first, and returns them reordered. A candidate's `final` score is that of the fusion or the
reranker, in [0, 1], as the stages after it have changed it. `query_ranking` has the stages that rank a repository.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from groundwire_server.backends.interface import RetrievalSnapshot
from groundwire_server.domain.adaptive import adaptive_weights
from groundwire_server.domain.candidates import Candidate, Candidates
from groundwire_server.domain.checkpoint import Checkpoint
from groundwire_server.domain.corpus_boost import BoostRule, boost_of
from groundwire_server.domain.diversity import diversify
from groundwire_server.domain.freshness import blend, freshness_of
from groundwire_server.domain.query import Freshness, FusionMode, QueryClass, Source
from groundwire_server.domain.query_fusion import alpha_weights, fuse_by_rank, fuse_by_weight
from groundwire_server.domain.query_parameters import EffectiveParameters
from groundwire_server.engine.rerank import RerankCandidate, Reranker

RERANK_WINDOW = 50
"""How many candidates a reranker reads, unless more are asked for."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate on its way through the stages."""

    candidate: Candidate
    fused: float
    final: float
    file: float | None = None
    kind_factor: float = 1.0
    graph: float | None = None
    rerank: float | None = None
    freshness: float | None = None
    boost: float = 1.0
    repeat_factor: float = 1.0

    @property
    def id(self) -> str:
        """The canonical id."""
        return self.candidate.id


def fusion_weights(
    mode: FusionMode, query_class: QueryClass, parameters: EffectiveParameters, sources: Sequence[Source]
) -> tuple[tuple[Source, float], ...]:
    """Each source's weight, in the order of `sources`; 1 for each under reciprocal rank fusion."""
    if mode is FusionMode.RRF:
        return tuple((source, 1.0) for source in sources)
    if mode is FusionMode.WEIGHTED:
        return alpha_weights(parameters.alpha, sources)
    return adaptive_weights(query_class, sources)


def fuse(
    candidates: Candidates,
    mode: FusionMode,
    weights: Sequence[tuple[Source, float]],
    parameters: EffectiveParameters,
) -> list[Ranked]:
    """One list of all sources' candidates, at most `max_candidates` long."""
    if mode is FusionMode.RRF:
        fused = fuse_by_rank(candidates, parameters.rrf_k)
    else:
        fused = fuse_by_weight(candidates, dict(weights))
    return [
        Ranked(candidates.items[entry.position], entry.fused, entry.relevance)
        for entry in fused[: parameters.max_candidates]
    ]


def rerank(
    query: str,
    ranked: Sequence[Ranked],
    top_k: int,
    snapshot: RetrievalSnapshot,
    reranker: Reranker,
    checkpoint: Checkpoint,
) -> list[Ranked]:
    """The best candidates as the reranker orders them; what it has not read is left out."""
    window = ranked[: max(RERANK_WINDOW, top_k)]
    texts = snapshot.fetch_texts([entry.id for entry in window])
    read = [
        RerankCandidate(texts[entry.id].text, entry.candidate.dense.score if entry.candidate.dense else 0.0)
        for entry in window
    ]
    scores = reranker.scores(query, read, checkpoint)
    return best_first([replace(entry, rerank=score, final=score) for entry, score in zip(window, scores, strict=True)])


def freshen(ranked: Sequence[Ranked], now: datetime, freshness: Freshness) -> list[Ranked]:
    """Recent conversations gain."""
    return best_first([_freshened(entry, now, freshness) for entry in ranked])


def boost(ranked: Sequence[Ranked], rules: Sequence[BoostRule]) -> list[Ranked]:
    """Nodes of the corpora that the query calls for gain."""
    if not rules:
        return list(ranked)
    return best_first([_boosted(entry, boost_of(rules, entry.candidate.corpus_type)) for entry in ranked])


def diversified(
    ranked: Sequence[Ranked], parameters: EffectiveParameters, snapshot: RetrievalSnapshot, checkpoint: Checkpoint
) -> list[Ranked]:
    """The `top_k` matches, chosen so that they resemble each other less."""
    resemblance = snapshot.resemblance([entry.id for entry in ranked])
    if resemblance is None:
        raise AssertionError("only an index with vectors is diversified")

    def similarity(position: int) -> NDArray[np.float64]:
        checkpoint()
        return resemblance(position)

    scores = [entry.final for entry in ranked]
    chosen = diversify(scores, similarity, parameters.diversify_strength, parameters.top_k)
    return [ranked[position] for position in chosen]


def best_first(ranked: Sequence[Ranked]) -> list[Ranked]:
    """By final score descending, then id ascending."""
    return sorted(ranked, key=lambda entry: (-entry.final, entry.id))


def _freshened(entry: Ranked, now: datetime, freshness: Freshness) -> Ranked:
    decay = freshness_of(entry.candidate.corpus_type, entry.candidate.timestamp, now, freshness)
    if decay is None:
        return entry
    return replace(entry, freshness=decay, final=blend(entry.final, decay, freshness.weight))


def _boosted(entry: Ranked, multiplier: float) -> Ranked:
    return replace(entry, boost=multiplier, final=entry.final * multiplier)
