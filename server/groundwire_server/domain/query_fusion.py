"""One list from the candidates of several sources: by rank, or by weighted scores.

Scores of different sources have nothing in common, so a weighted sum needs them normalised first; how, is a matter of
the source. Convex combination after Bruch, Gai and Ingber, "An Analysis of Fusion Functions for Hybrid Retrieval", ACM
TOIS 42(1), 2023. Sources that score 0 where nothing matches keep this theoretical minimum as their zero.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum

from groundwire_server.domain.candidates import Candidates, SourceScore
from groundwire_server.domain.fusion import reciprocal_rank_fusion
from groundwire_server.domain.query import Source

_HEAD = 10
_TAIL_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class FusedCandidate:
    """A candidate in the fused list: its position in `Candidates.items`, and what the fusion gives it.

    `relevance` is `fused` as a share of the most that the fusion can give, in [0, 1].
    """

    position: int
    fused: float
    relevance: float


def fuse_by_rank(candidates: Candidates, rrf_k: int) -> list[FusedCandidate]:
    """Reciprocal rank fusion of every asked source's list; by fused score descending, then position.

    The most that it can give is `number of lists / (rrf_k + 1)`: the first place in each.
    """
    lists = [_list_of(candidates, source) for source in candidates.sources]
    most = fsum([1.0 / (rrf_k + 1)] * len(lists))
    return _best_first(
        FusedCandidate(hit.item, hit.score, hit.score / most) for hit in reciprocal_rank_fusion(lists, rrf_k)
    )


def fuse_by_weight(candidates: Candidates, weights: Mapping[Source, float]) -> list[FusedCandidate]:
    """The sum over the sources of weight times normalised score; by fused score descending, then position.

    What a source of weight above 0 listed counts with its score in every source, whichever list it stands in; the rest
    is left out. Weights are at least 0 and sum to 1, so that `fused` is in [0, 1] and `relevance` the same.
    """
    counting = [source for source, weight in weights.items() if weight > 0.0]
    scores = [[item.of(source) for item in candidates.items] for source in counting]
    pool = sorted({position for column in scores for position, score in enumerate(column) if _is_listed(score)})
    columns = [
        NORMALISERS[source]([_score(column[position]) for position in pool])
        for source, column in zip(counting, scores, strict=True)
    ]
    fused = []
    for row, position in enumerate(pool):
        shares = (weights[source] * column[row] for source, column in zip(counting, columns, strict=True))
        score = min(1.0, fsum(shares))
        fused.append(FusedCandidate(position, score, score))
    return _best_first(fused)


def alpha_weights(alpha: float, sources: Sequence[Source]) -> tuple[tuple[Source, float], ...]:
    """`alpha` for the dense source, the rest shared evenly by the others; in the order of `sources`, summing to 1.

    Without the dense source the others share 1, and alone it has 1.
    """
    others = len(sources) - (Source.DENSE in sources)
    dense = 0.0 if Source.DENSE not in sources else alpha if others else 1.0
    return tuple((source, dense if source is Source.DENSE else (1.0 - dense) / others) for source in sources)


def _list_of(candidates: Candidates, source: Source) -> list[int]:
    listed = []
    for position, item in enumerate(candidates.items):
        score = item.of(source)
        if score is not None and score.rank is not None:
            listed.append((score.rank, position))
    return [position for _, position in sorted(listed)]


def _is_listed(score: SourceScore | None) -> bool:
    return score is not None and score.rank is not None


def _score(score: SourceScore | None) -> float | None:
    return None if score is None else score.score


def _best_first(fused: Iterable[FusedCandidate]) -> list[FusedCandidate]:
    return sorted(fused, key=lambda entry: (-entry.fused, entry.position))


def by_range(scores: Sequence[float | None]) -> list[float]:
    """`(score - lowest) / (highest - lowest)`, 1 for all when that is one score, 0 for none.

    Cosines of a good embedder lie close together, so that their distance from 0 says little.
    """
    present = [score for score in scores if score is not None]
    lowest, highest = min(present, default=0.0), max(present, default=0.0)
    if highest <= lowest:
        return [0.0 if score is None else 1.0 for score in scores]
    return [0.0 if score is None else (score - lowest) / (highest - lowest) for score in scores]


def by_lead(scores: Sequence[float | None]) -> list[float]:
    """`(0.9 * max(0, score - eleventh) + 0.1 * score) / highest`, where `eleventh` is the eleventh highest score or 0.

    Words that many texts share give the first ten nearly the same BM25 score, and their order then says little: what
    counts is by how much a text stands out from what comes after the first ten. The small share of the score itself
    keeps the order of the others.
    """
    present = sorted((score for score in scores if score is not None), reverse=True)
    highest = present[0] if present else 0.0
    if highest <= 0.0:
        return [0.0] * len(scores)
    eleventh = present[_HEAD] if len(present) > _HEAD else 0.0

    def normalise(score: float) -> float:
        return ((1.0 - _TAIL_SHARE) * max(0.0, score - eleventh) + _TAIL_SHARE * score) / highest

    return [0.0 if score is None else normalise(score) for score in scores]


def as_it_is(scores: Sequence[float | None]) -> list[float]:
    """A similarity in [0, 1] says by itself how good the best of them is."""
    return [score or 0.0 for score in scores]


NORMALISERS: Mapping[Source, Callable[[Sequence[float | None]], list[float]]] = {
    Source.DENSE: by_range,
    Source.BM25_CODE: by_lead,
    Source.BM25_NLP: by_lead,
    Source.TRIGRAM: as_it_is,
}
