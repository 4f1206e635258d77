"""A folder of an index as a page shows it: drawn, as Mermaid, and with questions to begin with."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from groundwire.printable_text import printable
from groundwire_client import AsyncGroundwireClient, IndexScope, SearchHit
from groundwire_explore.describing import short_name
from groundwire_explore.drawing import NARROW, WIDE, Box, Curve, Drawing, Spot, cut, text_size, written
from groundwire_explore.exports import mermaid_map
from groundwire_explore.folders import Edges, Folder, Part, read_edges, read_folder
from groundwire_explore.layout import Rectangle, treemap
from groundwire_explore.map_lines import MapLines
from groundwire_explore.part_sizes import is_beside_code, parts_inside, with_sizes


@dataclass(frozen=True, slots=True)
class Overview:
    """A folder, the edges between its parts, and drawings of both.

    Attributes:
        folder: The folder.
        edges: The edges between its parts.
        drawings: Its parts and their edges.
        exported: The same as Mermaid.
        questions: Questions about its nodes, to begin with.
        outlines: The id of each file's first node, the largest one of those that begin there.
    """

    folder: Folder
    edges: Edges
    drawings: tuple[Drawing, ...]
    exported: str
    questions: tuple[str, ...]
    outlines: Mapping[str, str]


async def overview(client: AsyncGroundwireClient, scope: IndexScope, path: str) -> Overview:
    """Reads a folder. Raises one of `problems.FAILURES`."""
    folder = (await read_folder(client, scope, path)).innermost()
    edges = await read_edges(client, scope, folder)
    folder = with_sizes(folder, edges.older)
    by_size = sorted(folder.hits, key=lambda hit: (-hit.location.start_line, hit.location.end_line))
    return Overview(
        folder,
        edges,
        draw_parts(folder, edges),
        mermaid_map(folder.parts, edges.between),
        example_questions(folder.hits),
        {hit.location.path: hit.id for hit in by_size},
    )


_DOCUMENTS = (".md", ".mdx", ".rst", ".adoc", ".txt")
_LEAST_PARTS = 3
_LONGEST = 40


def example_questions(hits: Iterable[SearchHit]) -> tuple[str, ...]:
    """At most five questions about what the nodes are named."""
    by_path: Mapping[str, list[SearchHit]] = defaultdict(list)
    for hit in hits:
        if not is_beside_code(hit):
            by_path[hit.location.path].append(hit)
    types, documents = _types(by_path), _documents(by_path)
    made = [
        *(f"How does {name} work?" for name in types[:2]),
        *(f"What is said about “{title}”?" for title in documents[:2]),
        *(f"What uses {name}?" for name in types[2:3]),
    ]
    return tuple(map(printable, made))


def _types(by_path: Mapping[str, Sequence[SearchHit]]) -> list[str]:
    """The short names of public symbols that others of their file are parts of, by the number of these."""
    members: Counter[str] = Counter()
    for path, hits in by_path.items():
        names = {hit.symbol: short_name(hit.symbol, path) for hit in hits if hit.symbol}
        outer = Counter(hit.symbol.partition("(")[0].rpartition(".")[0] for hit in hits)
        if not path.endswith(_DOCUMENTS):
            members |= Counter({name: outer[symbol] for symbol, name in names.items() if not name.startswith("_")})
    return _largest(members)


def _documents(by_path: Mapping[str, Sequence[SearchHit]]) -> list[str]:
    """The titles of documents whose sections are all below one title, by the number of sections."""
    sections: Counter[str] = Counter()
    for path, hits in by_path.items():
        titles = {hit.symbol.partition(" > ")[0] for hit in hits}
        if path.endswith(_DOCUMENTS) and len(titles) == 1:
            sections[titles.pop()] += len(hits)
    return _largest(sections)


def _largest(counts: Counter[str]) -> list[str]:
    kept = [name for name, parts in counts.items() if parts >= _LEAST_PARTS and 0 < len(name) <= _LONGEST]
    return sorted(kept, key=lambda name: (-counts[name], name))


_MOST_AREAS = 24
_MOST_CURVES = 60
_MOST_STRONG = 10


def draw_parts(folder: Folder, edges: Edges) -> tuple[Drawing, ...]:
    """The largest parts of a folder as areas, and the edges between them, the most frequent ones."""
    if not folder.parts:
        return ()
    wide = _areas("wide", Rectangle(0, 0, WIDE, 520), folder, edges)
    return wide, _areas("narrow", Rectangle(0, 0, NARROW, 520), folder, edges)


def _areas(kind: str, whole: Rectangle, folder: Folder, edges: Edges) -> Drawing:
    parts = folder.parts[:_MOST_AREAS]
    places = treemap([part.size for part in parts], whole)
    boxes = tuple(
        _area(number, part, place, parts_inside(folder, part, edges.older)[:_MOST_AREAS])
        for number, (part, place) in enumerate(zip(parts, places, strict=True))
    )
    numbers = {part.path: number for number, part in enumerate(parts)}
    counted = sorted(
        (
            (count, numbers[start], numbers[end])
            for (start, end), count in edges.between.items()
            if {start, end} <= {*numbers}
        ),
        key=lambda area: (-area[0], area[1:]),
    )[:_MOST_CURVES]
    lines = MapLines(written(boxes))
    curves = tuple(
        _between(boxes[start], boxes[end], count, lines, is_strong=place < _MOST_STRONG)
        for place, (count, start, end) in enumerate(counted)
    )
    return Drawing(kind, whole.width, whole.height, boxes, curves)


def _area(number: int, part: Part, place: Rectangle, inside: Sequence[Part]) -> Box:
    place = _shrunk(place, 2)
    counted = f"{part.nodes:,} {'node' if part.nodes == 1 else 'nodes'}"
    fits = cut(_own_name(part), place.width - 16) if place.height >= 22 else ""
    remark = counted if place.height >= 44 and cut(counted, place.width - 16) == counted else ""
    kind = "folder" if part.is_folder else "file"
    title = f"{printable(part.path)}: {counted}"
    return Box(number, place, fits, remark, title, kind, _inner(place, inside) if place.height > 90 else ())


def _inner(place: Rectangle, parts: Sequence[Part]) -> tuple[tuple[Rectangle, str], ...]:
    """The parts of an area, below its name and remark."""
    if not parts:
        return ()
    x, y, width, height = place
    sizes = [part.size for part in parts]
    places = [
        _shrunk(rectangle, 1.5) for rectangle in treemap(sizes, Rectangle(x + 6, y + 42, width - 12, height - 48))
    ]
    return tuple(
        (rectangle, cut(_own_name(part), rectangle.width - 10) if rectangle.height >= 18 else "")
        for part, rectangle in zip(parts, places, strict=True)
    )


def _shrunk(place: Rectangle, by: float) -> Rectangle:
    x, y, width, height = place
    return Rectangle(x + by, y + by, max(width - 2 * by, 1), max(height - 2 * by, 1))


def _own_name(part: Part) -> str:
    return printable(part.path.rstrip("/").rpartition("/")[2]) + ("/" if part.is_folder else "")


def _between(start: Box, end: Box, count: int, lines: MapLines, *, is_strong: bool) -> Curve:
    label = f"{count:,}"
    line = lines.line(start.place, end.place, text_size(label))
    width = 1 + math.log2(count) / 2
    return Curve(start.number, end.number, line.path, label, (Spot(*line.label, "middle"),), width, is_strong)
