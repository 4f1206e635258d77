"""Reciprocal rank fusion of ranked lists.

Cormack, Clarke and Buettcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning
Methods", SIGIR 2009.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum, inf


@dataclass(frozen=True, slots=True)
class FusedHit:
    """An item of the fused list; `ranks` has one entry a list: 1-based, None where that list does not hold the item."""

    item: int
    score: float
    ranks: tuple[int | None, ...]


def reciprocal_rank_fusion(lists: Sequence[Sequence[int]], rrf_k: int) -> list[FusedHit]:
    """Fuses ranked lists of distinct items, best first.

    `score(item) = sum over the lists holding it of 1 / (rrf_k + rank)`, rounded once, so that equal ranks in
    different lists make equal scores. Ties go to the lower rank in the first list, then in the second and so on, then
    to the smaller item; a missing rank loses to any. Items are integers that order as the canonical ids they stand for.
    """
    ranks_of_lists = [{item: rank for rank, item in enumerate(ranked, start=1)} for ranked in lists]
    items: set[int] = set().union(*ranks_of_lists)
    return sorted(
        (_fuse(item, tuple(ranks.get(item) for ranks in ranks_of_lists), rrf_k) for item in items), key=_order
    )


def _fuse(item: int, ranks: tuple[int | None, ...], rrf_k: int) -> FusedHit:
    return FusedHit(item, fsum(1.0 / (rrf_k + rank) for rank in ranks if rank is not None), ranks)


def _order(hit: FusedHit) -> tuple[float, tuple[float, ...], int]:
    return -hit.score, tuple(inf if rank is None else rank for rank in hit.ranks), hit.item
