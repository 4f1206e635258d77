"""A walk arrives as it was asked, the neighbourhood as it was found."""

from hypothesis import given
from hypothesis import strategies as st

from groundwire.v1 import retrieval_pb2, scope_pb2
from groundwire_index.nodes.node import Edge
from groundwire_server.domain.graph.expansion import Direction, ExpandedNode, ExpandReason, ExpandRequest, Expansion
from groundwire_server.domain.search.search import Filter
from groundwire_server.rpc.conversions.expansion import decode_expand, encode_expansion
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


@given(
    st.builds(
        ExpandRequest,
        scope=scopes,
        access=st.just(ACCESS),
        seed_ids=name_tuples,
        max_depth=st.none() | int32,
        max_nodes=int32,
        edge_allowlist=name_tuples,
        direction=st.sampled_from(Direction),
        filter=st.builds(Filter, kinds=name_tuples, is_test=st.none() | st.booleans()),
        min_confidence=st.floats(allow_nan=False),
    )
)
def test_a_walk_arrives_as_it_was_asked(request: ExpandRequest) -> None:
    message = retrieval_pb2.ExpandDependencyTreeRequest(
        scope=scope_message(request.scope),
        seed_ids=request.seed_ids,
        max_depth=request.max_depth,
        max_nodes=request.max_nodes,
        edge_allowlist=request.edge_allowlist,
        direction=retrieval_pb2.EdgeDirection.Value(f"EDGE_DIRECTION_{request.direction.name}"),
        filter=scope_pb2.NodeFilter(kinds=request.filter.kinds, is_test=request.filter.is_test),
        min_confidence=request.min_confidence,
    )
    assert decode_expand(over_the_wire(message), ACCESS) == request


@given(
    st.builds(
        Expansion,
        seed_ids=name_tuples,
        nodes=st.lists(
            st.builds(ExpandedNode, names, counts, names, names, locations, st.booleans(), st.booleans()), max_size=3
        ).map(tuple),
        edges=st.lists(
            st.builds(Edge, names, names, names, st.floats(0, 1, exclude_min=True, width=32), counts), max_size=3
        ).map(tuple),
        reason=st.sampled_from(ExpandReason),
        index=names,
        seed_count=counts,
    )
)
def test_an_expansion_arrives_as_it_was_found(expansion: Expansion) -> None:
    message = over_the_wire(encode_expansion(expansion))
    assert (
        Expansion(
            seed_ids=tuple(message.seed_ids),
            nodes=tuple(
                ExpandedNode(
                    node.id,
                    node.depth,
                    node.parent_id,
                    node.symbol,
                    decoded_location(node.location),
                    node.is_test,
                    node.is_generated,
                )
                for node in message.nodes
            ),
            edges=tuple(
                Edge(edge.from_id, edge.to_id, edge.edge_type, edge.confidence, edge.line) for edge in message.edges
            ),
            reason=ExpandReason(message.debug.reason),
            index=message.index,
            seed_count=message.debug.seed_count,
        )
        == expansion
    )
    assert message.debug == retrieval_pb2.ExpandDebug(
        seed_count=expansion.seed_count,
        expanded_count=len(expansion.nodes),
        edges_count=len(expansion.edges),
        truncated=expansion.truncated,
        reason=expansion.reason.value,
    )
