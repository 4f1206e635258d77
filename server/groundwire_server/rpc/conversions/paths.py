"""FindPaths between protobuf and the domain."""

from groundwire.v1 import retrieval_pb2
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.graph.paths import Paths, PathsRequest
from groundwire_server.domain.validation import Violations
from groundwire_server.rpc.conversions.expansion import decode_direction, encode_edge
from groundwire_server.rpc.conversions.filter import decode_filter
from groundwire_server.rpc.conversions.location import encode_location
from groundwire_server.rpc.conversions.scope import decode_lifecycle, decode_scope


def decode_paths(request: retrieval_pb2.FindPathsRequest, access: AccessContext) -> PathsRequest:
    """The search for paths that a caller with `access` asks for. Raises InvalidRequestError."""
    violations = Violations()
    decoded = PathsRequest(
        scope=decode_scope(request, violations),
        access=access,
        from_ids=tuple(request.from_ids),
        to_ids=tuple(request.to_ids),
        max_hops=request.max_hops,
        max_paths=request.max_paths,
        max_nodes=request.max_nodes,
        edge_allowlist=tuple(request.edge_allowlist),
        direction=decode_direction(request.direction, "direction", violations),
        filter=decode_filter(request.filter, violations),
        min_confidence=request.min_confidence,
        lifecycle=decode_lifecycle(request.lifecycle, "lifecycle", violations),
    )
    violations.raise_any()
    return decoded


def encode_paths(found: Paths) -> retrieval_pb2.FindPathsResponse:
    """The paths and how the search went."""
    return retrieval_pb2.FindPathsResponse(
        paths=[
            retrieval_pb2.DependencyPath(
                node_ids=path.node_ids, hops=map(encode_edge, path.hops), confidence=path.confidence
            )
            for path in found.paths
        ],
        nodes=[
            retrieval_pb2.PathNode(
                id=node.id,
                is_test=node.is_test,
                is_generated=node.is_generated,
                symbol=node.symbol,
                location=encode_location(node.location),
            )
            for node in found.nodes
        ],
        debug=retrieval_pb2.FindPathsDebug(
            from_count=found.from_count,
            to_count=found.to_count,
            reached_count=found.reached_count,
            searched_hops=found.searched_hops,
            truncated=found.truncated,
            reason=found.reason.value,
        ),
        index=found.index,
    )
