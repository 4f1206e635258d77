"""Drawings as data: boxes with names and curves between them, which the templates make SVG of.

Each drawing is made twice, for wide and for narrow screens, and the style sheet shows the one that fits.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from groundwire_explore.layout import Rectangle

WIDE, NARROW = 1_240.0, 340.0
"""The width of a drawing for a screen of its kind, in pixels."""
_CHARACTER = 7.3
"""The width of a character of a name, in pixels, as the style sheet sets it."""


_ASCENT, _LINE_HEIGHT = 12.0, 15.0
"""Of a line of text: the pixels above its base line, and all."""


class Line(NamedTuple):
    """A line of text; x is of its left end, y of its base line. `kind` is its class in the style sheet."""

    text: str
    kind: str
    x: float
    y: float

    @property
    def place(self) -> Rectangle:
        """The rectangle that it covers."""
        return Rectangle(self.x, self.y - _ASCENT, *text_size(self.text))


@dataclass(frozen=True, slots=True)
class Box:
    """A box.

    Attributes:
        number: The number that curves refer to.
        place: Its rectangle.
        name: Its name, as far as there is room.
        remark: A second line; empty for none.
        title: The whole name and further facts.
        kind: Its class in the style sheet: `folder`, `file`, `node` or `centre`.
        inner: Rectangles with names inside of it, only to look at.
    """

    number: int
    place: Rectangle
    name: str
    remark: str
    title: str
    kind: str
    inner: tuple[tuple[Rectangle, str], ...] = ()

    @property
    def lines(self) -> tuple[Line, ...]:
        """What is written in it: at the top of an area, in the middle of the height of another box."""
        x, y, _, height = self.place
        top = y + (18 if self.kind in ("folder", "file") else height / 2 + 4)
        lines = [Line(self.name, self.kind, x + 8, top), Line(self.remark, "remark", x + 8, top + 17)]
        lines += [Line(name, "remark", place.x + 5, place.y + 14) for place, name in self.inner]
        return tuple(line for line in lines if line.text)


@dataclass(frozen=True, slots=True)
class Spot:
    """A place for a label, and the number of the box that it is at; -1 for one between boxes.

    `anchor` says which part of the label is there: `start`, `middle` or `end`.
    """

    x: float
    y: float
    anchor: str
    box: int = -1


@dataclass(frozen=True, slots=True)
class Curve:
    """A line from the box that depends to the one that it depends on.

    Attributes:
        start: The number of the first box.
        end: The number of the second box.
        path: The line, as an SVG path.
        label: A text that is shown on demand.
        spots: Where the label is: either at both ends, or in the middle.
        width: The width of the line.
        is_strong: True if it is shown from the beginning.
        style: The number of its style in the style sheet, which the drawing's legend explains.
    """

    start: int
    end: int
    path: str
    label: str
    spots: tuple[Spot, ...]
    width: float = 1.2
    is_strong: bool = True
    style: int = 0


@dataclass(frozen=True, slots=True)
class Drawing:
    """Boxes and curves; `kind` is `wide` or `narrow`.

    `legend` says what the styles of curves mean: the words for each style, in their order.
    """

    kind: str
    width: float
    height: float
    boxes: tuple[Box, ...]
    curves: tuple[Curve, ...]
    legend: tuple[str, ...] = ()


def text_size(text: str) -> tuple[float, float]:
    """The width and the height of a line of text."""
    return len(text) * _CHARACTER, _LINE_HEIGHT


def written(boxes: Iterable[Box]) -> list[Rectangle]:
    """The rectangles of all that is written in boxes."""
    return [line.place for box in boxes for line in box.lines]


def cut(name: str, room: float) -> str:
    """As much of a name as there is room for; nothing for less than three characters."""
    fits = int(room / _CHARACTER)
    return name if len(name) <= fits else name[: fits - 1] + "…" if fits > 3 else ""
