"""Lines of a map: they lead from area to area, and cross no name."""

import re
from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_explore.drawing import Box, Drawing, written
from groundwire_explore.folders import Edges, Folder, Part
from groundwire_explore.layout import Rectangle
from groundwire_explore.map_lines import Arc, MapLines, Point, covered_shares
from groundwire_explore.overview import draw_parts

NUMBER = re.compile(r"-?\d+\.\d")
STEPS = 50
LABEL = (22.0, 15.0)
COORDINATES = st.floats(0, 400, allow_nan=False)
NAMES = st.lists(st.builds(Rectangle, COORDINATES, COORDINATES, st.floats(5, 120), st.floats(10, 18)), max_size=12)


def pieces(path: str) -> list[Arc]:
    """The curves of an SVG path."""
    numbers = [float(number) for number in NUMBER.findall(path)]
    points = [Point(x, y) for x, y in zip(numbers[::2], numbers[1::2], strict=True)]
    return [Arc(*points[first : first + 3]) for first in range(0, len(points), 3)]


def points(path: str) -> list[Point]:
    return [arc.at(step / STEPS) for arc in pieces(path) for step in range(STEPS + 1)]


def is_inside(point: Point, rectangle: Rectangle) -> bool:
    x, y, width, height = rectangle
    return x <= point.x <= x + width and y <= point.y <= y + height


def crossed(path: str, names: Sequence[Rectangle]) -> list[Rectangle]:
    return [name for name in names if any(is_inside(point, name) for point in points(path))]


@given(NAMES)
def test_a_line_crosses_no_name(names: list[Rectangle]) -> None:
    line = MapLines(names).line(Rectangle(0, 0, 150, 150), Rectangle(300, 250, 150, 150), LABEL)
    assert not crossed(line.path, names)


def test_a_line_goes_around_a_name_in_its_way() -> None:
    start, end, name = Rectangle(0, 0, 100, 100), Rectangle(300, 0, 100, 100), Rectangle(150, 20, 100, 20)
    straight_on = MapLines([]).line(start, end, LABEL)
    assert crossed(straight_on.path, [name])
    line = MapLines([name]).line(start, end, LABEL)
    assert not crossed(line.path, [name])
    assert len(pieces(line.path)) == 1


def test_a_line_is_interrupted_at_a_name_that_is_in_every_way() -> None:
    start, end, wall = Rectangle(0, 0, 100, 100), Rectangle(300, 0, 100, 100), Rectangle(180, -500, 30, 1_000)
    line = MapLines([wall]).line(start, end, LABEL)
    before, after = pieces(line.path)
    assert before.end.x == pytest.approx(177, abs=0.1)
    assert after.start.x == pytest.approx(213, abs=0.1)
    assert is_inside(before.start, start)
    assert is_inside(after.end, end)


def test_a_line_ends_away_from_the_names_of_its_areas() -> None:
    start, end = Rectangle(0, 0, 200, 100), Rectangle(300, 0, 200, 100)
    names = [Rectangle(60, 50, 80, 20), Rectangle(360, 50, 80, 20)]
    first, *_, last = points(MapLines(names).line(start, end, LABEL).path)
    assert is_inside(first, start)
    assert is_inside(last, end)
    assert not any(is_inside(point, name) for point in (first, last) for name in names)


def test_lines_of_both_directions_lie_apart() -> None:
    start, end = Rectangle(0, 0, 100, 100), Rectangle(300, 0, 100, 100)
    there, back = MapLines([]).line(start, end, LABEL), MapLines([]).line(end, start, LABEL)
    middle, returning = pieces(there.path)[0].at(0.5), pieces(back.path)[0].at(0.5)
    assert middle.y < 60 < returning.y
    assert there.label != back.label


def test_a_label_hides_no_name() -> None:
    start, end, name = Rectangle(0, 0, 100, 100), Rectangle(300, 0, 100, 100), Rectangle(170, 45, 60, 15)
    x, y = MapLines([name]).line(start, end, LABEL).label
    width, height = LABEL
    assert y + height / 2 <= 45 or y - height / 2 >= 60 or x + width / 2 <= 170 or x - width / 2 >= 230


@given(
    NAMES, st.tuples(COORDINATES, COORDINATES), st.tuples(COORDINATES, COORDINATES), st.tuples(COORDINATES, COORDINATES)
)
def test_the_covered_shares_are_those_inside_a_name(
    names: list[Rectangle], start: tuple[float, float], control: tuple[float, float], end: tuple[float, float]
) -> None:
    arc = Arc(Point(*start), Point(*control), Point(*end))
    shares = covered_shares(arc, names)
    for step in range(STEPS + 1):
        share = step / STEPS
        near = min((abs(share - border) for pair in shares for border in pair), default=1.0) < 1e-6
        is_covered = any(low <= share <= high for low, high in shares)
        touches = any(is_inside(arc.at(share), name) for name in names)
        assert near or is_covered == touches or touches_border(arc.at(share), names)


def touches_border(point: Point, names: Sequence[Rectangle]) -> bool:
    """True if a point is so near to a border that rounding decides."""
    x_borders = [border for name in names for border in (name.x, name.x + name.width)]
    y_borders = [border for name in names for border in (name.y, name.y + name.height)]
    return any(abs(point.x - border) < 1e-6 for border in x_borders) or any(
        abs(point.y - border) < 1e-6 for border in y_borders
    )


def test_no_line_of_a_map_crosses_a_name() -> None:
    parts = tuple(Part(f"src/folder_{number}/", 400 // (number + 1), 400 // (number + 1)) for number in range(12))
    paths = [part.path for part in parts]
    between = Counter({(first, last): 9 for first in paths for last in paths if first != last})
    for drawing in draw_parts(Folder("v1", "src/", 1_200, (), parts), Edges(9, between, frozenset(), is_whole=True)):
        names = written(drawing.boxes)
        assert len(names) > len(parts) / 2
        assert drawn_lines(drawing) > len(drawing.curves) * 0.9
        for curve in drawing.curves:
            assert not crossed(curve.path, names)


def drawn_lines(drawing: Drawing) -> int:
    return sum(bool(curve.path) for curve in drawing.curves)


def test_what_is_written_in_a_box_lies_inside_of_it() -> None:
    box = Box(0, Rectangle(10, 20, 120, 60), "engine/", "72 nodes", "engine/", "folder")
    assert [line.text for line in box.lines] == ["engine/", "72 nodes"]
    for place in written([box]):
        assert place.x >= 10
        assert place.y >= 20
        assert place.y + place.height <= 80
