"""The rows between two sets of rows, and the links along which paths lead from one set to the other.

The rows are reached level by level from both sets within a limit of nodes. A level counts whole or not at all. So the
rows reached depend only on the rows that exist, never on the order of reading. They include every path within the hops
that the levels span. Of the edges between two rows the link is one that is no mention, and then the most confident one.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from groundwire_index.files.spans import is_first_of_pair
from groundwire_server.backends.selected_graph import Neighbours, Rows, SelectedGraph
from groundwire_server.domain.graph.paths import MENTIONS
from groundwire_server.execution.call import Checkpoint

_NONE: Rows = np.empty(0, dtype=np.int64)


@dataclass(slots=True)
class _Side:
    """The rows reached from one set of ends by `depth` whole levels; infinite when there is nothing further.

    `last` is the last level, `known` the ends of both sides and all that was reached from this one, sorted.
    """

    onward: Neighbours
    last: Rows
    known: Rows
    depth: float = 0
    is_full: bool = False


class Between:
    """The rows between `starts` and `ends`, which are sorted and distinct. `inner` are those reached so far, sorted."""

    def __init__(
        self, starts: Rows, ends: Rows, onward: Neighbours, backward: Neighbours, max_nodes: int, checkpoint: Checkpoint
    ) -> None:
        """`onward` are the neighbours that a path may go on to, `backward` those that it may come from."""
        self.starts = starts
        self.ends = ends
        self.inner = _NONE
        self._max_nodes = max_nodes
        self._checkpoint = checkpoint
        known = np.union1d(starts, ends)
        self._sides = _Side(onward, starts, known), _Side(backward, ends, known)

    @property
    def hops(self) -> float:
        """All paths within this number of hops lie between: a level from each side, and the hop that joins them."""
        return sum(side.depth for side in self._sides) + 1

    def widen(self) -> bool:
        """Reaches a level more from the side whose last one is smaller, or else from the other; False without room."""
        candidates = sorted((side for side in self._sides if not side.is_full), key=lambda side: len(side.last))
        return any(map(self._advance, candidates))

    def _advance(self, side: _Side) -> bool:
        self._checkpoint()
        level, inner = _NONE, self.inner
        for piece in side.onward.ends_of(side.last):
            level = np.union1d(level, np.setdiff1d(piece, side.known))
            inner = np.union1d(inner, level)
            if len(inner) > self._max_nodes:
                side.is_full = True
                return False
        side.depth = side.depth + 1 if len(level) else math.inf
        side.last, side.known = level, np.union1d(side.known, level)
        self.inner = inner
        return True


class Links(NamedTuple):
    """Links, all arrays [m], no two of the same `near` and `far` row; sorted by these.

    A path goes from `near` to `far`. `is_onward` where the edge points that way, `is_mention` where its type is among
    `MENTIONS`; its type, confidence and line.
    """

    near: Rows
    far: Rows
    is_onward: NDArray[np.bool_]
    is_mention: NDArray[np.bool_]
    types: Rows
    confidences: NDArray[np.float32]
    lines: NDArray[np.int32]

    def taken(self, chosen: NDArray[np.integer] | NDArray[np.bool_]) -> "Links":
        """The links at some positions, or of a mask."""
        return Links(
            self.near[chosen],
            self.far[chosen],
            self.is_onward[chosen],
            self.is_mention[chosen],
            self.types[chosen],
            self.confidences[chosen],
            self.lines[chosen],
        )


def links_between(between: Between, graph: SelectedGraph, onward: Neighbours, max_hops: int) -> Links:
    """The links of all paths of at most `max_hops` hops among what was reached; `onward` as in `Between`."""
    near, far = np.union1d(between.starts, between.inner), np.union1d(between.inner, between.ends)
    followed = onward.among(near, far)
    edges, near = graph.edges(followed.positions), near.take(followed.places)
    is_onward = edges.from_rows == near
    is_mention = np.asarray([name.casefold() in MENTIONS for name in graph.edge_types], dtype=np.bool_)
    found_mentions = is_mention[followed.types]
    links = _best(Links(near, followed.ends, is_onward, found_mentions, followed.types, edges.confidences, edges.lines))
    return links.taken(_within(links, between.starts, between.ends, max_hops))


def _best(links: Links) -> Links:
    """One link for each two rows: no mention, then the most confident, then one that points the way, then by type."""
    links = links.taken(links.near != links.far)
    order = np.lexsort((links.types, ~links.is_onward, -links.confidences, links.is_mention, links.far, links.near))
    links = links.taken(order)
    return links.taken(is_first_of_pair(links.near, links.far))


def _within(links: Links, starts: Rows, ends: Rows, max_hops: int) -> NDArray[np.bool_]:
    """Which links lie on a way of at most `max_hops` hops from a start to an end."""
    rows = np.union1d(links.near, links.far)
    near, far = np.searchsorted(rows, links.near), np.searchsorted(rows, links.far)
    before = _hops(near, far, np.isin(rows, starts), max_hops)
    after = _hops(far, near, np.isin(rows, ends), max_hops)
    within: NDArray[np.bool_] = before.take(near) + 1 + after.take(far) <= max_hops
    return within


def _hops(
    near: NDArray[np.integer], far: NDArray[np.integer], sources: NDArray[np.bool_], most: int
) -> NDArray[np.int64]:
    """The hops from the nearest source to each row [n]; `most` or more where it takes as many."""
    hops = np.where(sources, 0, most)
    for depth in range(most):
        reached = far[hops.take(near) == depth]
        hops[reached] = np.minimum(hops[reached], depth + 1)
    return hops
