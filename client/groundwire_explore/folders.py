"""A folder of an index: how many nodes it has, in which folders and files they are, and how these depend on each other.

The contract lists no nodes, but a search counts all that pass its filter, and its hits say where they are. Where an
index has vectors, every node is a hit, so a folder of up to 1,000 nodes is read whole by one search. A larger one is
searched part by part, for about 4,000 nodes in all. The counts are exact all the same.
"""

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from groundwire_client import AsyncGroundwireClient, IndexScope, NodeFilter, SearchHit, SearchNodesResponse, pinned

_MOST_HITS = 1_000
"""Hits of a search: the server's largest list, unless its operator set another one."""
_MOST_SEEDS, _MOST_REACHED = 500, 2_000
"""Nodes where a walk begins, and that it reaches."""
_MOST_READ = 4_000
"""Nodes that a page reads of a folder that one search does not read whole."""
_LEAST_HITS = 20
REDEFINED_BY = "redefinedby"
"""The type of the edges from older definitions of a database object to the current one, in lower case."""
_MOST_PARTS = 40
_WORDS = (
    "class def function return public static void string import test the and of to what this is and how it works "
    "create table select from"
)
"""Words that most texts have some of, for indexes without vectors."""


@dataclass(frozen=True, slots=True)
class Part:
    """A folder or file directly in another folder.

    Attributes:
        path: Its path; that of a folder ends with a slash.
        nodes: How many nodes it has that the caller may see.
        size: How large it is drawn; see `part_sizes`.
    """

    path: str
    nodes: int
    size: float = 0

    @property
    def is_folder(self) -> bool:
        """True for a folder."""
        return self.path.endswith("/")


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder.

    Attributes:
        index: The index version that answered.
        path: Its path with a slash at its end; empty for the whole index.
        nodes: How many nodes it has that the caller may see.
        hits: The nodes that were read.
        parts: The folders and files directly in it, those with the most nodes first.
    """

    index: str
    path: str
    nodes: int
    hits: tuple[SearchHit, ...]
    parts: tuple[Part, ...]

    @property
    def is_whole(self) -> bool:
        """True if every node was read."""
        return len(self.hits) == self.nodes

    @property
    def unplaced(self) -> int:
        """Nodes that are in none of `parts`: those without a path, or in parts that no hit led to."""
        return self.nodes - sum(part.nodes for part in self.parts)

    def part_of(self, path: str) -> str:
        """The part that a path is in; empty for a path outside of the folder."""
        if not path.startswith(self.path):
            return ""
        name, slash, _ = path.removeprefix(self.path).partition("/")
        return f"{self.path}{name}{slash}" if name else ""

    def innermost(self) -> "Folder":
        """The folder itself, or the one inside that has all of its nodes, where every node was read."""
        folder = self
        while folder.is_whole and len(folder.parts) == 1 and folder.parts[0].is_folder and not folder.unplaced:
            folder = replace(folder, path=folder.parts[0].path)
            folder = replace(folder, parts=_parts(folder.read_of(folder.hits)))
        return folder

    def read_of(self, hits: Iterable[SearchHit]) -> Counter[str]:
        """How many of some nodes are in each part."""
        return Counter(part for hit in hits if (part := self.part_of(hit.location.path)))


class Edges(NamedTuple):
    """The edges inside a folder.

    Attributes:
        total: How many there are.
        between: How many of them lead from one part to another one, those of older definitions aside.
        older: The ids of nodes that are older definitions of a database object. They count as the current definition,
            so a table that many scripts define is one table.
        is_whole: True if no limit of a walk left some out.
    """

    total: int
    between: Counter[tuple[str, str]]
    older: frozenset[str]
    is_whole: bool


async def read_folder(client: AsyncGroundwireClient, scope: IndexScope, path: str) -> Folder:
    """Reads a folder. Raises one of `problems.FAILURES`."""
    response = await _search(client, scope, path, _MOST_HITS)
    folder = Folder(response.index, path, response.debug.visible_count, tuple(response.hits), ())
    listed = folder.read_of(response.hits)
    if folder.is_whole:
        return replace(folder, parts=_parts(listed))
    snapshot = pinned(scope, response.index)
    shares = {
        name: min(_MOST_READ * hits // listed.total() + _LEAST_HITS, _MOST_HITS)
        for name, hits in listed.most_common(_MOST_PARTS)
    }
    answers = await asyncio.gather(*(_search(client, snapshot, name, most) for name, most in shares.items()))
    hits = {hit.id: hit for answer in (response, *answers) for hit in answer.hits}
    counted = {name: answer.debug.visible_count for name, answer in zip(shares, answers, strict=True)}
    return replace(folder, hits=tuple(hits.values()), parts=_parts(counts_by_path(counted)))


async def read_edges(client: AsyncGroundwireClient, scope: IndexScope, folder: Folder) -> Edges:
    """The edges from the nodes of a folder that were read to others in it. Raises one of `problems.FAILURES`."""
    seeds = [hit.id for hit in folder.hits]
    walks = await asyncio.gather(
        *(
            client.expand(
                pinned(scope, folder.index),
                seeds[first : first + _MOST_SEEDS],
                max_depth=1,
                max_nodes=_MOST_REACHED,
                edge_allowlist=["*"],
                filter=_within(folder.path),
            )
            for first in range(0, len(seeds), _MOST_SEEDS)
        )
    )
    parts = {node.id: folder.part_of(node.location.path) for walk in walks for node in walk.nodes}
    edges = [edge for walk in walks for edge in walk.edges]
    older = frozenset(edge.from_id for edge in edges if edge.edge_type.casefold() == REDEFINED_BY)
    current = [edge for edge in edges if edge.from_id not in older and edge.to_id not in older]
    ends = Counter((parts[edge.from_id], parts[edge.to_id]) for edge in current)
    between = {(start, end): count for (start, end), count in ends.items() if start and end and start != end}
    return Edges(len(edges), Counter(between), older, not any(walk.debug.truncated for walk in walks))


async def _search(client: AsyncGroundwireClient, scope: IndexScope, path: str, most: int) -> SearchNodesResponse:
    return await client.search(scope, _WORDS, top_k=most, filter=_within(path), explain=True)


def _within(path: str) -> NodeFilter:
    return NodeFilter(path_prefixes=[path] if path else [])


def _parts(counts: Mapping[str, int]) -> tuple[Part, ...]:
    return tuple(Part(path, counts[path]) for path in sorted(counts, key=lambda path: (-counts[path], path)))


def counts_by_path(counted: Mapping[str, int]) -> dict[str, int]:
    """Counts by path of counts by prefix: the count of `tsconfig.js` as a prefix has `tsconfig.json` too."""
    own_counts: dict[str, int] = {}
    for path in sorted(counted, key=len, reverse=True):
        own_counts[path] = counted[path] - sum(nodes for longer, nodes in own_counts.items() if longer.startswith(path))
    return own_counts
