"""What changes a candidate's score besides the sources: its file, what kind of text it is, its neighbours, repetition.

A question about a repository is answered by a place in it. The words of the question stand in the whole file rather
than in the member that answers; tests, prose and fragments repeat the words of what they are about; what answers is
joined with other things that match; and a file that matches has many members that do. Each is one rule with one
parameter.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from heapq import heapify, heappop, heappush

from groundwire_server.domain.query import QueryClass, RankingParameters

PROSE_PREFIX = "DOC_"
"""How the corpus types of prose begin."""
FRAGMENT_CHARS = 80
"""A text of fewer characters is a fragment."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """Ranking parameters without gaps, each in [0, 1]; see `groundwire.v1.RankingParameters`."""

    file_weight: float
    test_factor: float
    generated_factor: float
    prose_factor: float
    fragment_factor: float
    graph_weight: float
    repeat_factor: float


BY_WORDS = Ranking(
    file_weight=0.3,
    test_factor=0.5,
    generated_factor=0.5,
    prose_factor=0.75,
    fragment_factor=0.85,
    graph_weight=0.3,
    repeat_factor=0.85,
)
"""For questions in words. `docs/adr/0028-rules-that-rank-repositories.md` tells how the numbers were chosen."""
BY_NAME = Ranking(
    file_weight=0.0,
    test_factor=1.0,
    generated_factor=1.0,
    prose_factor=1.0,
    fragment_factor=1.0,
    graph_weight=0.0,
    repeat_factor=1.0,
)
"""Who asks for a name, a path or a quotation gets what is called or written so, whatever stands around it."""
_DEFAULTS: Mapping[QueryClass, Ranking] = {
    QueryClass.NATURAL_LANGUAGE: BY_WORDS,
    QueryClass.MIXED: BY_WORDS,
    QueryClass.IDENTIFIER: BY_NAME,
    QueryClass.QUOTED: BY_NAME,
    QueryClass.PATH: BY_NAME,
}


@dataclass(frozen=True, slots=True)
class Traits:
    """What kind of text a candidate is."""

    is_test: bool = False
    is_generated: bool = False
    is_prose: bool = False
    is_fragment: bool = False


def effective_ranking(given: RankingParameters, query_class: QueryClass) -> Ranking:
    """The parameters given, and for the others the defaults of the query's class."""
    return replace(_DEFAULTS[query_class], **{name: one for name, one in asdict(given).items() if one is not None})


def trait_factor(traits: Traits, asked: Traits, ranking: Ranking) -> float:
    """The product of the factors of what the text is and the question, by `asked`, is not about."""
    factor = 1.0
    if traits.is_test and not asked.is_test:
        factor *= ranking.test_factor
    if traits.is_generated and not asked.is_generated:
        factor *= ranking.generated_factor
    if traits.is_prose and not asked.is_prose:
        factor *= ranking.prose_factor
    return factor * ranking.fragment_factor if traits.is_fragment else factor


def shares_of_best(scores: Sequence[float]) -> list[float]:
    """Scores of at least 0 as shares of the highest; all 0 when that is 0."""
    highest = max(scores, default=0.0)
    return [score / highest if highest > 0.0 else 0.0 for score in scores]


def spread_out(
    scores: Sequence[float], files: Sequence[int | None], factor: float, count: int
) -> list[tuple[int, float]]:
    """The positions of the best `count` items, each with `factor` to the power of the better items of its file.

    Scores are at least 0, best first, and count as multiplied by that. Equal ones keep their order. None is no file.
    """
    nearest: dict[int, int] = {}
    following: dict[int, int] = {}
    for position in reversed(range(len(files))):
        file = files[position]
        if file is not None:
            if file in nearest:
                following[position] = nearest[file]
            nearest[file] = position
    # Of each file only the next item competes: the others cannot come before it, and need no new score for each chosen.
    first = [position for position, file in enumerate(files) if file is None or nearest[file] == position]
    waiting = [(-scores[position], position, 0) for position in first]
    heapify(waiting)
    chosen: list[tuple[int, float]] = []
    while waiting and len(chosen) < count:
        _, position, better = heappop(waiting)
        chosen.append((position, factor**better))
        if position in following:
            after = following[position]
            heappush(waiting, (-scores[after] * factor ** (better + 1), after, better + 1))
    return chosen
