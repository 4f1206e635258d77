"""A search for paths arrives as it was asked, the paths as they were found."""

from hypothesis import given
from hypothesis import strategies as st

from groundwire.v1 import retrieval_pb2, scope_pb2
from groundwire_index.nodes.node import Edge
from groundwire_server.domain.graph.expansion import Direction
from groundwire_server.domain.graph.paths import DependencyPath, Paths, PathsReason, PathsRequest
from groundwire_server.domain.search.search import Filter, NodeLabel
from groundwire_server.rpc.conversions.expansion import decode_paths, encode_paths
from support.conversions import (
    ACCESS,
    counts,
    decoded_location,
    int32,
    locations,
    name_tuples,
    names,
    over_the_wire,
    scope_message,
    scopes,
)

shares = st.floats(0, 1, exclude_min=True, width=32)
paths = st.builds(
    DependencyPath,
    node_ids=name_tuples,
    hops=st.lists(st.builds(Edge, names, names, names, shares, counts), max_size=3).map(tuple),
    confidence=shares,
)


@given(
    st.builds(
        PathsRequest,
        scope=scopes,
        access=st.just(ACCESS),
        from_ids=name_tuples,
        to_ids=name_tuples,
        max_hops=int32,
        max_paths=int32,
        max_nodes=int32,
        edge_allowlist=name_tuples,
        direction=st.sampled_from(Direction),
        filter=st.builds(Filter, kinds=name_tuples, is_test=st.none() | st.booleans()),
        min_confidence=st.floats(allow_nan=False),
    )
)
def test_a_search_for_paths_arrives_as_it_was_asked(request: PathsRequest) -> None:
    message = retrieval_pb2.FindPathsRequest(
        scope=scope_message(request.scope),
        from_ids=request.from_ids,
        to_ids=request.to_ids,
        max_hops=request.max_hops,
        max_paths=request.max_paths,
        max_nodes=request.max_nodes,
        edge_allowlist=request.edge_allowlist,
        direction=retrieval_pb2.EdgeDirection.Value(f"EDGE_DIRECTION_{request.direction.name}"),
        filter=scope_pb2.NodeFilter(kinds=request.filter.kinds, is_test=request.filter.is_test),
        min_confidence=request.min_confidence,
    )
    assert decode_paths(over_the_wire(message), ACCESS) == request


@given(
    st.builds(
        Paths,
        paths=st.lists(paths, max_size=3).map(tuple),
        nodes=st.lists(st.builds(NodeLabel, names, names, locations, st.booleans(), st.booleans()), max_size=3).map(
            tuple
        ),
        from_count=counts,
        to_count=counts,
        reached_count=counts,
        searched_hops=counts,
        reason=st.sampled_from(PathsReason),
        index=names,
    )
)
def test_paths_arrive_as_they_were_found(sent: Paths) -> None:
    message = over_the_wire(encode_paths(sent))
    debug = message.debug
    arrived = Paths(
        paths=tuple(
            DependencyPath(
                tuple(path.node_ids),
                tuple(Edge(hop.from_id, hop.to_id, hop.edge_type, hop.confidence, hop.line) for hop in path.hops),
                path.confidence,
            )
            for path in message.paths
        ),
        nodes=tuple(
            NodeLabel(node.id, node.symbol, decoded_location(node.location), node.is_test, node.is_generated)
            for node in message.nodes
        ),
        from_count=debug.from_count,
        to_count=debug.to_count,
        reached_count=debug.reached_count,
        searched_hops=debug.searched_hops,
        reason=PathsReason(debug.reason),
        index=message.index,
    )
    assert arrived == sent
    assert debug.truncated == sent.truncated
