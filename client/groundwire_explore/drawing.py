"""Drawings as data: boxes with names and curves between them, which the templates make SVG of.

Each drawing is made twice, for wide and for narrow screens, and the style sheet shows the one that fits.
"""

from dataclasses import dataclass

from groundwire_explore.layout import Rectangle

WIDE, NARROW = 1_240.0, 340.0
"""The width of a drawing for a screen of its kind, in pixels."""
_CHARACTER = 7.3
"""The width of a character of a name, in pixels, as the style sheet sets it."""


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


def cut(name: str, room: float) -> str:
    """As much of a name as there is room for; nothing for less than three characters."""
    fits = int(room / _CHARACTER)
    return name if len(name) <= fits else name[: fits - 1] + "…" if fits > 3 else ""
