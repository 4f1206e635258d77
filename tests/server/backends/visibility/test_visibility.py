"""What a caller sees: masks by lifecycle, counts, and the one point that every id leaves through."""

import gc
import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_index.nodes.node import Edge, JsonValue, Node, NodeAccess
from groundwire_index.scope import Scope
from groundwire_index.store.loaded import LoadedIndex
from groundwire_index.store.store import IndexStore
from groundwire_index.text.code_tokenizer import tokenize
from groundwire_index.text.prose_tokenizer import tokenize_prose
from groundwire_server.backends.embedded.visibility.row_selection import RowFilter
from groundwire_server.backends.embedded.visibility.visibility import Visibility, VisibilityCache
from groundwire_server.domain.access.access import AccessContext, Bounds, may_see
from groundwire_server.domain.access.lifecycle import Lifecycle
from groundwire_server.domain.access.name_sets import Names
from groundwire_server.domain.search.search import Filter
from support import bound_oracle

SCOPE = Scope("shop", "main", "v1")
MakeNode = Callable[..., Node]
Publish = Callable[..., None]
Scratch = Callable[[], AbstractContextManager[Path]]

accesses = st.builds(
    NodeAccess,
    tenant_id=st.sampled_from(["", "t"]),
    acl_tags=st.lists(st.sampled_from("ab"), max_size=2).map(tuple),
    classification_labels=st.lists(st.sampled_from("xy"), max_size=2).map(tuple),
    clearance_level=st.integers(0, 2),
)
callers = st.builds(
    AccessContext,
    tenant_id=st.sampled_from(["", "t"]),
    acl_tags_any=st.frozensets(st.sampled_from("ab")),
    classification_labels_all=st.frozensets(st.sampled_from("xy")),
    clearance_level=st.integers(0, 2),
)


def published(publish: Publish, data: Path, nodes: list[Node], edges: tuple[Edge, ...] = ()) -> LoadedIndex:
    publish(data, nodes, edges, activate=False)
    return LoadedIndex(IndexStore(data).directory(SCOPE))


@given(
    placed=st.lists(
        st.tuples(*[st.sampled_from(bound_oracle.VALUES)] * 4, bound_oracle.workflows, st.booleans()),
        min_size=1,
        max_size=12,
    ),
    bound=bound_oracle.bounds,
)
def test_what_is_out_of_bounds_is_hidden_and_so_is_what_has_no_value(
    placed: list[tuple[str, str, str, str, dict[str, JsonValue], bool]],
    bound: bound_oracle.Bound,
    make_node: MakeNode,
    publish: Publish,
    scratch: Scratch,
) -> None:
    nodes = [
        make_node(
            f"N{row:02}",
            collection_id=collection,
            case_id=case,
            document_id=document,
            document_version_id=version,
            metadata=metadata,
            deleted=deleted,
        )
        for row, (collection, case, document, version, metadata, deleted) in enumerate(placed)
    ]
    within = [bound.admits_node(node) for node in nodes]
    with scratch() as data:
        caller = VisibilityCache(published(publish, data, nodes)).get(AccessContext(bounds=bound.bounds))
        assert caller.sees_any == any(within)
        for lifecycle, admits in LIFECYCLES.items():
            seen = [inside and node.deleted in admits for inside, node in zip(within, nodes, strict=True)]
            assert caller.of(lifecycle).mask.tolist() == seen


@given(
    demands=st.lists(st.tuples(accesses, st.sampled_from([False, False, True])), min_size=1, max_size=12),
    pairs=st.data(),
    seen_by=st.lists(callers, min_size=1, max_size=4),
)
def test_masks_and_counts_equal_those_of_every_node_judged_by_itself(
    demands: list[tuple[NodeAccess, bool]],
    pairs: st.DataObject,
    seen_by: list[AccessContext],
    make_node: MakeNode,
    publish: Publish,
    scratch: Scratch,
) -> None:
    nodes = [
        make_node(f"N{row:02}", "word " * row, access=demand, deleted=deleted)
        for row, (demand, deleted) in enumerate(demands)
    ]
    ends = st.integers(0, len(nodes) - 1)
    edges = pairs.draw(st.lists(st.tuples(ends, ends), unique=True, max_size=12))
    with scratch() as data:
        index = published(publish, data, nodes, tuple(Edge(nodes[a].id, nodes[b].id, "Calls") for a, b in edges))
        cache = VisibilityCache(index)
        for caller in seen_by:
            may = [may_see(demand, caller) for demand, _ in demands]
            assert cache.get(caller).sees_any == any(may)
            for lifecycle, admits in LIFECYCLES.items():
                seen = [allowed and deleted in admits for allowed, (_, deleted) in zip(may, demands, strict=True)]
                check(cache.get(caller).of(lifecycle), index, nodes, seen, edges)


LIFECYCLES = {Lifecycle.ACTIVE: {False}, Lifecycle.ALL: {False, True}, Lifecycle.DELETED: {True}}


def check(
    visible: Visibility, index: LoadedIndex, nodes: list[Node], seen: list[bool], edges: list[tuple[int, int]]
) -> None:
    assert visible.mask.tolist() == seen
    assert visible.count == sum(seen)
    assert visible.edge_count == sum(seen[a] and seen[b] for a, b in edges)
    rows = {node.id: row for row, node in enumerate(nodes) if seen[row]}
    assert visible.rows_of([*(node.id for node in nodes), "absent"]) == rows
    assert visible.ids_of(list(rows.values())) == list(rows)
    # The words of row n are n; a stop word would be none.
    lengths = [row for row, may in enumerate(seen) if may]
    expected = (sum(lengths) / len(lengths) or 1.0) if lengths else 1.0
    assert index.lexical is not None
    assert visible.words(index.lexical, {}).mean_length == pytest.approx(expected)


def test_each_table_has_a_mean_length_of_its_own(tmp_path: Path, make_node: MakeNode, publish: Publish) -> None:
    index = published(publish, tmp_path, [make_node("A", "getUserById"), make_node("B", "tax")])
    assert index.lexical is not None
    assert index.prose is not None
    visible = VisibilityCache(index).get(AccessContext()).of(Lifecycle.ACTIVE)
    for table, tokens in ((index.lexical, tokenize), (index.prose, tokenize_prose)):
        assert visible.words(table, {}).mean_length == (len(tokens("getUserById")) + 1) / 2
    assert visible.words(index.lexical, {}).mean_length != visible.words(index.prose, {}).mean_length


@pytest.fixture
def index(tmp_path: Path, make_node: MakeNode, publish: Publish) -> LoadedIndex:
    """Two public nodes and one of finance."""
    nodes = [make_node("A"), make_node("B", access=NodeAccess(acl_tags=("finance",))), make_node("C")]
    return published(publish, tmp_path, nodes)


FINANCE = AccessContext(acl_tags_any=frozenset({"finance"}))


def test_a_filter_never_widens(index: LoadedIndex) -> None:
    visible = VisibilityCache(index).get(AccessContext()).of(Lifecycle.ACTIVE)
    assert RowFilter(index, Filter(kinds=("cs",))).within(visible.mask).tolist() == [True, False, True]
    assert RowFilter(index, Filter()).within(visible.mask).tolist() == [True, False, True]
    assert visible.mask.tolist() == [True, False, True]


def test_a_hidden_row_cannot_leave(index: LoadedIndex) -> None:
    visible = VisibilityCache(index).get(AccessContext()).of(Lifecycle.ACTIVE)
    assert visible.ids_of([0, 2]) == ["shop::main::cs::A", "shop::main::cs::C"]
    with pytest.raises(PermissionError, match="a hidden row was about to leave"):
        visible.ids_of([0, 1])


def test_callers_who_see_the_same_share_their_masks(index: LoadedIndex) -> None:
    cache = VisibilityCache(index)
    public = cache.get(AccessContext())
    assert cache.get(AccessContext(tenant_id="t", clearance_level=9)) is public
    finance = cache.get(FINANCE)
    assert finance is not public
    assert cache.get(AccessContext(acl_tags_any=frozenset({"finance", "sales"}))) is finance
    bound = cache.get(AccessContext(bounds=Bounds(cases=Names(frozenset({"7"})))))
    assert bound is not public
    assert cache.get(AccessContext(clearance_level=9, bounds=Bounds(cases=Names(frozenset({"7"}))))) is bound
    assert cache.get(AccessContext(bounds=Bounds(cases=Names(frozenset({"8"}))))) is not bound
    for lifecycle in Lifecycle:
        assert public.of(lifecycle) is public.of(lifecycle)


def test_without_deleted_nodes_the_active_ones_are_all(index: LoadedIndex) -> None:
    public = VisibilityCache(index).get(AccessContext())
    assert public.of(Lifecycle.ACTIVE) is public.of(Lifecycle.ALL)
    assert public.of(Lifecycle.DELETED).count == 0


def test_a_caller_is_judged_once(index: LoadedIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    judged: list[AccessContext] = []

    def counted(demand: NodeAccess, caller: AccessContext) -> bool:
        if judged[-1:] != [caller]:  # it is asked once for each class
            judged.append(caller)
        return may_see(demand, caller)

    monkeypatch.setattr("groundwire_server.backends.shared.callers.may_see", counted)
    cache = VisibilityCache(index, max_callers=2)
    others = [AccessContext(tenant_id=f"t{number}") for number in range(3)]
    for caller in (FINANCE, others[0], FINANCE, others[1], FINANCE):
        cache.get(caller)
    assert judged == [FINANCE, others[0], others[1]], "the least recently seen caller is the one forgotten"
    cache.get(others[0])
    assert judged == [FINANCE, others[0], others[1], others[0]]


def test_the_masks_of_every_lifecycle_count(index: LoadedIndex) -> None:
    cache = VisibilityCache(index, max_bytes=2 * index.manifest.node_count * len(Lifecycle))
    bound = [AccessContext(bounds=Bounds(cases=Names(frozenset({str(number)})))) for number in range(4)]
    kept = [weakref.ref(cache.get(caller)) for caller in bound]
    gc.collect()
    assert [reference() is not None for reference in kept] == [False, False, True, True]


@pytest.mark.parametrize("limit", [{"max_callers": 1}, {"max_bytes": 3}])
def test_a_forgotten_callers_mask_stays_right_for_those_who_hold_it(index: LoadedIndex, limit: dict[str, int]) -> None:
    cache = VisibilityCache(index, **limit)
    first = cache.get(FINANCE)
    public = weakref.ref(cache.get(AccessContext()))
    assert cache.get(FINANCE) is first, "who sees the same shares what is still in use"
    assert first.of(Lifecycle.ALL).mask.tolist() == [True] * 3
    gc.collect()
    assert public() is None, "what nobody uses and nobody remembers is gone"
