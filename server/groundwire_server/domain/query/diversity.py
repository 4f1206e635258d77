"""Matches that are similar to better ones are held back: maximal marginal relevance.

Carbonell and Goldstein, "The Use of MMR, Diversity-Based Reranking for Reordering Documents and Producing Summaries",
SIGIR 1998.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from groundwire_server.domain.search.candidates import Floats


def diversify(scores: Floats, similarities: Callable[[int], Floats], strength: float, count: int) -> list[int]:
    """The places of at most `count` items, in the order they are chosen.

    `scores` [n] are at least 0, best first. `similarities(place)` gives the similarity of that item to every item [n],
    itself included; it is asked at most once an item, and only for items that others are chosen after. Each choice
    takes the highest `(1 - strength) * score / highest score - strength * max(0, highest similarity to a chosen one)`,
    ties the earlier one. A strength of 0 takes the first `count`.
    """
    count = min(count, len(scores))
    if strength <= 0.0 or count == 0:
        return list(range(count))
    highest = scores.max()
    relevance = (1.0 - strength) * scores / (highest if highest > 0.0 else 1.0)
    closest = np.zeros(len(scores))
    chosen = [int(np.argmax(relevance))]
    while len(chosen) < count:
        relevance[chosen[-1]] = -np.inf
        closest = np.maximum(closest, similarities(chosen[-1]))
        chosen.append(int(np.argmax(relevance - strength * closest)))
    return chosen


def cosines(units: NDArray[np.float64], unit: NDArray[np.float64]) -> Floats:
    """Cosine similarity of each unit vector [m, dimension] to another [dimension]; each depends on its vector alone."""
    products: Floats = (units * unit).sum(axis=1)
    return products.clip(-1.0, 1.0, out=products)
