"""A folder of an index as a page shows it: drawn, as Mermaid, and with questions to begin with."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from groundwire_client import AsyncGroundwireClient, IndexScope, SearchHit
from groundwire_explore.describing import short_name
from groundwire_explore.drawing import Drawing
from groundwire_explore.exports import mermaid_map
from groundwire_explore.folders import Edges, Folder, read_edges, read_folder
from groundwire_explore.map_drawing import draw_parts
from groundwire_explore.source_text import shown


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
    by_size = sorted(folder.hits, key=lambda hit: (-hit.location.start_line, hit.location.end_line))
    return Overview(
        folder,
        edges,
        draw_parts(folder, edges.between),
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
        if not hit.is_test and not hit.is_generated:
            by_path[hit.location.path].append(hit)
    types, documents = _types(by_path), _documents(by_path)
    made = [
        *(f"How does {name} work?" for name in types[:2]),
        *(f"What is said about “{title}”?" for title in documents[:2]),
        *(f"What uses {name}?" for name in types[2:3]),
    ]
    return tuple(map(shown, made))


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
