"""What a caller may not see, or did not ask about, changes nothing that a query reads, tested literally.

Every answer over an index equals the answer over an index that never held the hidden nodes, in every lifecycle.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, event, given
from hypothesis import strategies as st

from groundwire_server.backends.embedded.backend import EmbeddedBackend
from groundwire_server.backends.embedded.retrievers.semantic import PathLimits
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.access.lifecycle import Lifecycle
from groundwire_server.domain.errors import NotFoundError
from groundwire_server.domain.query.diversity import cosines
from support.chunks import SCOPE, MakeNode, OpenBackend, callers, candidate_searches, corpora, serving
from support.listed_candidates import Asked, Told, find
from support.properties import costly
from support.semantic_paths import PATHS, taking

lifecycles = st.sampled_from(Lifecycle)


def answers(
    backend: EmbeddedBackend, caller: AccessContext, lifecycle: Lifecycle, searches: Sequence[Asked], ids: Sequence[str]
) -> list[object]:
    """Everything that a snapshot answers to a query, in order, with ids for rows: these differ between indexes."""
    snapshot = backend.open(SCOPE, caller, lifecycle)
    known = snapshot.rows(ids)
    rows = np.fromiter(known.values(), dtype=np.int64)
    vectors = snapshot.vectors(rows)
    return [
        *(alike(find(backend, search, caller, lifecycle)) for search in searches),
        list(known),
        snapshot.node_count,
        snapshot.nodes(rows),
        *([snapshot.ids(positions) for positions in read(rows)] for read in (snapshot.parents, snapshot.adjacent)),
        *(cosines(vectors, vector).tolist() for vector in vectors),
        snapshot.service_contexts(["a", "b", "ä", "absent"]),
        snapshot.text_sizes(rows),
        snapshot.texts(rows),
    ]


def alike(retrieved: Told) -> Told:
    """With files numbered as they first occur: the numbers themselves say nothing, and stay inside the server."""
    numbers: dict[int, int] = {}
    items = [
        item if item.file is None else replace(item, file=numbers.setdefault(item.file, len(numbers)))
        for item in retrieved.items
    ]
    return replace(retrieved, items=tuple(items))


@costly()
@given(data=st.data(), caller=callers, limits=st.sampled_from(PATHS))
def test_answers_equal_those_of_an_index_that_never_held_the_hidden_nodes(
    data: st.DataObject, caller: AccessContext, limits: PathLimits, make_node: MakeNode, shared_backend: OpenBackend
) -> None:
    corpus = data.draw(corpora(make_node))
    trimmed = corpus.seen_by(caller)
    searches = [data.draw(candidate_searches) for _ in range(3)]
    ids = data.draw(st.permutations([*(node.id for node in corpus.nodes), "absent"]))
    with taking(limits):
        with serving(corpus, shared_backend) as backend:
            over_the_full_index = [answers(backend, caller, lifecycle, searches, ids) for lifecycle in Lifecycle]
        with serving(trimmed, shared_backend) as backend:
            over_the_trimmed_index = [answers(backend, caller, lifecycle, searches, ids) for lifecycle in Lifecycle]
    event("something hidden" if len(trimmed.nodes) < len(corpus.nodes) else "nothing hidden")
    assert over_the_full_index == over_the_trimmed_index


@costly()
@given(data=st.data(), caller=callers, lifecycle=st.sampled_from([Lifecycle.ACTIVE, Lifecycle.DELETED]))
def test_nodes_of_the_other_lifecycle_change_nothing_but_how_many_were_blocked(
    data: st.DataObject, caller: AccessContext, lifecycle: Lifecycle, make_node: MakeNode, shared_backend: OpenBackend
) -> None:
    corpus = data.draw(corpora(make_node))
    trimmed = corpus.alive(lifecycle)
    assume(trimmed.seen_by(caller).nodes)
    searches = [data.draw(candidate_searches) for _ in range(2)]
    ids = [node.id for node in corpus.nodes]
    with serving(corpus, shared_backend) as backend:
        actual = answers(backend, caller, lifecycle, searches, ids)
    with serving(trimmed, shared_backend) as backend:
        expected = answers(backend, caller, lifecycle, searches, ids)
    assert [replace(answer, deleted_blocked=0) if isinstance(answer, Told) else answer for answer in actual] == expected


@given(data=st.data(), caller=callers, lifecycle=lifecycles)
def test_a_scope_exists_for_who_sees_a_node_of_it_deleted_or_not(
    data: st.DataObject, caller: AccessContext, lifecycle: Lifecycle, make_node: MakeNode, shared_backend: OpenBackend
) -> None:
    corpus = data.draw(corpora(make_node))
    private = corpus.of([node for node in corpus.nodes if node.access.acl_tags or node.access.tenant_id])
    assume(private.nodes)
    with serving(private, shared_backend) as backend:
        if private.seen_by(caller).nodes:
            assert backend.open(SCOPE, caller, lifecycle).index == "v1"
            assert backend.get_index(SCOPE, caller)[0].node_count == len(
                private.seen_by(caller).alive(Lifecycle.ACTIVE).nodes
            )
        else:
            with pytest.raises(NotFoundError):
                backend.open(SCOPE, caller, lifecycle)
