"""What one source proposes for a query: its list, and its score of any row that another source proposes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from groundwire_server.backends.embedded.ranking import RankedRow
from groundwire_server.backends.embedded.visibility import Visibility
from groundwire_server.domain.query import Source

RowScores: TypeAlias = Callable[[NDArray[np.int64]], NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class Proposal:
    """A source's list, best first. `scores_of` scores allowed rows [m]; NaN means that a row cannot be scored.

    `exact` is False when a better row may have been missed. `file_scores_of` scores the files of rows [m], by a source
    that does; NaN for a row without one.
    """

    source: Source
    ranked: list[RankedRow]
    scores_of: RowScores
    exact: bool = True
    file_scores_of: RowScores | None = None


class CandidateSource(Protocol):
    """A source with the query that it is asked."""

    def propose(self, visibility: Visibility, allowed: NDArray[np.bool_]) -> Proposal:
        """The best of the allowed rows, a mask [n] within the visible ones."""
        ...
