"""A folder of an index as a page shows it: drawn, as Mermaid, and with questions to begin with."""

from collections.abc import Mapping
from dataclasses import dataclass

from groundwire_client import AsyncGroundwireClient, IndexScope
from groundwire_explore.drawing import Drawing
from groundwire_explore.examples import example_questions
from groundwire_explore.exports import mermaid_map
from groundwire_explore.folders import Edges, Folder, read_edges, read_folder
from groundwire_explore.map_drawing import draw_parts


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
