"""Everything that the Milvus backend says of an index against what the embedded one says of the same, bit for bit."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from groundwire_index.nodes.source_texts import SourceRuns
from groundwire_index.scope import Scope
from groundwire_index.store.loaded import LoadedIndex
from groundwire_index.store.store import IndexStore
from groundwire_milvus.serving.backend import MilvusBackend
from groundwire_server.backends.embedded.backend import EmbeddedBackend
from groundwire_server.backends.interface import Backend, IndexSnapshot, PathSearch, Walk
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.access.grants import UNLIMITED
from groundwire_server.domain.access.lifecycle import Lifecycle
from groundwire_server.domain.errors import NotFoundError
from groundwire_server.domain.graph.expansion import Direction
from groundwire_server.domain.search.candidates import Candidates, Retrieval
from groundwire_server.domain.search.search import Filter, MetadataCondition, Retriever
from groundwire_server.query_embedding.query_vectors import unit_vector
from support.both_backends import LARGE_DOCUMENT, MakeNode, varied_content
from support.bound_oracle import VALUES, Bound, bounds
from support.calls import never_stop
from support.chunks import callers, filters
from support.milvus_builds import copy_to_milvus, new_catalogue
from support.milvus_server import MilvusServer
from support.properties import costly

SCOPE = Scope("shop", "main", "v1")
PATIENCE_SECONDS = 300


@dataclass(frozen=True)
class Both:
    """One index behind both backends, and the ids of its nodes."""

    embedded: EmbeddedBackend
    milvus: MilvusBackend
    ids: list[str]


@pytest.fixture(scope="module")
def both(
    milvus: MilvusServer, make_node: MakeNode, publish: Callable[..., None], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Both]:
    data = tmp_path_factory.mktemp("data")
    content = varied_content(make_node, 300, LARGE_DOCUMENT)
    publish(data, content.nodes, content.edges, content.vectors, scope=SCOPE)
    catalogue = new_catalogue(milvus)
    copy_to_milvus(LoadedIndex(IndexStore(data).require(SCOPE)), catalogue)
    yield Both(EmbeddedBackend(data), MilvusBackend(catalogue.store.address), [node.id for node in content.nodes])
    catalogue.store.close()


conditions = st.builds(
    MetadataCondition,
    key=st.sampled_from(["process", "n", "workflow_id", "absent"]),
    values=st.lists(st.sampled_from(["billing", "true", "red", 1, 1.0, 7, 2.5, True, None]), max_size=2).map(tuple),
)
narrowing = (
    st.just(Filter())
    | filters(most_fields=2)
    | st.builds(
        Filter,
        collection_ids=st.lists(st.sampled_from(VALUES), max_size=2).map(tuple),
        path_prefixes=st.sampled_from([(), ("src/",), ("src/größe", "data/"), ("",)]),
        tenant_ids=st.sampled_from([(), ("",), ("t",), ("t", "")]),
        metadata=st.lists(conditions, max_size=1).map(tuple),
    )
)
lifecycles = st.sampled_from([Lifecycle.ACTIVE, Lifecycle.ACTIVE, Lifecycle.ALL, Lifecycle.DELETED])


def _bound(caller: AccessContext, bound: Bound) -> AccessContext:
    return replace(caller, bounds=bound.bounds)


accesses = callers | st.builds(_bound, callers, bounds)
vectors = st.sampled_from([(1, 0, 0, 0, 0), (1, 1, 0, 0, 0), (0, -1, 0, 0, 1), (0.3, -2, 1, 0.5, 0.1)]).map(
    lambda vector: unit_vector(np.asarray(vector, dtype=np.float64))
)
QUERIES = [
    "get user by id",
    "Users.getUsrById() tax.py",
    "the",
    "größe 支払 invoices of users",
    "handleRequest handleRequest total",
    "absent",
    "",
    "src/tax.py getUserById setUser() users.sql",
]
counts = st.sampled_from([1, 3, 20, 150])
searches = st.builds(
    Retrieval,
    query=st.sampled_from(QUERIES),
    query_vector=vectors,
    limits=st.dictionaries(st.sampled_from(Retriever), counts, min_size=1)
    | st.fixed_dictionaries(dict.fromkeys(Retriever, counts)),
    min_similarity=st.sampled_from([None, 0.0, 0.5, 0.9]),
    trigram_threshold=st.sampled_from([0.0, 0.3, 0.5, 1.0]),
    with_columns=st.booleans(),
    scores_files=st.booleans(),
)


def opened(
    both: Both, access: AccessContext, lifecycle: Lifecycle, filter_: Filter
) -> tuple[IndexSnapshot, IndexSnapshot] | None:
    """A snapshot of each; None where both say alike that there is nothing for the caller."""
    expected, actual = (_opened(backend, access, lifecycle, filter_) for backend in (both.embedded, both.milvus))
    if isinstance(expected, str) or isinstance(actual, str):
        assert actual == expected
        return None
    return expected, actual


def _opened(backend: Backend, access: AccessContext, lifecycle: Lifecycle, filter_: Filter) -> IndexSnapshot | str:
    try:
        return backend.open(SCOPE, access, lifecycle, filter_)
    except NotFoundError as error:
        return error.message


def assert_same(expected: NDArray[np.generic], actual: NDArray[np.generic]) -> None:
    """The same values; of floats the same bits, NaN included."""
    assert actual.shape == expected.shape
    if expected.dtype.kind == "f":
        assert actual.dtype == expected.dtype
        assert actual.tobytes() == expected.tobytes()
    else:
        assert actual.tolist() == expected.tolist()


def assert_same_candidates(expected: Candidates, actual: Candidates) -> None:
    assert_same(expected.rows, actual.rows)
    assert list(actual.by_retriever) == list(expected.by_retriever)
    for retriever, scores in expected.by_retriever.items():
        assert_same(scores.ranks, actual.by_retriever[retriever].ranks)
        assert_same(scores.scores, actual.by_retriever[retriever].scores)
    assert_same(expected.files.scores, actual.files.scores)
    assert_same(expected.files.is_alone, actual.files.is_alone)
    assert actual.exact == expected.exact
    assert actual.columns.corpus_types == expected.columns.corpus_types
    for column in fields(expected.columns)[1:]:
        assert_same(getattr(expected.columns, column.name), getattr(actual.columns, column.name))


@costly()
@given(access=accesses, lifecycle=lifecycles, filter_=narrowing, search=searches)
def test_candidates_are_the_same(
    both: Both, access: AccessContext, lifecycle: Lifecycle, filter_: Filter, search: Retrieval
) -> None:
    snapshots = opened(both, access, lifecycle, filter_)
    if snapshots is None:
        event("sees nothing")
        return
    expected, actual = snapshots
    candidates = expected.retrieve(search, never_stop)
    assert_same_candidates(candidates, actual.retrieve(search, never_stop))
    assert actual.matched_tokens(search.query, candidates.rows) == expected.matched_tokens(
        search.query, candidates.rows
    )
    event("some" if len(candidates) else "none")


def selected_runs(snapshot: IndexSnapshot) -> SourceRuns:
    runs = snapshot.all_source_runs()
    assert runs is not None
    return snapshot.selected_source_runs(runs.result(PATIENCE_SECONDS), never_stop)


@costly()
@given(access=accesses, lifecycle=lifecycles, filter_=narrowing)
def test_the_lines_of_files_are_the_same(
    both: Both, access: AccessContext, lifecycle: Lifecycle, filter_: Filter
) -> None:
    snapshots = opened(both, access, lifecycle, filter_)
    if snapshots is None:
        event("sees nothing")
        return
    expected, actual = map(selected_runs, snapshots)
    for column in fields(SourceRuns):
        if column.name not in ("content", "signatures"):
            assert_same(getattr(expected, column.name), getattr(actual, column.name))
    assert actual.content == expected.content
    assert_same(expected.signatures.bits, actual.signatures.bits)
    event("some" if len(expected.rows) else "none")


@costly()
@given(access=accesses, lifecycle=lifecycles, filter_=narrowing, data=st.data())
def test_what_is_read_by_row_is_the_same(
    both: Both, access: AccessContext, lifecycle: Lifecycle, filter_: Filter, data: st.DataObject
) -> None:
    snapshots = opened(both, access, lifecycle, filter_)
    if snapshots is None:
        return
    expected, actual = snapshots
    assert actual.index == expected.index
    assert actual.vector_space == expected.vector_space
    assert actual.retrievers == expected.retrievers
    assert actual.node_count == expected.node_count
    ids = data.draw(st.lists(st.sampled_from([*both.ids, "shop::main::cs::absent", "größe", ""]), max_size=30))
    named = expected.rows(ids)
    assert list(actual.rows(ids).items()) == list(named.items())
    rows = np.fromiter(named.values(), dtype=np.int64)
    for read in ("ids", "labels", "nodes", "texts", "text_sizes"):
        assert getattr(actual, read)(rows) == getattr(expected, read)(rows)
    assert_same(expected.vectors(rows), actual.vectors(rows))
    for beside in ("parents", "adjacent"):
        related = [positions.tolist() for positions in getattr(expected, beside)(rows)]
        assert [positions.tolist() for positions in getattr(actual, beside)(rows)] == related
    around, same = expected.neighbourhood(np.sort(rows)), actual.neighbourhood(np.sort(rows))
    for part in fields(around):
        assert_same(getattr(around, part.name), getattr(same, part.name))
    services = sorted(set(VALUES) - {""})
    assert actual.service_contexts(services) == expected.service_contexts(services)
    event("some" if len(rows) else "none")


@costly()
@given(
    access=accesses,
    lifecycle=lifecycles,
    filter_=narrowing,
    direction=st.sampled_from(Direction),
    edge_types=st.sampled_from([None, frozenset({"calls"}), frozenset({"fk", "contains"})]),
    data=st.data(),
)
def test_walks_and_paths_are_the_same(
    both: Both,
    access: AccessContext,
    lifecycle: Lifecycle,
    filter_: Filter,
    direction: Direction,
    edge_types: frozenset[str] | None,
    data: st.DataObject,
) -> None:
    snapshots = opened(both, access, lifecycle, filter_)
    if snapshots is None:
        return
    expected, actual = snapshots
    ids = st.lists(st.sampled_from(both.ids[:300]), min_size=1, max_size=5).map(tuple)
    walk = Walk(data.draw(ids), data.draw(st.integers(0, 3)), 40, edge_types, direction, 1 << 20, 0.7)
    assert actual.expand(walk, never_stop) == expected.expand(walk, never_stop)
    search = PathSearch(data.draw(ids), data.draw(ids), 4, 10, 200, edge_types, direction, 1 << 20)
    assert actual.find_paths(search, never_stop) == expected.find_paths(search, never_stop)


@costly()
@given(access=accesses)
def test_versions_are_told_the_same(both: Both, access: AccessContext) -> None:
    expected = both.embedded.list_indexes("", "", access, UNLIMITED.scopes, never_stop)
    assert both.milvus.list_indexes("", "", access, UNLIMITED.scopes, never_stop) == expected
    for summary in expected:
        described = both.embedded.get_index(SCOPE, access)
        assert described[0] == summary
        assert both.milvus.get_index(SCOPE, access) == described


def test_a_hidden_row_never_leaves(both: Both) -> None:
    public = both.milvus.open(SCOPE, AccessContext())
    everything = both.milvus.open(SCOPE, AccessContext("t", frozenset("ab"), frozenset("xy"), 2), Lifecycle.ALL)
    hidden = np.setdiff1d(
        np.fromiter(everything.rows(both.ids[:50]).values(), dtype=np.int64),
        np.fromiter(public.rows(both.ids[:50]).values(), dtype=np.int64),
    )
    embedded = both.embedded.open(SCOPE, AccessContext())
    of_milvus = public.ids, public.labels, public.nodes, public.texts, public.text_sizes, public.vectors, public.paths
    for read in (*of_milvus, embedded.ids, embedded.labels, embedded.nodes, embedded.texts, embedded.paths):
        with pytest.raises(PermissionError, match="a hidden row"):
            read(hidden)
