"""Measures of a ranking, for one query with binary relevance."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

DEPTH = 100
"""The deepest rank that a measure uses."""


@dataclass(frozen=True, slots=True)
class Measures:
    """One query's measures, each in [0, 1], higher is better."""

    ndcg_10: float
    """Normalised discounted cumulative gain of the first ten (Järvelin and Kekäläinen 2002): gain 1, discount
    log2(rank + 1), divided by the same of a ranking that puts everything relevant first."""
    mrr_10: float
    """1 / rank of the first relevant document, 0 if none is among the first ten."""
    recall_10: float
    """The share of the relevant documents that are among the first ten."""
    recall_100: float
    """The share of the relevant documents that are among the first hundred."""
    hit_3: float
    """1 if a relevant document is among the first three, else 0."""


def measure(ranking: Sequence[str], relevant: Collection[str]) -> Measures:
    """Measures a ranking of distinct ids, best first, against the relevant ids; there must be at least one."""
    ranks = [rank for rank, id_ in enumerate(ranking, start=1) if id_ in relevant]
    ideal = sum(_discounted(rank) for rank in range(1, min(len(relevant), 10) + 1))
    return Measures(
        ndcg_10=sum(_discounted(rank) for rank in ranks if rank <= 10) / ideal,
        mrr_10=next((1.0 / rank for rank in ranks if rank <= 10), 0.0),
        recall_10=sum(rank <= 10 for rank in ranks) / len(relevant),
        recall_100=sum(rank <= 100 for rank in ranks) / len(relevant),
        hit_3=float(any(rank <= 3 for rank in ranks)),
    )


def _discounted(rank: int) -> float:
    return 1.0 / math.log2(rank + 1)
