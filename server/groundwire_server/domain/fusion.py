"""Reciprocal rank fusion of a semantic and a BM25 list (seed 000, "Hybrid").

Cormack, Clarke and Buettcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning
Methods", SIGIR 2009.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf


@dataclass(frozen=True, slots=True)
class FusedHit:
    """An item of the fused list; a rank is 1-based, None where that list does not hold the item."""

    item: int
    score: float
    semantic_rank: int | None
    bm25_rank: int | None


def reciprocal_rank_fusion(semantic: Sequence[int], bm25: Sequence[int], rrf_k: int) -> list[FusedHit]:
    """Fuses two ranked lists of distinct items, best first.

    `score(item) = sum over the lists holding it of 1 / (rrf_k + rank)`. Ties go to the lower semantic rank, then
    the lower BM25 rank, then the smaller item; a missing rank loses to any. Items are integers that order as the
    canonical ids they stand for.
    """
    semantic_ranks = {item: rank for rank, item in enumerate(semantic, start=1)}
    bm25_ranks = {item: rank for rank, item in enumerate(bm25, start=1)}
    fused = [
        _fuse(item, semantic_ranks.get(item), bm25_ranks.get(item), rrf_k)
        for item in semantic_ranks.keys() | bm25_ranks.keys()
    ]
    return sorted(fused, key=_order)


def _fuse(item: int, semantic_rank: int | None, bm25_rank: int | None, rrf_k: int) -> FusedHit:
    score = sum(1.0 / (rrf_k + rank) for rank in (semantic_rank, bm25_rank) if rank is not None)
    return FusedHit(item, score, semantic_rank, bm25_rank)


def _order(hit: FusedHit) -> tuple[float, float, float, int]:
    return (
        -hit.score,
        inf if hit.semantic_rank is None else hit.semantic_rank,
        inf if hit.bm25_rank is None else hit.bm25_rank,
        hit.item,
    )
