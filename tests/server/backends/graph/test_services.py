"""The neighbourhood of a service against its definition over the visible nodes and edges."""

from collections import Counter

from hypothesis import event, given
from hypothesis import strategies as st

from groundwire_index.nodes.node import CONTAINS, Edge, NodeAccess
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.access.lifecycle import Lifecycle
from groundwire_server.domain.query.query_result import ServiceContext, ServiceEdge
from support.chunks import SCOPE, Corpus, MakeNode, OpenBackend, callers, corpora, filters, serving

PUBLIC = AccessContext()


def context(name: str, corpus: Corpus) -> ServiceContext:
    services = {node.id: node.service_name for node in corpus.nodes}
    counts = Counter(
        (services[edge.from_id], services[edge.to_id], edge.edge_type)
        for edge in corpus.edges
        if edge.edge_type != CONTAINS and "" != services[edge.from_id] != services[edge.to_id] != ""
    )
    edges = [ServiceEdge(*edge, count) for edge, count in sorted(counts.items()) if name in edge[:2]]
    return ServiceContext(
        service_name=name,
        calls=tuple(sorted({edge.to_service for edge in edges} - {name})),
        called_by=tuple(sorted({edge.from_service for edge in edges} - {name})),
        edges=tuple(edges),
    )


@given(data=st.data(), caller=callers, lifecycle=st.sampled_from(Lifecycle))
def test_a_neighbourhood_is_that_of_the_visible_edges(
    data: st.DataObject, caller: AccessContext, lifecycle: Lifecycle, make_node: MakeNode, shared_backend: OpenBackend
) -> None:
    corpus, filter_ = data.draw(corpora(make_node)), data.draw(filters(most_fields=1))
    names = data.draw(st.lists(st.sampled_from(["a", "b", "ä", "absent"]), max_size=5))
    seen = corpus.seen_by(caller).alive(lifecycle).passing(filter_)
    with serving(corpus, shared_backend) as backend:
        contexts = backend.open(SCOPE, caller, lifecycle, filter_).service_contexts(names)
    assert contexts == tuple(context(name, seen) for name in sorted(set(names)))
    event("some edges" if any(service.edges for service in contexts) else "no edge")


def test_edges_are_counted_by_their_ends_and_type(make_node: MakeNode, open_backend: OpenBackend) -> None:
    orders = [make_node(f"O{number}", service_name="orders") for number in range(2)]
    billing = [make_node("B1", service_name="billing"), make_node("B2", service_name="billing")]
    hidden = make_node("H", service_name="billing", access=NodeAccess(acl_tags=("finance",)))
    of_none = make_node("N")
    edges = [
        *(Edge(order.id, bill.id, "CallsService") for order in orders for bill in [*billing, hidden, of_none]),
        Edge(billing[0].id, orders[0].id, "Notifies"),
        Edge(billing[0].id, billing[1].id, "CallsService"),
        Edge(orders[0].id, billing[0].id, CONTAINS),
    ]
    nodes = sorted([*orders, *billing, hidden, of_none], key=lambda node: node.id)
    service_edges = (
        ServiceEdge("billing", "orders", "Notifies", 1),
        ServiceEdge("orders", "billing", "CallsService", 4),
    )
    with serving(Corpus(nodes, edges), open_backend) as backend:
        assert backend.open(SCOPE, PUBLIC).service_contexts(["orders", "mail", "billing", "orders"]) == (
            ServiceContext("billing", ("orders",), ("orders",), service_edges),
            ServiceContext("mail", (), (), ()),
            ServiceContext("orders", ("billing",), ("billing",), service_edges),
        )
