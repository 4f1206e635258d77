"""Walks and searches for paths as messages of `retrieval.proto`, and what they answer back.

As in `_conversions`, what protobuf cannot carry raises `ValueError`, and other rules are the server's to check.
"""

from collections.abc import Mapping, Sequence

from groundwire.v1 import retrieval_pb2
from groundwire_client._enums import Direction, Visibility
from groundwire_client._filters import Filter
from groundwire_client._graph_types import (
    DependencyEdge,
    DependencyPath,
    ExpandDebug,
    ExpandedNode,
    Expansion,
    PathNode,
    Paths,
    PathsDebug,
)
from groundwire_client._scope_conversions import VISIBILITIES, access_message, filter_message, scope_message, strings
from groundwire_client._types import Access, Scope

_DIRECTIONS: Mapping[Direction, retrieval_pb2.EdgeDirection.ValueType] = {
    Direction.OUTGOING: retrieval_pb2.EDGE_DIRECTION_OUTGOING,
    Direction.INCOMING: retrieval_pb2.EDGE_DIRECTION_INCOMING,
    Direction.BOTH: retrieval_pb2.EDGE_DIRECTION_BOTH,
}


def expand_request(
    scope: Scope,
    access: Access | None,
    seed_ids: Sequence[str],
    *,
    max_depth: int,
    max_nodes: int,
    edge_allowlist: Sequence[str],
    direction: Direction,
    filter: Filter | None,
    min_confidence: float,
    visibility: Visibility,
) -> retrieval_pb2.ExpandDependencyTreeRequest:
    """A walk of the dependency graph."""
    return retrieval_pb2.ExpandDependencyTreeRequest(
        scope=scope_message(scope),
        access=access_message(access),
        seed_ids=strings("seed_ids", seed_ids),
        max_depth=max_depth,
        max_nodes=max_nodes,
        edge_allowlist=strings("edge_allowlist", edge_allowlist),
        direction=_DIRECTIONS[direction],
        filter=filter_message(filter),
        min_confidence=min_confidence,
        lifecycle=VISIBILITIES[visibility],
    )


def paths_request(
    scope: Scope,
    access: Access | None,
    from_ids: Sequence[str],
    to_ids: Sequence[str],
    *,
    max_hops: int,
    max_paths: int,
    max_nodes: int,
    edge_allowlist: Sequence[str],
    direction: Direction,
    filter: Filter | None,
    min_confidence: float,
    visibility: Visibility,
) -> retrieval_pb2.FindPathsRequest:
    """A search for paths."""
    return retrieval_pb2.FindPathsRequest(
        scope=scope_message(scope),
        access=access_message(access),
        from_ids=strings("from_ids", from_ids),
        to_ids=strings("to_ids", to_ids),
        max_hops=max_hops,
        max_paths=max_paths,
        max_nodes=max_nodes,
        edge_allowlist=strings("edge_allowlist", edge_allowlist),
        direction=_DIRECTIONS[direction],
        filter=filter_message(filter),
        min_confidence=min_confidence,
        lifecycle=VISIBILITIES[visibility],
    )


def expansion(response: retrieval_pb2.ExpandDependencyTreeResponse) -> Expansion:
    """The neighbourhood of the seeds."""
    return Expansion(
        seed_ids=tuple(response.seed_ids),
        nodes=tuple(
            ExpandedNode(
                id=node.id,
                depth=node.depth,
                parent_id=node.parent_id,
                is_test=node.is_test,
                is_generated=node.is_generated,
                symbol=node.symbol,
                path=node.location.path,
                start_line=node.location.start_line,
                end_line=node.location.end_line,
            )
            for node in response.nodes
        ),
        edges=tuple(map(_edge, response.edges)),
        debug=ExpandDebug(
            seed_count=response.debug.seed_count,
            expanded_count=response.debug.expanded_count,
            edges_count=response.debug.edges_count,
            truncated=response.debug.truncated,
            reason=response.debug.reason,
        ),
        index=response.index,
    )


def paths(response: retrieval_pb2.FindPathsResponse) -> Paths:
    """The shortest paths."""
    return Paths(
        paths=tuple(
            DependencyPath(tuple(path.node_ids), tuple(map(_edge, path.hops)), _confidence(path.confidence))
            for path in response.paths
        ),
        nodes=tuple(
            PathNode(
                id=node.id,
                is_test=node.is_test,
                is_generated=node.is_generated,
                symbol=node.symbol,
                path=node.location.path,
                start_line=node.location.start_line,
                end_line=node.location.end_line,
            )
            for node in response.nodes
        ),
        debug=PathsDebug(
            from_count=response.debug.from_count,
            to_count=response.debug.to_count,
            reached_count=response.debug.reached_count,
            searched_hops=response.debug.searched_hops,
            truncated=response.debug.truncated,
            reason=response.debug.reason,
        ),
        index=response.index,
    )


def _edge(edge: retrieval_pb2.GraphEdge) -> DependencyEdge:
    return DependencyEdge(edge.from_id, edge.to_id, edge.edge_type, _confidence(edge.confidence), edge.line)


def _confidence(value: float) -> float:
    """A 32-bit float, or a product of some, as the decimal it was made from: 0.9 travels as 0.8999999762.

    Six digits are what it holds.
    """
    return float(f"{value:.6g}")
