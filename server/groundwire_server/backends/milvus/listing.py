"""The best rows of a retriever: Milvus proposes by scores in single precision, exact scores decide.

The proposed candidates bound the others: the exact score of any other row is at most `rest`. While that could still
change the list, more is asked for, four times as much each time up to what Milvus gives, then of half the rows at a
time.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from groundwire_index.milvus.rows import Rows
from groundwire_index.milvus.store import MOST_ROWS, Hits
from groundwire_server.backends.milvus.filter_expression import both, rows_from
from groundwire_server.backends.milvus.version import OpenVersion
from groundwire_server.backends.shared.scoring import NO_ROWS, RankedRows, top_rows
from groundwire_server.domain.search.candidates import Floats, Positions

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

    def wider(self) -> list["_Part"]:
        """The next request when this one was not enough."""
        if self.limit < MOST_ROWS:
            return [_Part(self.first, self.end, min(self.limit * _GROWTH, MOST_ROWS))]
        middle = (self.first + self.end) // 2
        return [_Part(self.first, middle, MOST_ROWS), _Part(middle, self.end, MOST_ROWS)]


class Listing:
    """The list of one retriever: at most `count` rows whose exact score is at least `least`, best first."""

    def __init__(
        self, propose: Callable[[int, int, int], Proposal], count: int, least: float, node_count: int, margin: int
    ) -> None:
        """`propose(first, end, limit)` requests about `limit` rows; `margin` is added to the count."""
        self._propose = propose
        self._count = count
        self._least = least
        self._asked = [_Part(0, node_count, min(count + margin, MOST_ROWS))]
        self._open: list[tuple[_Part, float]] = []
        self.ranked: RankedRows = NO_ROWS

    @property
    def is_done(self) -> bool:
        """True if `ranked` is the list."""
        return not self._asked

    def proposed(self) -> Positions:
        """Asks for more rows; gives those that may be new, ascending."""
        found = [(part, self._propose(part.first, part.end, part.limit)) for part in self._asked]
        self._open = [(part, proposal.rest) for part, proposal in found]
        return np.unique(np.concatenate([np.empty(0, dtype=np.int64), *(proposal.rows for _, proposal in found)]))

    def settle(self, rows: Positions, scores: Floats) -> None:
        """Takes what `proposed` gave with the exact scores [m]."""
        fresh = np.flatnonzero((scores >= self._least) & ~np.isin(rows, self.ranked.rows))
        both = self.ranked.followed_by(RankedRows(rows[fresh], scores[fresh]))
        self.ranked = top_rows(both.rows, both.scores, self._count)
        is_full = len(self.ranked) == self._count
        # A row that only ties with the last one may come before it.
        demanded = self.ranked.scores[-1].item() if is_full else self._least
        self._asked = [
            wider for part, rest in self._open if rest >= demanded and rest != -np.inf for wider in part.wider()
        ]


EPSILON = 2.0**-23
"""Of single precision."""
POSITIVE = float(np.nextafter(0.0, 1.0))
"""The least score above 0."""


class MilvusRetriever(Protocol):
    """One retriever with what one search asks of it."""

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields of a node that its score is computed from."""
        ...

    @property
    def least(self) -> float:
        """The least score of a listed row."""
        ...

    def margin(self, count: int) -> int:
        """The number of rows requested on top of `count`, so that one request is usually enough."""
        ...

    def propose(self, first: int, end: int, limit: int) -> Proposal:
        """The `limit` rows of a range that Milvus scores highest, or a few more."""
        ...

    def scores(self, nodes: Rows) -> Floats:
        """The exact scores of nodes [m], from the fields that were read; NaN for one that cannot be scored."""
        ...


def within(version: OpenVersion, allowed: str, first: int, end: int) -> str:
    """The expression of the allowed rows of a range."""
    is_all = first == 0 and end == version.manifest.node_count
    return allowed if is_all else both(allowed, rows_from(first, end))


def lowest_of(hits: Hits, limit: int, size: int) -> float:
    """The score that no row of a range of some size exceeds that was not found; -inf where all were."""
    return -np.inf if len(hits.rows) < limit or size <= limit else float(hits.scores[-1])
