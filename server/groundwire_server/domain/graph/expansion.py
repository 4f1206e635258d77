"""ExpandDependencyTree: what is asked and what is answered."""

from collections.abc import Hashable
from dataclasses import dataclass
from enum import Enum, StrEnum

from groundwire_index.nodes.node import Edge, Location
from groundwire_index.scope import Scope
from groundwire_server.domain.search.search import NodesRequest


class Direction(Enum):
    """Which way edges are followed."""

    OUTGOING = "outgoing"
    INCOMING = "incoming"
    BOTH = "both"


class ExpandReason(StrEnum):
    """How a walk ended; the values are those of the response's `debug.reason`."""

    OK = "ok"
    NO_SEEDS = "no_seeds"
    LIMIT_REACHED = "limit_reached"
    RESPONSE_LIMIT = "response_limit"
    DEPTH_REACHED = "depth_reached"


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphRequest(NodesRequest):
    """The common part of requests that follow edges; those below `min_confidence`, in [0, 1], are as if absent."""

    max_nodes: int
    edge_allowlist: tuple[str, ...]
    direction: Direction = Direction.OUTGOING
    min_confidence: float = 0.0

    @property
    def choices(self) -> tuple[Hashable, ...]:
        return self.edge_allowlist, self.direction, self.min_confidence


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpandRequest(GraphRequest):
    """A walk of the graph from seeds; `max_depth` None means absent and is refused."""

    seed_ids: tuple[str, ...]
    max_depth: int | None = None

    @property
    def extent(self) -> tuple[int, ...]:
        return len(self.seed_ids), self.max_nodes, self.max_depth or 0


@dataclass(frozen=True, slots=True)
class ExpandedNode:
    """A node the walk reached, its depth and the node it was reached from ("" for a seed); the rest as in `Node`."""

    id: str
    depth: int
    parent_id: str
    symbol: str
    location: Location
    is_test: bool = False
    is_generated: bool = False


@dataclass(frozen=True, slots=True)
class Expansion:
    """The neighbourhood of the visible seeds.

    `seed_count` counts all of these, `seed_ids` are those that `max_nodes` and the response have room for. `scopes` are
    the versions that answered a request for several, where `index` is "".
    DEPTH_REACHED is no limit that cut something off: the walk went as far as it was to go, and edges lead on.
    """

    seed_ids: tuple[str, ...]
    nodes: tuple[ExpandedNode, ...]
    edges: tuple[Edge, ...]
    reason: ExpandReason
    index: str
    seed_count: int = 0
    scopes: tuple[Scope, ...] = ()

    @property
    def truncated(self) -> bool:
        """True when a limit kept out a visible node or an edge that the walk had come to."""
        return self.reason in (ExpandReason.LIMIT_REACHED, ExpandReason.RESPONSE_LIMIT)
