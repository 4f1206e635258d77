from typing import Any

import pytest

from groundwire_client import (
    AccessContext,
    EdgeDirection,
    GraphEdge,
    HybridParameters,
    IndexScope,
    Lifecycle,
    NodeFilter,
    choices,
)
from groundwire_pipelines.actions.find_paths import ACTION
from groundwire_pipelines.errors import StepError
from support.query_answers import match, queried
from support.retrieval import INDEX, FakeRetrieval, connected, make_runtime, make_state, run_action

SETTINGS: dict[str, Any] = {
    "max_hops": 4,
    "max_paths": 3,
    "graph_max_nodes": 50,
    "graph_edge_allowlist": ("Calls", "FK"),
}
QUESTION = "from the button to the table"


def ends(*groups: str) -> list[Any]:
    """An answer for each query, its matches nodes of one letter."""
    return [queried(*(match(node, rank) for rank, node in enumerate(group, 1)), index=INDEX) for group in groups]


def test_searches_for_both_ends_and_finds_the_paths_between_them() -> None:
    retrieval = FakeRetrieval(queries=ends("ab", "cd"), paths=[connected("axc", "bc")])
    access = AccessContext(tenant_id="acme")
    state = make_state(user_question=QUESTION, retrieval_access=access, retrieval_filter=NodeFilter(is_test=False))
    outcome = run_action(ACTION, {}, state, make_runtime(retrieval, **SETTINGS, graph_min_confidence=0.5))
    first, second, paths = retrieval.calls
    assert (first.arguments["query"], second.arguments["query"]) == ("the button", "the table")
    assert first.arguments["hybrid"] == HybridParameters(top_k=5)
    assert paths.scope == IndexScope(repository="shop", branch="main", active_index=INDEX)
    assert paths.arguments == {
        "from_ids": ("a", "b"),
        "to_ids": ("c", "d"),
        "max_hops": 4,
        "max_paths": 12,
        "max_nodes": 50,
        "edge_allowlist": ("Calls", "FK"),
        "direction": EdgeDirection.EDGE_DIRECTION_OUTGOING,
        "filter": NodeFilter(is_test=False),
        "min_confidence": 0.5,
        "lifecycle": Lifecycle.LIFECYCLE_ACTIVE,
        "access": access,
    }
    assert all(call.arguments["access"] == access for call in retrieval.calls)
    assert all(call.arguments["filter"] == NodeFilter(is_test=False) for call in retrieval.calls)
    assert state.retrieval_seed_nodes == ["a", "c", "b", "d"]
    assert state.graph_seed_nodes == ["a", "x", "c", "b"]
    assert state.paths == list(connected("axc", "bc").paths)
    assert state.graph_edges == [
        GraphEdge(from_id=near, to_id=far, edge_type="Calls", confidence=0.5, line=7)
        for near, far in (("a", "x"), ("x", "c"), ("b", "c"))
    ]
    assert outcome.detail == {"from": 2, "to": 2, "paths": 2, "direction": "outgoing", "reason": "ok"}


def test_a_named_end_is_not_searched_for() -> None:
    retrieval = FakeRetrieval(queries=ends("cd"), paths=[connected("ac")], names={"the button": ["a"]})
    state = make_state(user_question=QUESTION)
    run_action(ACTION, {}, state, make_runtime(retrieval, **SETTINGS))
    assert [call.arguments["query"] for call in retrieval.calls if call.method == "query"] == ["the table"]
    assert [(end.text, [node.id for node in end.nodes], end.is_named) for end in state.path_ends] == [
        ("the button", ["a"], True),
        ("the table", ["c", "d"], False),
    ]


def test_alike_paths_and_those_within_one_file_are_dropped() -> None:
    ways = connected("ab", "axd", "ayd", "xbd", "axyd", "bxd", "bd")
    for node in ways.nodes:
        node.location.path = "one.py" if node.id in "ab" else f"{node.id}.py"
    retrieval = FakeRetrieval(queries=ends("ab", "bd"), paths=[ways])
    state = make_state(user_question=QUESTION)
    run_action(ACTION, {}, state, make_runtime(retrieval, **{**SETTINGS, "max_paths": 9}))
    kept = ["axd", "xbd", "axyd", "bd"]
    assert ["".join(path.node_ids) for path in state.paths] == kept
    assert state.graph_seed_nodes == list("abxdy")
    alone = FakeRetrieval(queries=ends("a", "b"), paths=[connected("ab")])
    run_action(ACTION, {}, state, make_runtime(alone, **SETTINGS))
    assert ["".join(path.node_ids) for path in state.paths] == ["ab"]


def test_where_nothing_leads_along_the_edges_either_way_is_tried() -> None:
    retrieval = FakeRetrieval(queries=ends("a", "b"), paths=[connected(), connected("ab")])
    state = make_state(user_question=QUESTION)
    outcome = run_action(ACTION, {}, state, make_runtime(retrieval, **SETTINGS))
    directions = [call.arguments["direction"] for call in retrieval.calls[2:]]
    assert directions == [EdgeDirection.EDGE_DIRECTION_OUTGOING, EdgeDirection.EDGE_DIRECTION_BOTH]
    assert (outcome.detail["paths"], outcome.detail["direction"]) == (1, "both")


@pytest.mark.parametrize("direction", ["outgoing", "incoming", "both"])
def test_a_direction_of_the_step_is_the_only_one(direction: str) -> None:
    retrieval = FakeRetrieval(queries=ends("a", "b"), paths=[connected()])
    state = make_state(user_question=QUESTION)
    run_action(ACTION, {"direction": direction}, state, make_runtime(retrieval, **SETTINGS))
    assert [call.arguments["direction"] for call in retrieval.calls[2:]] == [choices(EdgeDirection)[direction]]


def test_without_a_path_the_nodes_nearest_to_both_ends_stay() -> None:
    retrieval = FakeRetrieval(queries=ends("ab", "bc"), paths=[connected()])
    state = make_state(user_question=QUESTION, paths=list(connected("zz").paths))
    run_action(ACTION, {}, state, make_runtime(retrieval, **SETTINGS))
    assert (state.paths, state.graph_seed_nodes) == ([], [])
    assert state.retrieval_seed_nodes == ["a", "b", "c"]


def test_an_end_that_nothing_matches_needs_no_search_for_paths() -> None:
    retrieval = FakeRetrieval(queries=ends("a", ""))
    outcome = run_action(ACTION, {}, make_state(user_question=QUESTION), make_runtime(retrieval, **SETTINGS))
    assert retrieval.methods == ["query", "query"]
    assert outcome.detail == {"from": 1, "to": 0, "paths": 0, "reason": "no_ends"}


def test_settings_name_the_ends_before_the_question_does() -> None:
    retrieval = FakeRetrieval(queries=ends("a", "b"))
    settings = {**SETTINGS, "path_from": "Cart"}
    run_action(ACTION, {"top_k": 2}, make_state(user_question=QUESTION), make_runtime(retrieval, **settings))
    assert [call.arguments["query"] for call in retrieval.calls[:2]] == ["Cart", "the table"]
    assert retrieval.calls[0].arguments["hybrid"] == HybridParameters(top_k=2)


def test_a_question_without_ends_is_refused() -> None:
    retrieval = FakeRetrieval()
    with pytest.raises(StepError) as caught:
        run_action(ACTION, {}, make_state(), make_runtime(retrieval, **SETTINGS))
    assert caught.value.rule == "path-ends-missing"
    assert not retrieval.calls


def test_limits_must_be_among_the_settings() -> None:
    with pytest.raises(StepError) as caught:
        run_action(ACTION, {}, make_state(user_question=QUESTION), make_runtime(FakeRetrieval(queries=ends("a", "b"))))
    assert caught.value.rule == "settings-key-missing"
