from typing import Any

import pytest
from pydantic import JsonValue

from groundwire_client import (
    AccessContext,
    EdgeDirection,
    ExpandDebug,
    IndexScope,
    Lifecycle,
    NodeFilter,
    ReachedNode,
    choices,
)
from groundwire_pipelines.actions.expand_dependency_tree import ACTION
from groundwire_pipelines.errors import StepError
from support.retrieval import INDEX, FakeRetrieval, make_runtime, make_state, run_action, walked

LIMITS: dict[str, JsonValue] = {
    "max_depth_from_settings": "graph_max_depth",
    "max_nodes_from_settings": "graph_max_nodes",
    "edge_allowlist_from_settings": "graph_edge_allowlist",
}
SETTINGS: dict[str, Any] = {"graph_max_depth": 2, "graph_max_nodes": 50, "graph_edge_allowlist": ("Calls", "FK")}


def test_walks_from_the_seeds_within_the_limits_of_the_settings() -> None:
    answer = walked([("a", 0, ""), ("c", 1, "a")], [("a", "c", "Calls")])
    retrieval = FakeRetrieval(expansions=[answer])
    access = AccessContext(tenant_id="acme")
    state = make_state(
        retrieval_seed_nodes=["a"],
        retrieval_access=access,
        retrieval_filter=NodeFilter(is_test=False),
        active_index=INDEX,
    )
    outcome = run_action(ACTION, LIMITS, state, make_runtime(retrieval, **SETTINGS))
    (call,) = retrieval.calls
    assert call.scope == IndexScope(repository="shop", branch="main", active_index=INDEX)
    assert call.arguments == {
        "seed_ids": ("a",),
        "max_depth": 2,
        "max_nodes": 50,
        "edge_allowlist": ("Calls", "FK"),
        "direction": EdgeDirection.EDGE_DIRECTION_OUTGOING,
        "filter": NodeFilter(is_test=False),
        "min_confidence": 0.0,
        "lifecycle": Lifecycle.LIFECYCLE_ACTIVE,
        "access": access,
    }
    assert state.graph_seed_nodes == ["a"]
    assert state.graph_expanded_nodes == [ReachedNode(id="a", depth=0), ReachedNode(id="c", depth=1, parent_id="a")]
    assert state.graph_edges == list(answer.edges)
    assert state.graph_debug == answer.debug
    assert outcome.detail == {"seeds": 1, "nodes": 2, "edges": 1, "truncated": False, "reason": "ok"}


def test_limits_may_come_from_any_setting_of_their_type() -> None:
    retrieval = FakeRetrieval()
    state = make_state(retrieval_seed_nodes=["a"])
    run_action(
        ACTION, {**LIMITS, "max_nodes_from_settings": "top_k"}, state, make_runtime(retrieval, top_k=4, **SETTINGS)
    )
    assert retrieval.calls[0].arguments["max_nodes"] == 4


@pytest.mark.parametrize("direction", ["outgoing", "incoming", "both"])
def test_direction_is_the_steps(direction: str) -> None:
    retrieval = FakeRetrieval()
    state = make_state(retrieval_seed_nodes=["a"])
    run_action(ACTION, {**LIMITS, "direction": direction}, state, make_runtime(retrieval, **SETTINGS))
    assert retrieval.calls[0].arguments["direction"] == choices(EdgeDirection)[direction]


@pytest.mark.parametrize("least", [0, 0.5, 1])
def test_how_sure_an_edge_must_be_may_come_from_the_settings(least: float) -> None:
    retrieval = FakeRetrieval()
    keys: dict[str, JsonValue] = {**LIMITS, "min_confidence_from_settings": "graph_min_confidence"}
    state = make_state(retrieval_seed_nodes=["a"])
    run_action(ACTION, keys, state, make_runtime(retrieval, graph_min_confidence=least, **SETTINGS))
    assert retrieval.calls[0].arguments["min_confidence"] == least


def test_pins_the_index_when_it_is_the_first_to_ask() -> None:
    state = make_state(retrieval_seed_nodes=["a"])
    run_action(ACTION, LIMITS, state, make_runtime(FakeRetrieval(), **SETTINGS))
    assert state.active_index == INDEX


def test_no_seeds_expand_to_nothing_without_a_call() -> None:
    retrieval = FakeRetrieval()
    state = make_state(graph_expanded_nodes=[ReachedNode(id="old", depth=0)], graph_seed_nodes=["old"])
    outcome = run_action(ACTION, LIMITS, state, make_runtime(retrieval, **SETTINGS))
    assert retrieval.calls == []
    assert (state.graph_seed_nodes, state.graph_expanded_nodes, state.graph_edges) == ([], [], [])
    assert state.graph_debug == ExpandDebug(
        seed_count=0, expanded_count=0, edges_count=0, truncated=False, reason="no_seeds"
    )
    assert outcome.detail["reason"] == "no_seeds"


@pytest.mark.parametrize(
    ("rule", "raw", "fields", "settings"),
    [
        ("repository-required", {}, {"repository": ""}, {}),
        ("branch-required", {}, {"branch": ""}, {}),
        ("max-depth-missing", {"max_depth_from_settings": None}, {}, {}),
        ("max-nodes-missing", {"max_nodes_from_settings": None}, {}, {}),
        ("edge-allowlist-missing", {"edge_allowlist_from_settings": None}, {}, {}),
        ("settings-key-missing", {}, {}, {"graph_max_depth": None}),
        ("settings-key-missing", {}, {}, {"graph_max_nodes": None}),
        ("settings-key-missing", {}, {}, {"graph_edge_allowlist": None}),
        ("settings-key-missing", {"max_depth_from_settings": "depth"}, {}, {}),
        ("settings-key-missing", {}, {"retrieval_seed_nodes": []}, {"graph_max_depth": None}),
        ("max-depth-malformed", {"max_depth_from_settings": "path_from"}, {}, {}),
        ("edge-allowlist-malformed", {"edge_allowlist_from_settings": "top_k"}, {}, {}),
        ("settings-key-missing", {"min_confidence_from_settings": "graph_min_confidence"}, {}, {}),
        ("min-confidence-malformed", {"min_confidence_from_settings": "path_from"}, {}, {}),
        ("direction-unknown", {"direction": "up"}, {}, {}),
        ("settings-key-exclusive", {"max_depth": 2}, {}, {}),
    ],
)
def test_fails_fast(rule: str, raw: dict[str, JsonValue], fields: dict[str, Any], settings: dict[str, Any]) -> None:
    retrieval = FakeRetrieval()
    state = make_state(**{"retrieval_seed_nodes": ["a"], **fields})
    keys = {key: value for key, value in {**LIMITS, **raw}.items() if value is not None}
    with pytest.raises(StepError) as caught:
        run_action(ACTION, keys, state, make_runtime(retrieval, **{**SETTINGS, **settings}))
    assert caught.value.rule == rule
    assert retrieval.calls == []
