"""Places of boxes in a drawing: areas whose sizes are given, and layers whose links cross rarely."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import accumulate, combinations, pairwise
from typing import NamedTuple

Link = tuple[int, int]
Layers = list[list[int]]

_SWEEPS = 8


class Rectangle(NamedTuple):
    """A rectangle; x and y are of its upper left corner."""

    x: float
    y: float
    width: float
    height: float


def treemap(sizes: Sequence[float], whole: Rectangle) -> list[Rectangle]:
    """Rectangles that fill `whole`, with areas in proportion to positive sizes, which fall.

    Squarified: M. Bruls, K. Huizing, J. van Wijk, Squarified Treemaps, 2000. A row along the shorter side takes further
    areas while its worst proportion improves.
    """
    placed: list[Rectangle] = []
    left = list(sizes)
    while left:
        taken = 1
        while taken < len(left) and _worst(left[: taken + 1], sum(left), whole) <= _worst(
            left[:taken], sum(left), whole
        ):
            taken += 1
        row, whole = _row(left[:taken], sum(left), whole)
        placed += row
        left = left[taken:]
    return placed


def _row(sizes: Sequence[float], total: float, whole: Rectangle) -> tuple[list[Rectangle], Rectangle]:
    """The rectangles along the shorter side, and what is left."""
    if whole.width < whole.height:
        row, left = _row(sizes, total, _turned(whole))
        return [_turned(rectangle) for rectangle in row], _turned(left)
    x, y, width, height = whole
    thickness = width * sum(sizes) / total
    lengths = [height * size / sum(sizes) for size in sizes]
    starts = accumulate(lengths, initial=y)
    row = [Rectangle(x, start, thickness, length) for start, length in zip(starts, lengths, strict=False)]
    return row, Rectangle(x + thickness, y, width - thickness, height)


def _turned(rectangle: Rectangle) -> Rectangle:
    """The rectangle with x and y exchanged."""
    return Rectangle(rectangle.y, rectangle.x, rectangle.height, rectangle.width)


def _worst(sizes: Sequence[float], total: float, whole: Rectangle) -> float:
    """The worst proportion of a row's sides; 1 for a row of squares."""
    row, _ = _row(sizes, total, whole)
    return max(max(rectangle.width / rectangle.height, rectangle.height / rectangle.width) for rectangle in row)


def ordered_layers(layers: Layers, links: Iterable[Link]) -> Layers:
    """The layers, each in an order that lets few links cross between neighbouring layers.

    K. Sugiyama's method: sweeps to and fro put each node at the mean place of its neighbours in the layer before, and
    the best of all orders is kept.
    """
    near: dict[int, list[int]] = defaultdict(list)
    for start, end in links:
        near[start].append(end)
        near[end].append(start)
    best, fewest = layers, _crossings(layers, near)
    for sweep in range(_SWEEPS):
        layers = _swept(layers, near) if sweep % 2 == 0 else _swept(layers[::-1], near)[::-1]
        crossed = _crossings(layers, near)
        if crossed < fewest:
            best, fewest = layers, crossed
    return best


def _swept(layers: Layers, near: dict[int, list[int]]) -> Layers:
    swept = layers[:1]
    for layer in layers[1:]:
        places = {node: place / len(swept[-1]) for place, node in enumerate(swept[-1])}
        own_place = {node: place / len(layer) for place, node in enumerate(layer)}
        means: dict[int, float] = {}
        for node in layer:
            known = [places[other] for other in near[node] if other in places]
            means[node] = sum(known) / len(known) if known else own_place[node]
        swept = [*swept, sorted(layer, key=lambda node: (means[node], own_place[node]))]
    return swept


def _crossings(layers: Layers, near: dict[int, list[int]]) -> int:
    crossed = 0
    for before, after in pairwise(layers):
        places = {node: place for place, node in enumerate(after)}
        links = [(start, places[end]) for start, node in enumerate(before) for end in near[node] if end in places]
        crossed += sum((first[0] - second[0]) * (first[1] - second[1]) < 0 for first, second in combinations(links, 2))
    return crossed
