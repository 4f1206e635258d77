"""Nodes, parents, neighbours and vectors of one view, each against its definition over the visible nodes."""

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from groundwire_index.nodes.node import CONTAINS, Edge, Node, NodeAccess
from groundwire_server.backends.embedded.backend import EmbeddedBackend
from groundwire_server.backends.embedded.snapshot import EmbeddedSnapshot
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.access.lifecycle import Lifecycle
from groundwire_server.domain.query.diversity import cosines
from groundwire_server.domain.search.candidates import Positions
from support.chunks import SCOPE, Corpus, MakeNode, OpenBackend, callers, corpora, filters, serving

PUBLIC = AccessContext()
HIDDEN = NodeAccess(acl_tags=("finance",))
lifecycles = st.sampled_from(Lifecycle)


def parents(corpus: Corpus) -> dict[str, tuple[str, ...]]:
    parent_ids = {
        node.id: tuple(sorted(e.from_id for e in corpus.edges if (e.to_id, e.edge_type) == (node.id, CONTAINS)))
        for node in corpus.nodes
    }
    return {id_: ids for id_, ids in parent_ids.items() if ids}


def around(
    snapshot: EmbeddedSnapshot, read: Callable[[Positions], list[Positions]], ids: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    """What is read for each of the ids that are there; what has nothing is left out."""
    known = snapshot.rows(ids)
    related = read(np.fromiter(known.values(), dtype=np.int64))
    return {id_: tuple(snapshot.ids(rows)) for id_, rows in zip(known, related, strict=True) if len(rows)}


def parents_in(backend: EmbeddedBackend, nodes: Sequence[Node]) -> dict[str, tuple[str, ...]]:
    snapshot = backend.open(SCOPE, PUBLIC)
    return around(snapshot, snapshot.parents, [node.id for node in nodes])


def adjacent_in(backend: EmbeddedBackend, nodes: Sequence[Node]) -> dict[str, tuple[str, ...]]:
    snapshot = backend.open(SCOPE, PUBLIC)
    return around(snapshot, snapshot.adjacent, [node.id for node in nodes])


def document(node: Node) -> tuple[str, str, str]:
    return node.document_id or node.location.path, node.repo_name, node.document_version_id


def neighbors(corpus: Corpus) -> dict[str, tuple[str, ...]]:
    neighbor_ids: dict[str, tuple[str, ...]] = {}
    for node in corpus.nodes:
        chunks = [other for other in corpus.nodes if document(other) == document(node)]
        chunks.sort(key=lambda chunk: (chunk.chunk_index, chunk.location.start_line, chunk.id))
        place = chunks.index(node)
        beside = [*chunks[max(0, place - 1) : place], *chunks[place + 1 : place + 2]]
        if beside and document(node)[0]:
            neighbor_ids[node.id] = tuple(other.id for other in beside)
    return neighbor_ids


@given(data=st.data(), caller=callers, lifecycle=lifecycles)
def test_nodes_parents_and_neighbours_are_those_among_the_visible_nodes_that_pass_a_filter(
    data: st.DataObject, caller: AccessContext, lifecycle: Lifecycle, make_node: MakeNode, shared_backend: OpenBackend
) -> None:
    corpus, filter_ = data.draw(corpora(make_node)), data.draw(filters())
    seen = corpus.seen_by(caller).alive(lifecycle).passing(filter_)
    ids = [*(node.id for node in corpus.nodes), "absent", corpus.nodes[0].id]
    with serving(corpus, shared_backend) as backend:
        snapshot = backend.open(SCOPE, caller, lifecycle, filter_)
        rows = snapshot.rows(ids)
        assert list(rows) == [node.id for node in seen.nodes]
        assert snapshot.nodes(np.fromiter(rows.values(), dtype=np.int64)) == seen.nodes
        assert around(snapshot, snapshot.parents, ids) == parents(seen)
        assert around(snapshot, snapshot.adjacent, ids) == neighbors(seen)
        event(f"{min(2, len(neighbors(seen)))} with neighbours or more")


@given(data=st.data(), caller=callers, lifecycle=lifecycles)
def test_similarities_are_the_cosines_of_visible_vectors(
    data: st.DataObject, caller: AccessContext, lifecycle: Lifecycle, make_node: MakeNode, shared_backend: OpenBackend
) -> None:
    corpus = data.draw(corpora(make_node))
    seen = {node.id: corpus.vectors[node.id] for node in corpus.seen_by(caller).alive(lifecycle).nodes}
    ids = [*(node.id for node in corpus.nodes), "absent"]

    def cosine(a: str, b: str) -> float:
        vector_a, vector_b = seen.get(a), seen.get(b)
        if vector_a is None or vector_b is None:
            return 0.0
        return sum(x * y for x, y in zip(vector_a, vector_b, strict=True)) / (
            math.hypot(*vector_a) * math.hypot(*vector_b)
        )

    with serving(corpus, shared_backend) as backend:
        snapshot = backend.open(SCOPE, caller, lifecycle)
        known = snapshot.rows(ids)
        vectors = snapshot.vectors(np.fromiter(known.values(), dtype=np.int64))
    similarities = np.asarray([cosines(vectors, vector) for vector in vectors]).reshape(len(known), len(known))
    assert similarities == pytest.approx(
        np.asarray([[cosine(a, b) for b in known] for a in known]).reshape(similarities.shape), abs=1e-7
    )
    assert similarities.tobytes() == similarities.T.tobytes(), (
        "a node is as similar to another as that to it, to the bit"
    )


def test_a_hidden_chunk_does_not_part_its_neighbours(make_node: MakeNode, open_backend: OpenBackend) -> None:
    a = make_node("A", "one", document_id="d", chunk_index=3)
    b = make_node("B", "two", document_id="d", chunk_index=2, access=HIDDEN)
    c = make_node("C", "three", document_id="d", chunk_index=1)
    other = make_node("D", "four", document_id="d", document_version_id="2", chunk_index=2)
    with serving(Corpus([a, b, c, other]), open_backend) as backend:
        assert adjacent_in(backend, [a, b, c, other]) == {a.id: (c.id,), c.id: (a.id,)}


def test_only_edges_of_the_one_type_make_parents(make_node: MakeNode, open_backend: OpenBackend) -> None:
    a, b, c = (make_node(name, "tax") for name in "ABC")
    edges = [Edge(a.id, c.id, "Calls"), Edge(b.id, c.id, CONTAINS), Edge(c.id, a.id, CONTAINS), Edge(a.id, b.id, "FK")]
    with serving(Corpus([a, b, c], edges), open_backend) as backend:
        assert parents_in(backend, [a, b, c]) == {a.id: (c.id,), c.id: (b.id,)}
    with serving(Corpus([a, b, c], edges[:1]), open_backend) as backend:
        assert parents_in(backend, [c]) == {}
