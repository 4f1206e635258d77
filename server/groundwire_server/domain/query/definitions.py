"""Of several candidates that define one object, the current definition comes first.

The index states which one is current: an edge `RedefinedBy` leads to it from each older definition.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groundwire_server.domain.query.ranking_parameters import OLDER_DEFINITION_FACTOR
from groundwire_server.domain.search.candidates import Floats

REDEFINED_BY = "redefinedby"
"""The type of edges from an older definition to the current one, case-folded."""


@dataclass(frozen=True, slots=True, eq=False)
class DefinitionScores:
    """The scores `final` of candidates [n] by this rule, and the reasons.

    `older_counts` are the older definitions of a current one's object, `best_older` the highest score of these, NaN for
    none. `factors` are OLDER_DEFINITION_FACTOR for an older definition, else 1.
    """

    final: Floats
    older_counts: NDArray[np.int64]
    best_older: Floats
    factors: Floats


def current_first(scores: Floats, redefined: Iterable[tuple[int, int]]) -> DefinitionScores:
    """Gives each current definition the best score of its object, and lowers the scores of the older ones.

    `scores` [n] are at least 0. `redefined` are pairs of the places of an older and a newer definition.
    """
    older_counts, best_older = np.zeros(len(scores), dtype=np.int64), np.full(len(scores), np.nan)
    factors = np.ones(len(scores))
    for older, current in _current_definitions(redefined).items():
        older_counts[current] += 1
        best_older[current] = np.fmax(best_older[current], scores[older])
        factors[older] = OLDER_DEFINITION_FACTOR
    return DefinitionScores(np.fmax(scores, best_older) * factors, older_counts, best_older, factors)


def _current_definitions(redefined: Iterable[tuple[int, int]]) -> dict[int, int]:
    """The current definition for each older one: the end of its chain of newer ones; none for a chain without an end.

    Of several newer definitions the last one counts.
    """
    newer = dict(sorted(redefined))
    ends: dict[int, int | None] = {}
    for older in newer:
        chain: dict[int, None] = {}
        place = older
        while place in newer and place not in ends and place not in chain:
            chain[place] = None
            place = newer[place]
        ends |= dict.fromkeys(chain, None if place in chain else ends.get(place, place))
    return {older: end for older, end in ends.items() if end is not None}
