"""A layered drawing: steps in rows by rank, branches as chains of points through the rows between (Sugiyama's method).

Steps stand in the even rows. A branch has a point in every row between its ends, so that it never crosses a step, and
its label stands at the first of them, in an odd row.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean

from groundwire_pipelines.drawing.branches import Branch
from groundwire_pipelines.drawing.spreading import spread

_GAP = 28.0
_SWEEPS = 24
_BEND_WEIGHT = 8.0  # how much rather a step gives way than a long branch bends


@dataclass(slots=True)
class Point:
    """A step or a bend of a branch; `x` is its centre. `above` and `below` are the points it is joined to."""

    row: int
    width: float
    x: float
    above: "list[Point]"
    below: "list[Point]"


@dataclass(frozen=True, slots=True)
class Layout:
    """Where everything stands across: the steps by id, and the bends of each forward branch from top to bottom."""

    steps: Mapping[str, Point]
    bends: Mapping[Branch, Sequence[Point]]
    rows: Sequence[Sequence[Point]]


def lay_out(ranks: Mapping[str, int], widths: Mapping[str, float], forward: Mapping[Branch, float]) -> Layout:
    """Lays out steps and loop-free branches.

    Args:
        ranks: The rank of each step; a branch leads to a higher one.
        widths: How wide each step is.
        forward: The branches, each with the width of its label.
    """
    rows: list[list[Point]] = [[] for _ in range(2 * max(ranks.values()) + 1)]
    steps = {step: _add(rows, 2 * rank, widths[step]) for step, rank in ranks.items()}
    bends: dict[Branch, list[Point]] = {}
    for branch, label_width in forward.items():
        first, last = steps[branch.source].row + 1, steps[branch.target].row
        bends[branch] = [_add(rows, row, label_width if row == first else 0.0) for row in range(first, last)]
        chain = [steps[branch.source], *bends[branch], steps[branch.target]]
        for upper, lower in pairwise(chain):
            upper.below.append(lower)
            lower.above.append(upper)
    _order(rows)
    _place(rows)
    return Layout(steps, bends, rows)


def _add(rows: list[list[Point]], row: int, width: float) -> Point:
    point = Point(row, width, float(len(rows[row])), [], [])
    rows[row].append(point)
    return point


def _order(rows: list[list[Point]]) -> None:
    """Orders every row by the mean place of its neighbours, downwards and upwards in turn; keeps the best."""
    best = [list(row) for row in rows]
    fewest = _crossings(rows)
    for sweep in range(_SWEEPS):
        downwards = sweep % 2 == 0
        for row in rows if downwards else reversed(rows):
            # Points that want the same place swap in every other pair of sweeps, or a poor start would last.
            start = row if sweep % 4 < 2 else row[::-1]
            wanted = {id(point): fmean(near.x for near in _neighbours(point, downwards)) for point in row}
            row[:] = sorted(start, key=lambda point: wanted[id(point)])
            _number(row)
        crossings = _crossings(rows)
        if crossings < fewest:
            best, fewest = [list(row) for row in rows], crossings
    rows[:] = best
    for row in rows:
        _number(row)


def _neighbours(point: Point, downwards: bool) -> Sequence[Point]:
    return (point.above if downwards else point.below) or [point]


def _number(row: Sequence[Point]) -> None:
    for place, point in enumerate(row):
        point.x = float(place)


def _crossings(rows: Sequence[Sequence[Point]]) -> int:
    count = 0
    for row in rows:
        ends = [(upper.x, lower.x) for upper in row for lower in upper.below]
        count += sum(
            (ends[one][0] - ends[other][0]) * (ends[one][1] - ends[other][1]) < 0
            for one in range(len(ends))
            for other in range(one)
        )
    return count


def _place(rows: Sequence[Sequence[Point]]) -> None:
    """Moves points towards their neighbours as far as the order and the widths of their rows let them."""
    for row in rows:
        _spread_row(row, [0.0] * len(row))
    for sweep in range(_SWEEPS):
        downwards = sweep % 2 == 0
        for row in rows if downwards else reversed(rows):
            _spread_row(row, [fmean(near.x for near in _neighbours(point, downwards)) for point in row])
    for row in rows:
        _spread_row(row, [fmean(near.x for near in (point.above + point.below or [point])) for point in row])


def _spread_row(row: Sequence[Point], wanted: Sequence[float]) -> None:
    widths = [point.width + _GAP for point in row]
    weights = [_BEND_WEIGHT if point.width == 0 else 1.0 for point in row]
    for point, x in zip(row, spread(wanted, widths, weights), strict=True):
        point.x = x
