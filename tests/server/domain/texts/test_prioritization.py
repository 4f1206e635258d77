"""The three orders in which nodes compete for a budget, against oracles written from the specification."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.domain.texts.packing import prioritize
from groundwire_server.domain.texts.texts import PrioritizationMode, RequestedText

IDS = [f"n{number}" for number in range(10)]
PARENTS = [*IDS, "", "elsewhere"]


@st.composite
def graph_nodes(draw: st.DrawFn) -> list[RequestedText]:
    """Nodes of distinct ids with any parents: broken chains and circles included; some stand twice."""
    ids = draw(st.lists(st.sampled_from(IDS), unique=True, max_size=10))
    nodes = [RequestedText(id_, draw(st.integers(1, 3)), draw(st.sampled_from(PARENTS))) for id_ in ids]
    return nodes + draw(st.lists(st.sampled_from(nodes), max_size=3)) if nodes else nodes


seeds = st.lists(st.sampled_from(IDS), max_size=6)


def without_repeats(ids: list[str]) -> list[str]:
    kept: list[str] = []
    for id_ in ids:
        if id_ not in kept:
            kept.append(id_)
    return kept


def graph_only(seed_ids: list[str], nodes: list[RequestedText]) -> list[RequestedText]:
    """The graph-only list, sorted by (depth asc, id asc)."""
    distinct = {node.id: node for node in nodes if node.id not in seed_ids}
    return sorted(distinct.values(), key=lambda node: (node.depth, node.id))


def seed_first(seed_ids: list[str], nodes: list[RequestedText]) -> list[str]:
    return without_repeats(seed_ids) + [node.id for node in graph_only(seed_ids, nodes)]


def balanced(seed_ids: list[str], nodes: list[RequestedText]) -> list[str]:
    left, right = without_repeats(seed_ids), [node.id for node in graph_only(seed_ids, nodes)]
    order: list[str] = []
    while left and right:
        order += [left.pop(0), right.pop(0)]
    return order + left + right


def graph_first(seed_ids: list[str], nodes: list[RequestedText]) -> list[str]:
    graph = graph_only(seed_ids, nodes)
    parents = {node.id: node.parent_id for node in graph}

    def root(id_: str) -> str | None:
        for _ in range(len(parents) + 1):
            if id_ in seed_ids:
                return id_
            if id_ not in parents:
                return None
            id_ = parents[id_]
        return None

    order: list[str] = []
    for seed_id in without_repeats(seed_ids):
        order += [seed_id, *(node.id for node in graph if root(node.id) == seed_id)]
    return order + [node.id for node in graph if root(node.id) is None]


ORACLES = {
    PrioritizationMode.SEED_FIRST: seed_first,
    PrioritizationMode.GRAPH_FIRST: graph_first,
    PrioritizationMode.BALANCED: balanced,
}


@pytest.mark.parametrize("mode", PrioritizationMode)
@given(seed_ids=seeds, nodes=graph_nodes())
def test_the_order_equals_the_seeds_text(
    mode: PrioritizationMode, seed_ids: list[str], nodes: list[RequestedText]
) -> None:
    requested = prioritize(seed_ids, nodes, mode)
    assert [text.id for text in requested] == ORACLES[mode](seed_ids, nodes)
    stated = {node.id: node for node in nodes}
    for wanted in requested:
        if wanted.id in seed_ids:
            assert wanted == RequestedText(wanted.id, depth=0, parent_id="", is_seed=True)
        else:
            assert wanted == stated[wanted.id]
            assert not wanted.is_seed


@pytest.mark.parametrize("mode", PrioritizationMode)
@given(seed_ids=seeds, nodes=graph_nodes(), data=st.data())
def test_the_order_in_which_graph_nodes_are_named_changes_nothing(
    mode: PrioritizationMode, seed_ids: list[str], nodes: list[RequestedText], data: st.DataObject
) -> None:
    shuffled = data.draw(st.permutations(nodes))
    assert prioritize(seed_ids, nodes, mode) == prioritize(seed_ids, shuffled, mode)


def test_graph_first_follows_parent_chains_and_puts_strays_last() -> None:
    nodes = [
        RequestedText("deep", 2, "near"),
        RequestedText("near", 1, "s2"),
        RequestedText("other", 1, "s1"),
        RequestedText("lost", 1, "absent"),
        RequestedText("circle1", 1, "circle2"),
        RequestedText("circle2", 1, "circle1"),
        RequestedText("self", 1, "self"),
    ]
    order = [text.id for text in prioritize(["s1", "s2"], nodes, PrioritizationMode.GRAPH_FIRST)]
    assert order == ["s1", "other", "s2", "near", "deep", "circle1", "circle2", "lost", "self"]


def test_a_chain_of_ten_thousand_nodes_is_followed() -> None:
    nodes = [RequestedText(f"n{depth}", depth, f"n{depth - 1}" if depth > 1 else "seed") for depth in range(1, 10_000)]
    requested = prioritize(["stray", "seed"], nodes, PrioritizationMode.GRAPH_FIRST)
    assert [text.id for text in requested[:3]] == ["stray", "seed", "n1"]
    assert requested[-1].id == "n9999"
