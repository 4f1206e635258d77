"""FindPaths: what is asked and what is answered."""

from dataclasses import dataclass
from enum import StrEnum

from groundwire_index.nodes.node import Edge
from groundwire_index.scope import Scope
from groundwire_server.domain.graph.expansion import GraphRequest
from groundwire_server.domain.search.search import NodeLabel

MENTIONS = frozenset({"contains", "decoratedby", "imports", "partialof", "references", "tests"})
"""The edge types, in lower case, that only name something or lie around it; nothing is called, sent, read or written.

Of equally long paths, those with fewer such edges come first. A type of the caller's own data is none of them.
"""


class PathsReason(StrEnum):
    """How a search for paths ended; the values are those of the response's `debug.reason`."""

    OK = "ok"
    NO_ENDS = "no_ends"
    PATH_LIMIT = "path_limit"
    LIMIT_REACHED = "limit_reached"
    RESPONSE_LIMIT = "response_limit"


@dataclass(frozen=True, slots=True, kw_only=True)
class PathsRequest(GraphRequest):
    """A search for the shortest paths from some nodes to others."""

    from_ids: tuple[str, ...]
    to_ids: tuple[str, ...]
    max_hops: int
    max_paths: int

    @property
    def extent(self) -> tuple[int, ...]:
        return len(self.from_ids), len(self.to_ids), self.max_nodes, self.max_hops, self.max_paths


@dataclass(frozen=True, slots=True)
class DependencyPath:
    """Nodes in order and the edge from each to the next, which may point either way.

    `confidence` is the product of the edges' confidences, in (0, 1].
    """

    node_ids: tuple[str, ...]
    hops: tuple[Edge, ...]
    confidence: float


@dataclass(frozen=True, slots=True)
class Paths:
    """The shortest paths, best first, and their nodes as they first occur.

    `from_count` and `to_count` are visible ends, `reached_count` the nodes reached between them. Every path of at most
    `searched_hops` hops either is in `paths` or comes after them. `scopes` are the versions that answered a request for
    several, where `index` is "".
    """

    paths: tuple[DependencyPath, ...]
    nodes: tuple[NodeLabel, ...]
    from_count: int
    to_count: int
    reached_count: int
    searched_hops: int
    reason: PathsReason
    index: str
    scopes: tuple[Scope, ...] = ()

    @property
    def truncated(self) -> bool:
        """True when there may be more paths within the hops that were asked for."""
        return self.reason not in (PathsReason.OK, PathsReason.NO_ENDS)
