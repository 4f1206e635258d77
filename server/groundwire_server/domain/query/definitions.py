"""Of several candidates that define one object, the current definition comes first.

The index states which one is current: an edge `RedefinedBy` leads to it from each older definition.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groundwire_server.domain.query.ranking_parameters import OLDER_DEFINITION_FACTOR
from groundwire_server.domain.search.candidates import Floats

REDEFINED_BY = "redefinedby"
"""The type of edges from an older definition to the current one, case-folded."""


@dataclass(frozen=True, slots=True, eq=False)
class DefinitionScores:
    """What definitions [n] get by being older or current; `final` are their scores then.

    `older_counts` are the older definitions of a current one's object, `best_older` the highest score of these, NaN for
    none. `factors` are OLDER_DEFINITION_FACTOR for an older definition, else 1.
    """

    final: Floats
    older_counts: NDArray[np.int64]
    best_older: Floats
    factors: Floats


def current_first(scores: Floats, redefined: Iterable[tuple[int, int]]) -> DefinitionScores:
    """The scores [n], at least 0, of which a current definition has the best of its object, and older ones a part.

    `redefined` are pairs of the places of an older and a newer definition.
    """
    older_counts, best_older = np.zeros(len(scores), dtype=np.int64), np.full(len(scores), np.nan)
    factors = np.ones(len(scores))
    for older, current in _current_definitions(redefined).items():
        older_counts[current] += 1
        best_older[current] = np.fmax(best_older[current], scores[older])
        factors[older] = OLDER_DEFINITION_FACTOR
    return DefinitionScores(np.fmax(scores, best_older) * factors, older_counts, best_older, factors)


def _current_definitions(redefined: Iterable[tuple[int, int]]) -> dict[int, int]:
    """The current definition for each older one: the last of a chain; none where a chain has no end."""
    newer: dict[int, int] = {}
    for older, current in sorted(redefined):
        newer[older] = current
    return {older: last for older in newer if (last := _last(older, newer)) is not None}


def _last(place: int, newer: Mapping[int, int]) -> int | None:
    for _ in range(len(newer) + 1):
        if place not in newer:
            return place
        place = newer[place]
    return None
