"""How a text names nodes: by places in files, and by the parts of qualified names."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from groundwire_index.nodes.node import Location
from groundwire_server.domain.search.search import Declaration, NodeLabel

_PLACE = re.compile(r"(?P<path>.*[^:]):(?P<first>\d{1,9})(?:-(?P<last>\d{1,9}))?", re.DOTALL)
_SEPARATOR = re.compile(r"->|::|[.#/\\]| > ")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Place:
    """A path, and the lines meant; both 0 without any."""

    path: str
    first: int = 0
    last: int = 0


def place_of(text: str) -> Place:
    """The place that a text is if it is one: `src/a.cs:42`, `src/a.cs:42-60` or a path."""
    match = _PLACE.fullmatch(text)
    if match is None:
        return Place(text.removeprefix("./"))
    return Place(match["path"].removeprefix("./"), int(match["first"]), int(match["last"] or match["first"]))


def at_place(place: Place, nodes: Iterable[NodeLabel]) -> list[NodeLabel]:
    """Of the nodes of each file those at these lines, else the innermost around them; without lines the outermost."""
    by_path = groupby(sorted(nodes, key=lambda node: (node.location.path, node.id)), lambda node: node.location.path)
    read = _innermost if place.first else _outermost
    return [node for _, in_file in by_path for node in read(place, list(in_file))]


def _innermost(place: Place, nodes: list[NodeLabel]) -> list[NodeLabel]:
    lines = {node.id: _lines(node.location) for node in nodes}
    around = [node for node in nodes if lines[node.id][0] <= place.first and place.last <= lines[node.id][1]]
    if exact := [node for node in around if lines[node.id] == (place.first, place.last)]:
        return exact
    spans = [lines[node.id][1] - lines[node.id][0] for node in around]
    return [node for node, span in zip(around, spans, strict=True) if span == min(spans)]


def _outermost(_: Place, nodes: list[NodeLabel]) -> list[NodeLabel]:
    kept: list[NodeLabel] = []
    widest = (0, -1)
    for node in sorted(nodes, key=lambda node: (_lines(node.location)[0], -_lines(node.location)[1], node.id)):
        lines = _lines(node.location)
        if lines[1] > widest[1] or lines == widest:
            kept.append(node)
            widest = lines
    return kept


def _lines(location: Location) -> tuple[int, int]:
    return location.start_line, max(location.start_line, location.end_line)


def segments(symbol: str) -> tuple[str, ...]:
    """The parts of a qualified name, without the parameters that it may state."""
    return tuple(_SEPARATOR.split(symbol.partition("(")[0] or symbol))


def outer(nodes: list[NodeLabel]) -> list[NodeLabel]:
    """Those that no other one of their file contains by symbol: a type, and not its constructors of the same name."""
    held = {(node.location.path, segments(node.symbol)) for node in nodes}

    def is_inner(node: NodeLabel) -> bool:
        parts = segments(node.symbol)
        return any((node.location.path, parts[:count]) in held for count in range(1, len(parts)))

    return [node for node in nodes if not is_inner(node)]


def ends_with(symbol: str, name: str) -> bool:
    """True if the last parts of a symbol are those of `name`."""
    wanted = segments(name)
    return segments(symbol)[-len(wanted) :] == wanted


def describing_words(declaration: Declaration, name: str) -> set[str]:
    """The words, case-folded, that say what a node of this name is: its kind, and its signature before the name."""
    before = declaration.signature.casefold().partition(segments(name)[-1].casefold())[0]
    return {declaration.kind.casefold(), *_WORD.findall(before)}
