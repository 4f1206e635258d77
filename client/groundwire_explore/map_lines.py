"""Lines between the areas of a map that do not cross its names.

A line is a quadratic Bézier curve. It begins and ends at a point of its area where no name is. Of several such curves
it is the first one that crosses no name. Where each of them crosses some, it is the one that does so least, and it is
interrupted at the names.
"""

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise, product
from typing import NamedTuple

from groundwire_explore.layout import Rectangle

_CLEARANCE = 3.0
"""The pixels between a line and a name."""
_ROOM_OF_END = 9.0
"""The pixels between the end of a line, which may have an arrow, and a name."""
_SHORTEST_PIECE = 4.0
"""Pieces between two names that are shorter are left out."""
_ROUNDING = 1e-6
_ENDS = ((0.5, 0.6), (0.5, 0.8), (0.5, 0.4), (0.3, 0.6), (0.7, 0.6), (0.3, 0.8), (0.7, 0.8), (0.8, 0.3), (0.9, 0.5))
"""Where a line may end, as shares of the area's width and height; the first free ones are tried."""
_MOST_ENDS = 4
_BENDS = (0.16, 0.08, 0.24)
"""How far a line is bent, as shares of its length. All are to the left of its direction, so that the lines of both
directions lie apart."""


class Point(NamedTuple):
    """A point of the drawing."""

    x: float
    y: float


class Arc(NamedTuple):
    """A quadratic Bézier curve."""

    start: Point
    control: Point
    end: Point

    def at(self, share: float) -> Point:
        """The point at a share of the curve's parameter, from 0 to 1."""
        rest = 1 - share
        weights = rest * rest, 2 * rest * share, share * share
        return Point(
            sum(weight * point.x for weight, point in zip(weights, self, strict=True)),
            sum(weight * point.y for weight, point in zip(weights, self, strict=True)),
        )

    def piece(self, first: float, last: float) -> "Arc":
        """The part of the curve between two shares."""
        low, high = _between(self.start, self.control, first), _between(self.control, self.end, first)
        return Arc(self.at(first), _between(low, high, last), self.at(last))

    @property
    def length(self) -> float:
        """An upper bound of the length."""
        return math.dist(self.start, self.control) + math.dist(self.control, self.end)


class MapLine(NamedTuple):
    """A line as an SVG path, and the place of its label."""

    path: str
    label: Point


class MapLines:
    """Draws lines that keep clear of names."""

    def __init__(self, names: Sequence[Rectangle]) -> None:
        self._names = names
        self._clear_of_lines = [_grown(name, _CLEARANCE) for name in names]
        self._clear_of_ends = [_grown(name, _ROOM_OF_END) for name in names]
        self._ends: dict[Rectangle, list[Point]] = {}

    def line(self, start: Rectangle, end: Rectangle, label_size: tuple[float, float]) -> MapLine:
        """The line from one area to another, given the size of its label."""
        candidates: list[tuple[float, int, Arc, list[tuple[float, float]]]] = []
        for first, last, bend in product(self._ends_in(start), self._ends_in(end), _BENDS):
            arc = _bent(first, last, bend)
            covered = covered_shares(arc, self._clear_of_lines)
            candidates.append((arc.length * sum(high - low for low, high in covered), len(candidates), arc, covered))
            if not covered:
                break
        _, _, arc, covered = min(candidates)
        return MapLine(_path(arc, covered), _label_place(arc, self._names, label_size))

    def _ends_in(self, area: Rectangle) -> list[Point]:
        """Some points of an area away from names; its middle, and the middle of its lower side, if no other one is."""
        if area not in self._ends:
            x, y, width, height = area
            points = [Point(x + across * width, y + down * height) for across, down in _ENDS]
            free = [point for point in points if not any(_holds(name, point) for name in self._clear_of_ends)]
            self._ends[area] = free[:_MOST_ENDS] or [points[0], Point(x + width / 2, y + height)]
        return self._ends[area]


def covered_shares(arc: Arc, rectangles: Iterable[Rectangle]) -> list[tuple[float, float]]:
    """The parts of a curve inside of rectangles, by its parameter: they rise, and lie apart."""
    inside: list[tuple[float, float]] = []
    for x, y, width, height in _near(arc, rectangles):
        borders = [
            *_meeting(arc.start.x, arc.control.x, arc.end.x, (x, x + width)),
            *_meeting(arc.start.y, arc.control.y, arc.end.y, (y, y + height)),
        ]
        for low, high in pairwise(sorted({0.0, 1.0, *borders})):
            middle = arc.at((low + high) / 2)
            if x <= middle.x <= x + width and y <= middle.y <= y + height:
                inside.append((low, high))
    return _joined(inside)


def _near(arc: Arc, rectangles: Iterable[Rectangle]) -> list[Rectangle]:
    """The rectangles that a curve may meet: those that are not beyond it along an axis, nor beside it."""
    low_x, high_x = min(point.x for point in arc), max(point.x for point in arc)
    low_y, high_y = min(point.y for point in arc), max(point.y for point in arc)
    chord = math.dist(arc.start, arc.end) or 1.0
    # The direction across the chord. The curve is at most half as far from the chord as its control point.
    across, down = (arc.start.y - arc.end.y) / chord, (arc.end.x - arc.start.x) / chord
    farthest = ((arc.control.x - arc.start.x) * across + (arc.control.y - arc.start.y) * down) / 2
    lowest, highest = min(farthest, 0.0) - _ROUNDING, max(farthest, 0.0) + _ROUNDING
    near: list[Rectangle] = []
    for rectangle in rectangles:
        x, y, width, height = rectangle
        if x > high_x or x + width < low_x or y > high_y or y + height < low_y:
            continue
        middle = (x + width / 2 - arc.start.x) * across + (y + height / 2 - arc.start.y) * down
        reach = (width * abs(across) + height * abs(down)) / 2
        if lowest <= middle + reach and middle - reach <= highest:
            near.append(rectangle)
    return near


def _meeting(start: float, control: float, end: float, borders: Iterable[float]) -> Iterable[float]:
    """Where one coordinate of a curve has the values of borders."""
    square, linear = start - 2 * control + end, 2 * (control - start)
    for border in borders:
        constant = start - border
        if abs(square) < 1e-9:
            roots = [-constant / linear] if abs(linear) > 1e-9 else []
        else:
            inside = linear * linear - 4 * square * constant
            reach = math.sqrt(inside) if inside >= 0 else math.nan
            roots = [(-linear + reach) / (2 * square), (-linear - reach) / (2 * square)]
        yield from (root for root in roots if 0 < root < 1)


def _joined(spans: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    joined: list[tuple[float, float]] = []
    for low, high in sorted(spans):
        if joined and low <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(high, joined[-1][1])
        else:
            joined.append((low, high))
    return joined


def _holds(rectangle: Rectangle, point: Point) -> bool:
    x, y, width, height = rectangle
    return x <= point.x <= x + width and y <= point.y <= y + height


def _bent(start: Point, end: Point, bend: float) -> Arc:
    across, down = end.x - start.x, end.y - start.y
    middle = _between(start, end, 0.5)
    return Arc(start, Point(middle.x + down * bend, middle.y - across * bend), end)


def _path(arc: Arc, covered: Sequence[tuple[float, float]]) -> str:
    """The curve without what is covered, which may be nothing."""
    starts = [0.0, *(high for _, high in covered)]
    ends = [*(low for low, _ in covered), 1.0]
    pieces = [arc.piece(low, high) for low, high in zip(starts, ends, strict=True) if low < high]
    return "".join(
        f"M{start.x:.1f} {start.y:.1f}Q{control.x:.1f} {control.y:.1f} {end.x:.1f} {end.y:.1f}"
        for start, control, end in pieces
        if math.dist(start, end) >= _SHORTEST_PIECE
    )


_PLACES = (0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8)
"""Where a label may be, as shares of its line."""


def _label_place(arc: Arc, names: Sequence[Rectangle], size: tuple[float, float]) -> Point:
    """A place of the label's middle where it hides no name, or the middle of the line."""
    width, height = size
    for share in _PLACES:
        point = arc.at(share)
        label = Rectangle(point.x - width / 2, point.y - height / 2, width, height)
        if not any(_overlap(label, name) for name in names):
            return point
    return arc.at(0.5)


def _overlap(label: Rectangle, name: Rectangle) -> bool:
    return (
        label.x < name.x + name.width
        and name.x < label.x + label.width
        and label.y < name.y + name.height
        and name.y < label.y + label.height
    )


def _grown(rectangle: Rectangle, by: float) -> Rectangle:
    x, y, width, height = rectangle
    return Rectangle(x - by, y - by, width + 2 * by, height + 2 * by)


def _between(start: Point, end: Point, share: float) -> Point:
    return Point(start.x + (end.x - start.x) * share, start.y + (end.y - start.y) * share)
