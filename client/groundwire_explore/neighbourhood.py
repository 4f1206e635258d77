"""A node, and the graph around it: what it depends on, and what depends on it."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from groundwire.printable_text import printable
from groundwire_client import (
    AsyncGroundwireClient,
    EdgeDirection,
    ExpandDependencyTreeResponse,
    GraphEdge,
    IndexScope,
    NodeText,
    ReachedNode,
    SourceLocation,
    choice,
    pinned,
)
from groundwire_explore import describing
from groundwire_explore.folders import REDEFINED_BY
from groundwire_explore.parameters import Neighbourhood
from groundwire_explore.source_text import SourceText, source_text

_MOST_NODES = 25
"""Nodes that are drawn to each side: more would not be readable."""
_LARGEST_TEXT = 10_000_000
_REASONS: Mapping[str, str] = {
    "limit_reached": f"More than {_MOST_NODES - 1} nodes: the nearest are shown.",
    "response_limit": "Edges were left out to keep the response below 4 MiB.",
    "depth_reached": "More nodes lie beyond this depth.",
}
_MOST_TYPES = 64
"""Edge types that a walk can name."""
_MOST_OLDER = 200
_INCOMING = EdgeDirection.EDGE_DIRECTION_INCOMING


@dataclass(frozen=True, slots=True)
class Placed:
    """A node of the graph.

    Attributes:
        id: The canonical id.
        name: The symbol, or another name.
        location: Where its text is.
        column: Edges from the centre: above 0 for what it depends on, below 0 for what depends on it.
        badges: Words that set it apart.
    """

    id: str
    name: str
    location: SourceLocation
    column: int
    badges: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge between two nodes of the graph; confidence is text."""

    source: Placed
    target: Placed
    edge_type: str
    confidence: str
    line: int


@dataclass(frozen=True, slots=True)
class Around:
    """A node and its neighbourhood.

    Attributes:
        index: The index version that answered.
        node: The node at the centre; None when the caller may not see it or it does not exist.
        text: Its text.
        tokens: The text's length in tokens.
        nodes: All nodes, the centre first, then column by column.
        edges: The edges between them.
        edge_types: The types of the edges, to choose from.
        notices: What was left out.
    """

    index: str
    node: Placed | None
    text: SourceText | None
    tokens: int
    nodes: tuple[Placed, ...]
    edges: tuple[Edge, ...]
    edge_types: tuple[str, ...]
    notices: tuple[str, ...]


async def around(client: AsyncGroundwireClient, scope: IndexScope, neighbourhood: Neighbourhood) -> Around:
    """Asks for a node's text and its neighbours. Raises one of `problems.FAILURES`."""
    fetched = await client.fetch(scope, [neighbourhood.id], budget_tokens=_LARGEST_TEXT)
    snapshot = pinned(scope, fetched.index)
    edge_types = (await client.get_index(snapshot)).edge_types
    sides = [
        side
        for side in (_INCOMING, EdgeDirection.EDGE_DIRECTION_OUTGOING)
        if neighbourhood.direction in ("both", choice(EdgeDirection, side))
    ]
    older = await _older_definitions(client, snapshot, neighbourhood, edge_types)
    walks = await asyncio.gather(
        *(
            client.expand(
                snapshot,
                [neighbourhood.id],
                max_depth=neighbourhood.depth,
                max_nodes=_MOST_NODES,
                edge_allowlist=_followed(neighbourhood.edge, side, edge_types),
                direction=side,
                min_confidence=neighbourhood.confidence,
            )
            for side in sides
        )
    )
    placed = _placed(zip(sides, walks, strict=True), fetched.texts)
    edges = _edges((edge for walk in walks for edge in walk.edges), placed)
    text = next(iter(fetched.texts), None)
    return Around(
        fetched.index,
        placed.get(neighbourhood.id),
        None if text is None else source_text(text.text, text.location),
        0 if text is None else text.token_count,
        tuple(sorted(placed.values(), key=lambda node: (node.id != neighbourhood.id, node.column))),
        edges,
        tuple(sorted({edge.edge_type for edge in edges} | {*filter(None, (neighbourhood.edge, *older))})),
        (
            *dict.fromkeys(_REASONS[walk.debug.reason] for walk in walks if walk.debug.reason in _REASONS),
            *(
                f"Older definitions in other scripts: {count}. They count as this one; the edge type {edge_type} "
                "shows them."
                for edge_type, count in older.items()
            ),
        ),
    )


def _followed(edge_type: str, side: EdgeDirection.ValueType, edge_types: Sequence[str]) -> list[str]:
    """The types of edges to follow: the chosen one, else all.

    Older definitions of an object do not depend on it. So edges from them are not followed towards what depends on a
    node: a table that many scripts define is one table.
    """
    others = [name for name in edge_types if name.casefold() != REDEFINED_BY]
    if edge_type or side != _INCOMING or len(others) == len(edge_types) or not 0 < len(others) <= _MOST_TYPES:
        return [edge_type or "*"]
    return others


async def _older_definitions(
    client: AsyncGroundwireClient, scope: IndexScope, neighbourhood: Neighbourhood, edge_types: Sequence[str]
) -> dict[str, int]:
    """The type of the edges from older definitions of a node, and how many these are; nothing where there are none."""
    name = next((name for name in edge_types if name.casefold() == REDEFINED_BY), "")
    if not name or neighbourhood.edge:
        return {}
    walk = await client.expand(
        scope, [neighbourhood.id], max_depth=1, max_nodes=_MOST_OLDER, edge_allowlist=[name], direction=_INCOMING
    )
    count = len({edge.from_id for edge in walk.edges})
    return {name: count} if count else {}


def _placed(
    walks: Iterable[tuple[EdgeDirection.ValueType, ExpandDependencyTreeResponse]], texts: Iterable[NodeText]
) -> dict[str, Placed]:
    """The nodes by id; one that was reached both ways is on the side where it is nearer."""
    placed = {text.id: _place(text, 0) for text in texts}
    for side, walk in walks:
        sign = -1 if side == EdgeDirection.EDGE_DIRECTION_INCOMING else 1
        for node in walk.nodes:
            if node.id not in placed or abs(placed[node.id].column) > node.depth:
                placed[node.id] = _place(node, sign * node.depth)
    return placed


def _place(node: ReachedNode | NodeText, column: int) -> Placed:
    return Placed(
        node.id,
        describing.name_of(node.symbol, node.location, node.id),
        node.location,
        column,
        describing.badges(is_test=node.is_test, is_generated=node.is_generated),
    )


def _edges(edges: Iterable[GraphEdge], placed: Mapping[str, Placed]) -> tuple[Edge, ...]:
    """Each edge once, though walks of both sides may meet it."""
    made = {
        (edge.from_id, edge.to_id, edge.edge_type, edge.line): Edge(
            placed[edge.from_id], placed[edge.to_id], printable(edge.edge_type), f"{edge.confidence:.2g}", edge.line
        )
        for edge in edges
    }
    return tuple(made.values())
