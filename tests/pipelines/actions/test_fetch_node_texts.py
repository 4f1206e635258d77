from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from groundwire_client import (
    AccessContext,
    IndexScope,
    Lifecycle,
    NodeFilter,
    PrioritizationMode,
    ReachedNode,
    SkippedNode,
    SkipReason,
    choices,
)
from groundwire_pipelines.actions.fetch_node_texts import ACTION
from groundwire_pipelines.errors import StepError
from groundwire_server.domain.texts.packing import prioritize
from groundwire_server.domain.texts.texts import PrioritizationMode as PackingOrder
from groundwire_server.domain.texts.texts import RequestedText
from support.retrieval import INDEX, FakeRetrieval, fetched, make_runtime, make_state, run_action, text

WALK = [
    ReachedNode(id="s1", depth=0),
    ReachedNode(id="s2", depth=0),
    ReachedNode(id="z", depth=1, parent_id="s1"),
    ReachedNode(id="y", depth=1, parent_id="s2"),
    ReachedNode(id="x", depth=2, parent_id="z"),
]
TOO_LARGE = SkipReason.SKIP_REASON_RESPONSE_LIMIT


def test_fetches_the_seeds_and_the_graph_around_them() -> None:
    retrieval = FakeRetrieval(fetches=[fetched([text("s1"), text("z", depth=1, parent="s1")])])
    access = AccessContext(tenant_id="acme")
    state = make_state(
        retrieval_seed_nodes=["s2", "s1"],
        graph_seed_nodes=["s1", "s2"],
        graph_expanded_nodes=WALK,
        retrieval_access=access,
        retrieval_filter=NodeFilter(is_test=False),
        active_index=INDEX,
    )
    outcome = run_action(ACTION, {"budget_tokens": 100}, state, make_runtime(retrieval))
    (call,) = retrieval.calls
    assert call.scope == IndexScope(repository="shop", branch="main", active_index=INDEX)
    assert call.arguments == {
        "seed_ids": ("s1", "s2"),
        "nodes": tuple(WALK[2:]),
        "budget_tokens": 100,
        "max_chars": None,
        "prioritization_mode": PrioritizationMode.PRIORITIZATION_MODE_BALANCED,
        "filter": NodeFilter(is_test=False),
        "lifecycle": Lifecycle.LIFECYCLE_ACTIVE,
        "access": access,
    }
    assert [node.id for node in state.node_texts] == ["s1", "z"]
    assert outcome.detail == {"budget": 100, "budget_unit": "tokens", "texts": 2, "tokens": 2, "skipped": 0}
    assert state.graph_expanded_nodes == WALK
    assert state.retrieval_seed_nodes == ["s2", "s1"]


def test_without_an_expansion_the_selected_nodes_are_the_seeds() -> None:
    retrieval = FakeRetrieval()
    run_action(ACTION, {}, make_state(retrieval_seed_nodes=["b", "a"]), make_runtime(retrieval))
    assert retrieval.calls[0].arguments["seed_ids"] == ("b", "a")
    assert retrieval.calls[0].arguments["nodes"] == ()


def test_nothing_to_fetch_asks_nobody() -> None:
    retrieval = FakeRetrieval()
    state = make_state(node_texts=[text("old")])
    run_action(ACTION, {}, state, make_runtime(retrieval))
    assert retrieval.calls == []
    assert state.node_texts == []


@pytest.mark.parametrize(
    ("mode", "most", "seeds", "nodes"),
    [
        ("seed_first", 1, ("s1",), ()),
        ("seed_first", 3, ("s1", "s2"), ("y",)),
        ("balanced", 1, ("s1",), ()),
        ("balanced", 3, ("s1", "s2"), ("y",)),
        ("balanced", 2, ("s1",), ("y",)),
        ("graph_first", 3, ("s1",), ("z", "x")),
        ("graph_first", 4, ("s1", "s2"), ("z", "x")),
        ("graph_first", 9, ("s1", "s2"), ("z", "y", "x", "stray")),
    ],
)
def test_top_n_counts_all_bodies_in_the_order_of_the_mode(
    mode: str, most: int, seeds: tuple[str, ...], nodes: tuple[str, ...]
) -> None:
    """Nodes of one depth by id, as the server packs them, whatever the order of the walk."""
    retrieval = FakeRetrieval()
    state = make_state(
        graph_seed_nodes=["s1", "s2"], graph_expanded_nodes=[*WALK, ReachedNode(id="stray", depth=3, parent_id="gone")]
    )
    run_action(ACTION, {"prioritization_mode": mode}, state, make_runtime(retrieval, node_text_fetch_top_n=most))
    assert retrieval.calls[0].arguments["seed_ids"] == seeds
    assert tuple(node.id for node in retrieval.calls[0].arguments["nodes"]) == nodes


@pytest.mark.parametrize("mode", list(PackingOrder))
@given(
    seeds=st.lists(st.sampled_from("abcd"), min_size=1, unique=True),
    levels=st.lists(st.lists(st.tuples(st.sampled_from("abcdefgh"), st.sampled_from("abcdefgh?")), max_size=4)),
    most=st.integers(1, 9),
)
def test_top_n_are_those_that_the_server_packs_first(
    mode: PackingOrder, seeds: list[str], levels: list[list[tuple[str, str]]], most: int
) -> None:
    """The nodes of a walk, whose parents are one level above, or unknown."""
    walk: dict[str, ReachedNode] = {}
    above = set(seeds)
    for depth, level in enumerate(levels, start=1):
        fresh = {id_: parent for id_, parent in level if id_ not in walk and parent in {*above, "?"}}
        walk |= {id_: ReachedNode(id=id_, depth=depth, parent_id=parent) for id_, parent in fresh.items()}
        above = set(fresh)
    retrieval = FakeRetrieval()
    state = make_state(graph_seed_nodes=seeds, graph_expanded_nodes=list(walk.values()))
    runtime = make_runtime(retrieval, node_text_fetch_top_n=most)
    run_action(ACTION, {"prioritization_mode": mode.value}, state, runtime)
    call = retrieval.calls[0].arguments
    nodes = [RequestedText(node.id, node.depth, node.parent_id) for node in walk.values()]
    first = prioritize(seeds, nodes, mode)[:most]
    assert {*call["seed_ids"], *(node.id for node in call["nodes"])} == {node.id for node in first}


def test_top_n_bounds_the_selected_nodes_too() -> None:
    retrieval = FakeRetrieval()
    state = make_state(retrieval_seed_nodes=["c", "b", "a"])
    run_action(ACTION, {}, state, make_runtime(retrieval, node_text_fetch_top_n=2))
    assert retrieval.calls[0].arguments["seed_ids"] == ("c", "b")


@pytest.mark.parametrize(("context", "budget"), [(2, 1), (10, 7), (11, 7), (90, 63), (8000, 5600)])
def test_the_budget_is_seventy_percent_of_the_context_rounded_down(context: int, budget: int) -> None:
    retrieval = FakeRetrieval()
    state = make_state(retrieval_seed_nodes=["a"])
    run_action(ACTION, {}, state, make_runtime(retrieval, max_context_tokens=context))
    assert retrieval.calls[0].arguments["budget_tokens"] == budget


@pytest.mark.parametrize(
    ("raw", "tokens", "characters"), [({"budget_tokens": 9}, 9, None), ({"max_chars": 500}, None, 500)]
)
def test_the_steps_own_budget_needs_no_setting(
    raw: dict[str, JsonValue], tokens: int | None, characters: int | None
) -> None:
    retrieval = FakeRetrieval()
    state = make_state(retrieval_seed_nodes=["a"])
    run_action(ACTION, raw, state, make_runtime(retrieval, max_context_tokens=None))
    assert retrieval.calls[0].arguments["budget_tokens"] == tokens
    assert retrieval.calls[0].arguments["max_chars"] == characters


@pytest.mark.parametrize("mode", ["seed_first", "graph_first", "balanced"])
def test_prioritization_is_the_steps(mode: str) -> None:
    retrieval = FakeRetrieval()
    state = make_state(retrieval_seed_nodes=["a"])
    run_action(ACTION, {"prioritization_mode": mode}, state, make_runtime(retrieval))
    assert retrieval.calls[0].arguments["prioritization_mode"] == choices(PrioritizationMode)[mode]


def test_asks_again_for_what_one_response_could_not_hold() -> None:
    first = fetched(
        [text("s1", tokens=30)],
        [
            SkippedNode(id="z", reason=TOO_LARGE),
            SkippedNode(id="s2", reason=TOO_LARGE),
            SkippedNode(id="y", reason=SkipReason.SKIP_REASON_OVER_BUDGET),
        ],
    )
    second = fetched([text("z", tokens=20, depth=1, parent="s1")], [SkippedNode(id="s2", reason=TOO_LARGE)])
    third = fetched([text("s2", tokens=10)])
    retrieval = FakeRetrieval(fetches=[first, second, third])
    state = make_state(graph_seed_nodes=["s1", "s2"], graph_expanded_nodes=WALK)
    outcome = run_action(ACTION, {"budget_tokens": 100}, state, make_runtime(retrieval))
    calls = [(call.arguments["seed_ids"], [node.id for node in call.arguments["nodes"]]) for call in retrieval.calls]
    assert calls == [(("s1", "s2"), ["z", "y", "x"]), (("s2",), ["z"]), (("s2",), [])]
    assert [call.arguments["budget_tokens"] for call in retrieval.calls] == [100, 70, 50]
    assert [call.scope.active_index for call in retrieval.calls] == ["", INDEX, INDEX]
    assert [node.id for node in state.node_texts] == ["s1", "s2", "z"]  # as one larger response would have them
    assert outcome.detail["skipped"] == 1


def test_counts_characters_of_later_responses_against_the_same_budget() -> None:
    first = fetched([text("a", "12345")], [SkippedNode(id="b", reason=TOO_LARGE)])
    retrieval = FakeRetrieval(fetches=[first, fetched([text("b", "678")])])
    state = make_state(retrieval_seed_nodes=["a", "b"])
    run_action(ACTION, {"max_chars": 8}, state, make_runtime(retrieval))
    assert [call.arguments["max_chars"] for call in retrieval.calls] == [8, 3]


@pytest.mark.parametrize(
    "answer",
    [
        fetched([], [SkippedNode(id="a", reason=TOO_LARGE)]),
        fetched([text("b", tokens=50)], [SkippedNode(id="a", reason=TOO_LARGE)]),
    ],
    ids=["no progress", "budget used up"],
)
def test_stops_asking_without_progress_or_budget(answer: object) -> None:
    retrieval = FakeRetrieval(fetches=[answer])  # type: ignore[list-item]
    state = make_state(retrieval_seed_nodes=["a", "b"])
    outcome = run_action(ACTION, {"budget_tokens": 50}, state, make_runtime(retrieval))
    assert len(retrieval.calls) == 1
    assert outcome.detail["skipped"] == 1


def test_the_budget_may_be_a_multiple_of_what_is_shown_in_the_end() -> None:
    retrieval = FakeRetrieval()
    run_action(ACTION, {"budget_factor": 4}, make_state(retrieval_seed_nodes=["a"]), make_runtime(retrieval))
    assert retrieval.calls[0].arguments["budget_tokens"] == 4000


@pytest.mark.parametrize(
    ("rule", "raw", "fields", "settings"),
    [
        ("repository-required", {}, {"repository": ""}, {}),
        ("branch-required", {}, {"branch": ""}, {}),
        ("max-context-tokens-missing", {}, {}, {"max_context_tokens": None}),
        ("max-context-tokens-missing", {}, {}, {"max_context_tokens": 0}),
        ("max-context-tokens-missing", {}, {}, {"max_context_tokens": -5}),
        ("max-context-tokens-missing", {}, {"retrieval_seed_nodes": []}, {"max_context_tokens": None}),
        ("budget-not-positive", {}, {}, {"max_context_tokens": 1}),
        ("budget-not-positive", {"budget_tokens": 0}, {}, {}),
        ("budget-not-positive", {"budget_tokens": -1}, {}, {}),
        ("budget-not-positive", {"max_chars": 0}, {}, {}),
        ("budget-exclusive", {"budget_tokens": 5, "max_chars": 5}, {}, {}),
        ("budget-exclusive", {"budget_tokens": 5, "budget_factor": 5}, {}, {}),
        ("budget-exclusive", {"budget_factor": 5, "max_chars": 5}, {}, {}),
        ("max-context-tokens-missing", {"budget_factor": 5}, {}, {"max_context_tokens": None}),
        ("prioritization-mode-unknown", {"prioritization_mode": "random"}, {}, {}),
        ("budget-tokens-malformed", {"budget_tokens": "all"}, {}, {}),
        ("budget-unknown", {"budget": 5}, {}, {}),
    ],
)
def test_fails_fast(rule: str, raw: dict[str, JsonValue], fields: dict[str, Any], settings: dict[str, Any]) -> None:
    retrieval = FakeRetrieval()
    state = make_state(**{"retrieval_seed_nodes": ["a"], **fields})
    with pytest.raises(StepError) as caught:
        run_action(ACTION, raw, state, make_runtime(retrieval, **settings))
    assert caught.value.rule == rule
    assert retrieval.calls == []
