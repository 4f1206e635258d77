"""One list from the candidates of several retrievers: by rank, or by weighted scores.

By rank: Cormack, Clarke and Buettcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning
Methods", SIGIR 2009. By weight: a convex combination after Bruch, Gai and Ingber, "An Analysis of Fusion Functions for
Hybrid Retrieval", ACM TOIS 42(1), 2023. Scores of different retrievers have nothing in common, so a weighted sum needs
them normalised first; how, is a matter of the retriever. Retrievers that score 0 where nothing matches keep this
theoretical minimum as their zero.
"""

from collections.abc import Callable, Mapping, Sequence
from math import fsum

import numpy as np
from numpy.typing import NDArray

from groundwire_server.domain.search.candidates import Candidates, Floats, Positions
from groundwire_server.domain.search.search import Retriever

_HEAD = 10
_TAIL_SHARE = 0.1
_BEYOND_LISTS = np.iinfo(np.int64).max


def reciprocal_rank_fusion(ranks: Sequence[Positions], rrf_k: int) -> Floats:
    """The fused scores [n] of items by their 1-based ranks [n] in each list, 0 where it does not hold them.

    `score = sum over the lists holding an item of 1 / (rrf_k + rank)`, rounded once, so that equal ranks in different
    lists make equal scores.
    """
    return _sums([np.where(ranked > 0, 1.0 / (rrf_k + ranked), 0.0) for ranked in ranks])


def highest_fused(list_count: int, rrf_k: int) -> float:
    """The most that reciprocal rank fusion can give: the first place in each list."""
    return fsum([1.0 / (rrf_k + 1)] * list_count)


def weighted_fusion(candidates: Candidates, weights: Mapping[Retriever, float]) -> tuple[Positions, Floats]:
    """Positions [m], ascending, and their scores [m] in [0, 1]: the sum of weight times normalised score.

    A candidate in the list of any retriever of weight above 0 counts with its score by every retriever; others are left
    out. Weights are at least 0 and sum to 1.
    """
    counting = [(candidates.by_retriever[name], name) for name, weight in weights.items() if weight > 0.0]
    listed = np.zeros(len(candidates), dtype=np.bool_)
    for retriever_scores, _ in counting:
        listed |= retriever_scores.ranks > 0
    positions = np.flatnonzero(listed)
    shares = [
        weights[name] * NORMALISERS[name](retriever_scores.scores[positions]) for retriever_scores, name in counting
    ]
    return positions, np.minimum(1.0, _sums(shares)) if shares else np.zeros(0)


def alpha_weights(alpha: float, retrievers: Sequence[Retriever]) -> tuple[tuple[Retriever, float], ...]:
    """`alpha` for the dense retriever, the rest shared evenly by the others; in the order given, summing to 1.

    Without the dense retriever the others share 1, and alone it has 1.
    """
    others = len(retrievers) - (Retriever.DENSE in retrievers)
    dense = 0.0 if Retriever.DENSE not in retrievers else alpha if others else 1.0
    return tuple((name, dense if name is Retriever.DENSE else (1.0 - dense) / others) for name in retrievers)


def best_first(positions: Positions, scores: Floats) -> Positions:
    """Some positions by their scores, of all scores [n], descending, then by position."""
    return positions[np.lexsort((positions, -scores[positions]))]


def best_first_by_ranks(scores: Floats, ranks: Sequence[Positions]) -> Positions:
    """All positions by score descending, then by the lower rank in the first list, in the second and so on.

    A missing rank loses to any; the smaller position comes first at last.
    """
    keys = [np.where(ranked > 0, ranked, _BEYOND_LISTS) for ranked in reversed(ranks)]
    return np.lexsort((np.arange(len(scores)), *keys, -scores))


def by_range(scores: Floats) -> Floats:
    """`(score - lowest) / (highest - lowest)`, 1 for all when that is one score, 0 for none.

    Cosines of a good embedder lie close together, so that their distance from 0 says little.
    """
    present = ~np.isnan(scores)
    if not present.any():
        return np.zeros(len(scores))
    lowest, highest = scores[present].min(), scores[present].max()
    if highest <= lowest:
        return present.astype(np.float64)
    return np.where(present, (scores - lowest) / (highest - lowest), 0.0)


def by_lead(scores: Floats) -> Floats:
    """`(0.9 * max(0, score - eleventh) + 0.1 * score) / highest`, where `eleventh` is the eleventh highest score or 0.

    Words that many texts share give the first ten nearly the same BM25 score, and their order then says little.
    Therefore the distance of a text's score from those after the first ten counts. The small share of the score itself
    keeps the order of the others.
    """
    descending = -np.sort(-scores)
    if not len(scores) or descending[0] <= 0.0:
        return np.zeros(len(scores))
    eleventh = descending[_HEAD] if len(scores) > _HEAD else 0.0
    lead = (1.0 - _TAIL_SHARE) * np.maximum(0.0, scores - eleventh) + _TAIL_SHARE * scores
    normalised: Floats = lead / descending[0]
    return normalised


def as_it_is(scores: Floats) -> Floats:
    """A similarity in [0, 1] says by itself how good the best of them is."""
    return scores


NORMALISERS: Mapping[Retriever, Callable[[Floats], Floats]] = {
    Retriever.DENSE: by_range,
    Retriever.BM25_CODE: by_lead,
    Retriever.BM25_PROSE: by_lead,
    Retriever.TRIGRAM: as_it_is,
}


def _sums(columns: Sequence[NDArray[np.float64]]) -> Floats:
    """The sums [n] over columns [n], each rounded once."""
    return np.fromiter(map(fsum, zip(*(column.tolist() for column in columns), strict=True)), dtype=np.float64)
