"""`choose_nodes`: which of the hits and of the nodes around them are worth showing."""

import pytest

from groundwire_client import GraphEdge, ReachedNode, SearchHit
from groundwire_pipelines.actions.choose_nodes import ACTION
from groundwire_pipelines.errors import StepError
from groundwire_pipelines.state import PipelineState
from support.retrieval import FakeRetrieval, make_runtime, make_state, run_action


def reached(hits: dict[str, float], nodes: list[ReachedNode], *edges: GraphEdge) -> PipelineState:
    """What a search found, with scores, and a walk around it."""
    return make_state(
        retrieval_hits=[
            SearchHit(id=node_id, score=score, rank=rank) for rank, (node_id, score) in enumerate(hits.items(), start=1)
        ],
        graph_expanded_nodes=[*(ReachedNode(id=node_id, depth=0) for node_id in hits), *nodes],
        graph_edges=list(edges),
    )


def chosen(state: PipelineState, most: int = 10) -> list[str]:
    run_action(ACTION, {}, state, make_runtime(FakeRetrieval(), node_text_fetch_top_n=most))
    return state.chosen_nodes


def test_a_neighbour_of_the_best_hit_comes_before_a_weak_hit() -> None:
    state = reached(
        {"a": 10.0, "b": 0.7},
        [ReachedNode(id="c", depth=1, parent_id="a")],
        GraphEdge(from_id="a", to_id="c", edge_type="Calls", confidence=1.0),
    )
    assert chosen(state) == ["a", "c", "b"]


def test_a_caller_counts_as_much_as_what_is_called() -> None:
    state = reached(
        {"a": 10.0, "b": 0.7},
        [ReachedNode(id="c", depth=1, parent_id="a")],
        GraphEdge(from_id="c", to_id="a", edge_type="Calls", confidence=1.0),
    )
    assert chosen(state) == ["a", "c", "b"]


def test_an_unsure_edge_gives_less() -> None:
    edge = GraphEdge(from_id="a", to_id="c", edge_type="Calls", confidence=0.5)
    assert chosen(reached({"a": 10.0, "b": 0.7}, [ReachedNode(id="c", depth=1, parent_id="a")], edge)) == [
        "a",
        "b",
        "c",
    ]


def test_a_part_of_a_hit_gains_nothing_by_that() -> None:
    edge = GraphEdge(from_id="a", to_id="c", edge_type="Contains", confidence=1.0)
    assert chosen(reached({"a": 10.0, "b": 0.7}, [ReachedNode(id="c", depth=1, parent_id="a")], edge)) == [
        "a",
        "b",
        "c",
    ]


def test_hits_that_depend_on_each_other_gain_both() -> None:
    edge = GraphEdge(from_id="c", to_id="a", edge_type="Calls", confidence=1.0)
    assert chosen(reached({"a": 10.0, "b": 5.0, "c": 4.5}, [], edge)) == ["a", "c", "b"]


def test_many_weak_edges_do_not_outweigh_one_to_the_best_hit() -> None:
    weak = [GraphEdge(from_id=hit, to_id="hub", edge_type="Calls", confidence=1.0) for hit in "bcd"]
    state = reached(
        {"a": 10.0, "b": 3.0, "c": 3.0, "d": 3.0},
        [ReachedNode(id="hub", depth=1, parent_id="b"), ReachedNode(id="near", depth=1, parent_id="a")],
        *weak,
        GraphEdge(from_id="a", to_id="near", edge_type="Calls", confidence=1.0),
    )
    assert chosen(state) == ["a", "b", "c", "d", "near", "hub"]


def test_a_node_farther_away_has_its_share_of_what_it_was_reached_from() -> None:
    far = [ReachedNode(id="c", depth=1, parent_id="a"), ReachedNode(id="d", depth=2, parent_id="c")]
    edges = (
        GraphEdge(from_id="a", to_id="c", edge_type="Calls", confidence=1.0),
        GraphEdge(from_id="c", to_id="d", edge_type="Calls", confidence=1.0),
    )
    assert chosen(reached({"a": 10.0, "b": 0.5}, far, *edges)) == ["a", "c", "b", "d"]
    assert chosen(reached({"a": 10.0, "b": 0.05}, far, *edges)) == ["a", "c", "d", "b"]


def test_hits_keep_the_order_that_they_were_given_in() -> None:
    assert chosen(reached({"a": 10.0, "b": 2.0, "c": 9.0}, [])) == ["a", "b", "c"]
    assert chosen(reached({"b": 0.0, "a": 0.0}, [])) == ["b", "a"]


def test_the_best_are_kept_and_nobody_is_asked() -> None:
    retrieval = FakeRetrieval()
    edge = GraphEdge(from_id="a", to_id="d", edge_type="Calls", confidence=1.0)
    state = reached({"a": 3.0, "b": 2.0, "c": 0.1}, [ReachedNode(id="d", depth=1, parent_id="a")], edge)
    outcome = run_action(ACTION, {}, state, make_runtime(retrieval, node_text_fetch_top_n=3))
    assert state.chosen_nodes == ["a", "b", "d"]
    assert (state.graph_edges, retrieval.calls) == ([edge], [])
    assert outcome.detail == {"nodes": 3, "from_graph": 1}


def test_nothing_found_asks_nobody() -> None:
    retrieval = FakeRetrieval()
    state = make_state()
    run_action(ACTION, {}, state, make_runtime(retrieval, node_text_fetch_top_n=2))
    assert (state.chosen_nodes, retrieval.calls) == ([], [])


def test_how_many_are_kept_must_be_said() -> None:
    assert ACTION.required_settings == ("node_text_fetch_top_n",)
    with pytest.raises(StepError) as caught:
        run_action(ACTION, {}, make_state(), make_runtime(FakeRetrieval()))
    assert caught.value.rule == "settings-key-missing"
