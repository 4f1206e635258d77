"""FindPaths between protobuf and the domain."""

from groundwire.v1 import retrieval_pb2
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.graph.paths import Paths, PathsRequest
from groundwire_server.domain.search.search import NodeLabel
from groundwire_server.domain.validation import Violations
from groundwire_server.rpc.conversions.expansion import decode_direction, encode_edge
from groundwire_server.rpc.conversions.filter import decode_filter
from groundwire_server.rpc.conversions.location import encode_location
from groundwire_server.rpc.conversions.scope import decode_lifecycle, decode_scope
from groundwire_server.rpc.conversions.shared_fields import given_fields, shared_fields

_given_fields = given_fields(PathsRequest, retrieval_pb2.FindPathsRequest)
_node_fields = shared_fields(NodeLabel, retrieval_pb2.PathNode)
_debug_fields = shared_fields(Paths, retrieval_pb2.FindPathsDebug)


def decode_paths(request: retrieval_pb2.FindPathsRequest, access: AccessContext) -> PathsRequest:
    """The search for paths that a caller with `access` asks for. Raises InvalidRequestError."""
    violations = Violations()
    decoded = PathsRequest(
        scope=decode_scope(request, violations),
        access=access,
        **_given_fields(request),
        direction=decode_direction(request.direction, "direction", violations),
        filter=decode_filter(request.filter, violations),
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
            retrieval_pb2.PathNode(**_node_fields(node), location=encode_location(node.location))
            for node in found.nodes
        ],
        debug=retrieval_pb2.FindPathsDebug(**_debug_fields(found), truncated=found.truncated),
        index=found.index,
    )
