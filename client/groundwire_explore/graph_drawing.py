"""The drawing of the graph around a node."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from groundwire.printable_text import printable
from groundwire_client.cli import place
from groundwire_explore.box_names import distinct_names, fitted
from groundwire_explore.drawing import NARROW, WIDE, Box, Curve, Drawing, Spot
from groundwire_explore.layout import Layers, Link, Rectangle, ordered_layers
from groundwire_explore.neighbourhood import Edge, Placed

_ROW, _BOX = 34.0, 26.0
_MARGIN, _GUTTER = 36.0, 64.0
_BULGE = 30.0
_NEAR = 10.0
"""How far a label is from its box."""
_HALF_LINE = 7.0
_STYLES = 5
"""The style sheet has so many styles of curves. Where there are more edge types, the rarest share the last one."""


def draw_graph(nodes: Sequence[Placed], edges: Iterable[Edge]) -> tuple[Drawing, ...]:
    """The graph around a node: layers from left to right, or rows one below the other on a narrow screen."""
    numbers = {node.id: number for number, node in enumerate(nodes)}
    edges = tuple(edges)
    frequent = [name for name, _ in sorted(Counter(edge.edge_type for edge in edges).items(), key=_rarity)]
    types: dict[Link, list[str]] = defaultdict(list)
    for edge in edges:
        link = numbers[edge.source.id], numbers[edge.target.id]
        if link[0] != link[1] and edge.edge_type not in types[link]:
            types[link].append(edge.edge_type)
    for names in types.values():
        names.sort(key=frequent.index)
    labels = {link: ", ".join(names) for link, names in types.items()}
    columns = sorted({node.column for node in nodes})
    layers = [[number for number, node in enumerate(nodes) if node.column == column] for column in columns]
    layers = ordered_layers(layers, labels)
    styles = {link: min(frequent.index(names[0]), _STYLES - 1) for link, names in types.items()}
    legend = (*frequent[: _STYLES - 1], ", ".join(frequent[_STYLES - 1 :])) if len(frequent) >= _STYLES else frequent
    drawings = _layered(nodes, layers, labels), _rows(nodes, layers, labels)
    return tuple(_styled(drawing, styles, legend) for drawing in drawings)


def _rarity(counted: tuple[str, int]) -> tuple[int, str]:
    name, count = counted
    return -count, name


def _styled(drawing: Drawing, styles: Mapping[Link, int], legend: Sequence[str]) -> Drawing:
    """The drawing with a style for each type of edges; a curve of several has that of the first one in the legend."""
    curves = tuple(replace(curve, style=styles[curve.start, curve.end]) for curve in drawing.curves)
    return replace(drawing, curves=curves, legend=tuple(legend))


def _layered(nodes: Sequence[Placed], layers: Layers, labels: Mapping[Link, str]) -> Drawing:
    step = min(max((WIDE - 2 * _MARGIN) / max(len(layers), 3), 250.0), 410.0)
    width, rows = step * 0.6, max(map(len, layers))
    places = {
        number: Rectangle(
            _MARGIN + column * step, ((rows - len(layer)) / 2 + row) * _ROW + (_ROW - _BOX) / 2, width, _BOX
        )
        for column, layer in enumerate(layers)
        for row, number in enumerate(layer)
    }
    curves = [_across(nodes, places, link, label, (step - width) / 2) for link, label in labels.items()]
    whole = 2 * _MARGIN + (len(layers) - 1) * step + width
    return Drawing("wide", whole, rows * _ROW, _boxes(nodes, places), _apart(curves))


def _rows(nodes: Sequence[Placed], layers: Layers, labels: Mapping[Link, str]) -> Drawing:
    order = [number for layer in layers for number in layer]
    places = {
        number: Rectangle(_GUTTER, row * _ROW + (_ROW - _BOX) / 2, NARROW - _GUTTER - 1, _BOX)
        for row, number in enumerate(order)
    }
    curves = []
    for (start, end), label in labels.items():
        y1, y2 = (places[number].y + _BOX / 2 for number in (start, end))
        bend = min(12 + abs(y2 - y1) / 8, _GUTTER + 12)
        spots = Spot(NARROW - 8, y1, "end", start), Spot(NARROW - 8, y2, "end", end)
        curves.append(Curve(start, end, _path(_GUTTER, y1, -bend, _GUTTER, y2, -bend), label, spots))
    return Drawing("narrow", NARROW, len(order) * _ROW, _boxes(nodes, places), _apart(curves))


def _across(nodes: Sequence[Placed], places: Mapping[int, Rectangle], link: Link, label: str, bend: float) -> Curve:
    """A curve between two columns, or around the side of one that is away from the middle."""
    columns = [nodes[number].column for number in link]
    if columns[0] == columns[1]:
        sides = [-1 if columns[0] < 0 else 1] * 2
        bend = _BULGE
    else:
        sides = [1, -1] if columns[0] < columns[1] else [-1, 1]
    ends = []
    for number, side in zip(link, sides, strict=True):
        x, y, width, height = places[number]
        ends.append((x + width if side > 0 else x, y + height / 2))
    spots = tuple(
        Spot(x + side * _NEAR, y, "start" if side > 0 else "end", number)
        for number, side, (x, y) in zip(link, sides, ends, strict=True)
    )
    (x1, y1), (x2, y2) = ends
    return Curve(*link, _path(x1, y1, sides[0] * bend, x2, y2, sides[1] * bend), label, spots)


def _path(x1: float, y1: float, bend1: float, x2: float, y2: float, bend2: float) -> str:
    """A curve that leaves one point and reaches the other horizontally."""
    return f"M{x1:.1f} {y1:.1f}C{x1 + bend1:.1f} {y1:.1f} {x2 + bend2:.1f} {y2:.1f} {x2:.1f} {y2:.1f}"


def _apart(curves: Sequence[Curve]) -> tuple[Curve, ...]:
    """The curves, where two of opposite directions join the same boxes, with one label above the other."""
    links = {(curve.start, curve.end) for curve in curves}
    return tuple(
        replace(curve, spots=tuple(replace(spot, y=spot.y + down) for spot in curve.spots))
        if (curve.end, curve.start) in links
        else curve
        for curve in curves
        for down in (_HALF_LINE if curve.start < curve.end else -_HALF_LINE,)
    )


def _boxes(nodes: Sequence[Placed], places: Mapping[int, Rectangle]) -> tuple[Box, ...]:
    """The boxes; those of one drawing have one width."""
    room = places[0].width - 16
    names = fitted(distinct_names([(node.name, node.location.path) for node in nodes]), room)
    return tuple(
        _node(number, node, name, places[number]) for number, (node, name) in enumerate(zip(nodes, names, strict=True))
    )


def _node(number: int, node: Placed, name: str, at: Rectangle) -> Box:
    title = "\n".join(filter(None, (node.name, printable(place(node.location, "")))))
    return Box(number, at, name, "", title, "node" if node.column else "centre")
