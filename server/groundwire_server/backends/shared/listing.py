"""The best rows of a retriever: an engine proposes by scores that are not quite exact, and exact scores decide.

Each proposal comes with `rest`: no row that it lacks has a higher exact score. While such a row could still change the
list, the engine is asked again: for four times as many rows, up to its limit, and then for those of each half.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from groundwire_server.backends.shared.scoring import NO_ROWS, RankedRows, top_rows
from groundwire_server.domain.search.candidates import Floats, Positions

EPSILON = float(np.finfo(np.float32).eps)
"""Of single precision."""
POSITIVE = float(np.nextafter(0.0, 1.0))
"""The least score above 0."""
_GROWTH = 4


class Proposal(NamedTuple):
    """Rows [m], and the highest exact score that any other row can have; -inf when there are no other rows."""

    rows: Positions
    rest: float


@dataclass(frozen=True, slots=True)
class _Part:
    """Rows of a range: from `first` on and before `end`; `limit` rows are requested."""

    first: int
    end: int
    limit: int

    def wider(self, most: int) -> list["_Part"]:
        """The next requests when this one was not enough; each can be for `most` rows."""
        if self.limit < most:
            return [_Part(self.first, self.end, min(self.limit * _GROWTH, most))]
        middle = (self.first + self.end) // 2
        return [_Part(self.first, middle, most), _Part(middle, self.end, most)]


class Listing:
    """The list of one retriever: at most `count` rows whose exact score is at least `least`, best first."""

    def __init__(
        self, propose: Callable[[int, int, int], Proposal], count: int, least: float, rows: int, margin: int, most: int
    ) -> None:
        """`propose(first, end, limit)` requests about `limit` rows, at most `most`; `margin` is added to the count."""
        self._propose = propose
        self._count = count
        self._least = least
        self._most = most
        self._asked = [_Part(0, rows, min(count + margin, most))]
        self._open: list[tuple[_Part, float]] = []
        self.ranked: RankedRows = NO_ROWS

    @property
    def is_done(self) -> bool:
        """True if `ranked` is the list."""
        return not self._asked

    def proposed(self) -> Positions:
        """Asks for more rows; gives those that may be new, ascending."""
        proposals = [(part, self._propose(part.first, part.end, part.limit)) for part in self._asked]
        self._open = [(part, proposal.rest) for part, proposal in proposals]
        return np.unique(np.concatenate([np.empty(0, dtype=np.int64), *(proposal.rows for _, proposal in proposals)]))

    def settle(self, rows: Positions, scores: Floats) -> None:
        """Takes what `proposed` gave with the exact scores [m]."""
        fresh = scores >= self._least
        if len(self.ranked):
            fresh &= ~np.isin(rows, self.ranked.rows)
        both = self.ranked.followed_by(RankedRows(rows[fresh], scores[fresh]))
        self.ranked = top_rows(both.rows, both.scores, self._count)
        is_full = len(self.ranked) == self._count
        # A row that only ties with the last one may come before it.
        demanded = self.ranked.scores[-1].item() if is_full else self._least
        unsettled = [part for part, rest in self._open if rest >= demanded and rest != -np.inf]
        self._asked = [wider for part in unsettled for wider in part.wider(self._most)]

    def settled(self, scores: Callable[[Positions], Floats]) -> RankedRows:
        """The list, asked for to its end, by the exact scores of rows [m]."""
        while not self.is_done:
            rows = self.proposed()
            self.settle(rows, scores(rows))
        return self.ranked


def rounding_error(dimension: int) -> float:
    """How far a product of unit vectors in single precision, in any order, is from that of exact arithmetic."""
    return (dimension + 8) * EPSILON
