"""Matches that resemble better ones are held back: maximal marginal relevance.

Carbonell and Goldstein, "The Use of MMR, Diversity-Based Reranking for Reordering Documents and Producing Summaries",
SIGIR 1998.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray


def diversify(
    scores: Sequence[float],
    similarity: Callable[[int], Sequence[float] | NDArray[np.float64]],
    strength: float,
    count: int,
) -> list[int]:
    """The positions of at most `count` items, in the order they are chosen.

    `scores` are at least 0, best first. `similarity(position)` gives the similarity of that item to every item, itself
    included; it is asked at most once an item, and only for items that others are chosen after. Each choice takes
    the highest `(1 - strength) * score / highest score - strength * max(0, highest similarity to a chosen one)`, ties
    the earlier one. A strength of 0 takes the first `count`.
    """
    count = min(count, len(scores))
    if strength <= 0.0 or count == 0:
        return list(range(count))
    highest = max(scores)
    relevance = (1.0 - strength) * np.asarray(scores, np.float64) / (highest if highest > 0.0 else 1.0)
    closest = np.zeros(len(scores))
    chosen = [int(np.argmax(relevance))]
    while len(chosen) < count:
        relevance[chosen[-1]] = -np.inf
        closest = np.maximum(closest, np.asarray(similarity(chosen[-1]), np.float64))
        chosen.append(int(np.argmax(relevance - strength * closest)))
    return chosen
