"""What walks and searches for paths answer."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ExpandedNode:
    """A node that a walk reached: `depth` edges from the nearest seed, from `parent_id` (empty for a seed).

    `is_test` marks tests, `is_generated` what a tool wrote. `symbol` is the qualified name; `path` and the 1-based
    lines say where its text stands. What is unknown is empty or 0.
    """

    id: str
    depth: int
    parent_id: str = ""
    is_test: bool = False
    is_generated: bool = False
    symbol: str = ""
    path: str = ""
    start_line: int = 0
    end_line: int = 0


@dataclass(frozen=True, slots=True)
class DependencyEdge:
    """`from_id` depends on `to_id`. `confidence` is above 0 and at most 1; 1 is stated as a fact.

    `line` is the 1-based line of the file of `from_id` where the dependency stands, 0 when unknown.
    """

    from_id: str
    to_id: str
    edge_type: str
    confidence: float = 1.0
    line: int = 0


@dataclass(frozen=True, slots=True)
class ExpandDebug:
    """How a walk went: visible seeds, nodes and edges returned, and whether a limit kept out what it had come to.

    `reason` is `ok`, `no_seeds`, `limit_reached`, `response_limit`, or `depth_reached` when nothing was cut but edges
    lead on from nodes at `max_depth`.
    """

    seed_count: int
    expanded_count: int
    edges_count: int
    truncated: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Expansion:
    """The neighbourhood of the visible seeds. `nodes` holds the seeds too, and goes into a fetch as it is."""

    seed_ids: tuple[str, ...]
    nodes: tuple[ExpandedNode, ...]
    edges: tuple[DependencyEdge, ...]
    debug: ExpandDebug
    index: str


@dataclass(frozen=True, slots=True)
class DependencyPath:
    """A way through the graph: `hops[i]` is the edge between `node_ids[i]` and `node_ids[i + 1]`, either way round.

    `confidence` is the product of the hops': above 0, at most 1.
    """

    node_ids: tuple[str, ...]
    hops: tuple[DependencyEdge, ...]
    confidence: float


@dataclass(frozen=True, slots=True)
class PathNode:
    """A node on a path; all but `id` as in `ExpandedNode`."""

    id: str
    is_test: bool = False
    is_generated: bool = False
    symbol: str = ""
    path: str = ""
    start_line: int = 0
    end_line: int = 0


@dataclass(frozen=True, slots=True)
class PathsDebug:
    """How a search for paths went: visible ends, nodes reached between them, and up to how many hops was searched.

    `reason` is `ok`, `no_ends`, `path_limit`, `limit_reached` or `response_limit`; `truncated` says that there may be
    more paths.
    """

    from_count: int
    to_count: int
    reached_count: int
    searched_hops: int
    truncated: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Paths:
    """The shortest paths, best first: fewer hops, then greater confidence. `nodes` are theirs, as they first occur."""

    paths: tuple[DependencyPath, ...]
    nodes: tuple[PathNode, ...]
    debug: PathsDebug
    index: str
