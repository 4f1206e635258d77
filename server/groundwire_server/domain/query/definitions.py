"""Of several candidates that define one object, the current definition comes first.

The index states which one is current: an edge `RedefinedBy` leads to it from each older definition.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groundwire_server.domain.search.candidates import Floats, Positions, as_positions

REDEFINED_BY = "redefinedby"
"""The type of edges from an older definition to the current one, case-folded."""


@dataclass(frozen=True, slots=True, eq=False)
class DefinitionScores:
    """The scores `final` of candidates [n] by this rule, and the reasons.

    `older_counts` are the older definitions of a current one's object, `best_older` the highest score of these, NaN for
    none. `factors` are the given factor for an older definition, else 1.
    """

    final: Floats
    older_counts: NDArray[np.int64]
    best_older: Floats
    factors: Floats


def current_first(scores: Floats, older: Positions, newer: Positions, factor: float) -> DefinitionScores:
    """Gives each current definition the best score of its object, and lowers the scores of the older ones.

    `scores` [n] are at least 0. At the places `older` [m] are older definitions of the objects that those at the places
    `newer` [m] define as well. The score of an older definition is multiplied by `factor`, which is below 1.
    """
    ends = _current_definitions(older, newer)
    older, current = as_positions(ends), as_positions(ends.values())
    factors, best_older = np.ones(len(scores)), np.full(len(scores), np.nan)
    factors[older] = factor
    np.fmax.at(best_older, current, scores.take(older))
    final = np.fmax(scores, best_older) * factors
    return DefinitionScores(final, np.bincount(current, minlength=len(scores)), best_older, factors)


def _current_definitions(older: Positions, newer: Positions) -> dict[int, int]:
    """The current definition for each older one: the end of its chain of newer ones; none for a chain without an end.

    Of several newer definitions the last one counts.
    """
    following = dict(sorted(zip(older.tolist(), newer.tolist(), strict=True)))
    if following.keys().isdisjoint(following.values()):
        return following
    ends: dict[int, int | None] = {}
    for first in following:
        chain: dict[int, None] = {}
        place = first
        while place in following and place not in ends and place not in chain:
            chain[place] = None
            place = following[place]
        ends |= dict.fromkeys(chain, None if place in chain else ends.get(place, place))
    return {place: end for place, end in ends.items() if end is not None}
