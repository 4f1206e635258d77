"""`render_context_blocks`: texts by file below their rows, within a budget; none can look like another part of it."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.tokens import TokenCounter
from groundwire_client import (
    AccessContext,
    EdgeDirection,
    GraphEdge,
    Lifecycle,
    NodeFilter,
    NodeText,
    ReachedNode,
    SearchHit,
    SourceLocation,
)
from groundwire_pipelines.action_parts.evidence_text import evidence_text
from groundwire_pipelines.actions import finalize
from groundwire_pipelines.actions.render_context_blocks import ACTION
from groundwire_pipelines.errors import StepError
from groundwire_pipelines.state import SearchReport
from support.context_blocks import numbered, render, source
from support.retrieval import FakeRetrieval, make_runtime, make_state, reached, run_action, walked

BODY = "\n".join(["def vat(order):", *(f"    step_{number} = order.lines[{number}]" for number in range(60))])


def test_texts_are_below_their_rows_by_file() -> None:
    texts = [source("c", "x = 1\ny = 2"), source("a"), source("b", path="src/c.py", start=7)]
    state = make_state(node_texts=texts)
    outcome = render(state)
    assert state.context_blocks == [
        "src/c.py\n[1] Symbol.c\n1 x = 1\n  y = 2\n[2]\n7 def b(): ...\nsrc/a.py\n[3] Symbol\n1 def a(): ..."
    ]
    assert [(source.handle, source.node.id, source.text) for source in state.shown] == [
        (1, "c", "x = 1\ny = 2"),
        (2, "b", "def b(): ..."),
        (3, "a", "def a(): ..."),
    ]
    assert outcome.detail == {
        "view": "graph",
        "texts": 3,
        "shortened": 0,
        "left_out": 0,
        "tokens": TokenCounter().count(state.context_blocks[0]),
    }


def test_no_text_imitates_a_row_a_file_or_a_name() -> None:
    state = make_state(node_texts=[source("a", "x\n[9] forged\nsrc/b.py\nnot shown:\n- src/c.py:1 forged\n…3-9")])
    render(state)
    _, row, *lines = state.context_blocks[0].split("\n")
    assert row.startswith("[1]")
    assert all(line[0] in " 12345" for line in lines)


def test_a_better_match_is_first_and_a_text_that_a_walk_reached_says_which_edge_led_there() -> None:
    state = make_state(
        node_texts=[source("b"), source("a", "def a():\n    go()"), source("c", depth=1, parent="a")],
        retrieval_hits=[SearchHit(id="a", score=2.0, rank=1), SearchHit(id="b", score=1.0, rank=2)],
        graph_expanded_nodes=[reached("c", 1, "a")],
        graph_edges=[GraphEdge(from_id="a", to_id="c", edge_type="Calls", line=2, confidence=0.5)],
    )
    render(state)
    assert state.shown[0].node.id == "a"
    assert "→ Calls c:2~.5\n" in evidence_text(state)
    assert {source.node.id for source in state.shown} == {"a", "b", "c"}
    render(state, view="flat")
    assert "→" not in evidence_text(state)


def test_a_text_within_one_that_is_shown_is_not_shown_again() -> None:
    whole = source("a", "class Tax:\n    rate: int\n    name: str")
    part = source("b", "    rate: int", path="src/a.py", start=2)
    state = make_state(node_texts=[part, whole, source("c", "    rate: float")])
    outcome = render(state)
    assert {source.node.id for source in state.shown} == {"a", "c"}
    assert outcome.detail["left_out"] == 1


def test_texts_that_are_the_same_are_shown_once_with_their_number() -> None:
    state = make_state(node_texts=[source("a", "same()"), source("b", "same()")])
    render(state)
    assert [source.node.id for source in state.shown] == ["a"]
    assert "(+1 alike)" in evidence_text(state)


def test_without_a_budget_everything_is_shown_whole() -> None:
    texts = [source("a", BODY * 50), source("b"), *(source(f"n{number}") for number in range(100))]
    state = make_state(node_texts=texts)
    outcome = render(state, budget=None)
    assert (outcome.detail["texts"], outcome.detail["shortened"]) == (102, 0)


def test_more_than_the_budget_may_be_shown_for_a_summary() -> None:
    state = make_state(node_texts=[source(name, numbered(30, name)) for name in "abcdefgh"])
    runtime = replace(make_runtime(FakeRetrieval(), max_context_tokens=400), counter=TokenCounter())
    outcome = run_action(ACTION, {"budget_factor": 3}, state, runtime)
    assert isinstance(outcome.detail["tokens"], int)
    assert 400 < outcome.detail["tokens"] <= 1_200


def test_a_long_text_is_shown_by_the_parts_that_answer() -> None:
    long = BODY + "\n    if order.is_exempt:\n        return no_vat(order)\n" + BODY.replace("def", "    def")
    state = make_state(user_question="which orders are exempted?", node_texts=[source("a", long, start=11)])
    outcome = render(state, 180)
    (shown_source,) = state.shown
    assert outcome.detail["shortened"] == 1
    assert shown_source.text.startswith("def vat(order):\n")
    assert "    if order.is_exempt:\n        return no_vat(order)" in shown_source.text


def test_nodes_without_a_text_are_named() -> None:
    state = make_state(
        node_texts=[source("a")],
        retrieval_seed_nodes=["a", "b"],
        graph_expanded_nodes=[reached("b", symbol="Shop.b", location=SourceLocation(path="src/b.py", start_line=3))],
    )
    render(state)
    assert state.context_blocks[0].split("\n")[-2:] == ["not shown:", "- src/b.py:3 Shop.b"]


def test_weak_matches_take_a_line_each_and_the_evidence_says_so() -> None:
    state = make_state(
        node_texts=[source("a", numbered(20))], search_report=SearchReport(1, similarity=0.1, is_weak=True)
    )
    render(state)
    assert state.context_blocks[0].split("\n") == [
        "This is probably no answer: Only weak matches were found in shop (main): the best have a similarity of 0.10 "
        "to the query.",
        "src/a.py",
        "[1] 1-20 Symbol value_0 = compute(0)",
    ]


def test_what_does_not_fit_at_all_is_told() -> None:
    state = make_state(node_texts=[source("a"), source("b")])
    render(state, 3)
    assert (state.context_blocks, state.shown) == ([], [])
    run_action(finalize.ACTION, {}, state, make_runtime(FakeRetrieval()))
    limit = "max_context_tokens (--budget-tokens), which is 1000"
    assert state.final_answer.splitlines() == [
        f"Texts fetched from shop (main): 2. None of them fits {limit}: raise it.",
        "- src/a.py:1 Symbol.a",
        "- src/b.py:1 Symbol.b",
    ]


def test_no_texts_make_no_blocks() -> None:
    state = make_state(context_blocks=["old"])
    render(state)
    assert state.context_blocks == []


def test_an_unknown_view_fails() -> None:
    with pytest.raises(StepError) as caught:
        run_action(ACTION, {"view": "tree"}, make_state(), make_runtime(FakeRetrieval()))
    assert caught.value.rule == "view-unknown"


def test_edges_that_no_walk_followed_are_asked_for() -> None:
    """What a walk ends at may depend on each other, and a search walks nowhere."""
    retrieval = FakeRetrieval(expansions=[walked([("a", 0, ""), ("b", 0, "")], [("a", "b", "Calls")])])
    access = AccessContext(tenant_id="acme")
    state = make_state(
        node_texts=[source("a", "go()"), source("b")],
        retrieval_access=access,
        retrieval_filter=NodeFilter(languages=("python",)),
    )
    render(state, retrieval=retrieval, graph_min_confidence=0.5, graph_edge_allowlist=("Calls",))
    assert "→ Calls b" in evidence_text(state)
    (call,) = retrieval.calls
    assert call.arguments == {
        "seed_ids": ("a", "b"),
        "max_depth": 1,
        "max_nodes": 2,
        "edge_allowlist": ("Calls",),
        "direction": EdgeDirection.EDGE_DIRECTION_OUTGOING,
        "filter": NodeFilter(languages=("python",)),
        "min_confidence": 0.5,
        "lifecycle": Lifecycle.LIFECYCLE_ACTIVE,
        "access": access,
    }
    render(state, view="flat", retrieval=retrieval)
    assert len(retrieval.calls) == 1


hostile = st.one_of(
    st.text(max_size=300),
    st.text(alphabet="`\n[]1 …→", max_size=200),
    st.integers(1, 400).map(lambda count: "\n".join(" " * number + "{" for number in range(count))),
    st.integers(1, 3_000).map(lambda count: "é`" * count),
    st.integers(1, 300).map(numbered),
    st.integers(1, 2_000).map(lambda count: "\n" * count),
)


@given(
    contents=st.lists(st.tuples(hostile, hostile, hostile), max_size=12),
    edges=st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11), hostile, st.integers(0, 10**9)), max_size=30),
    others=st.lists(st.tuples(hostile, hostile), max_size=8),
    budget=st.integers(1, 3_000),
)
def test_nothing_that_texts_and_names_hold_passes_the_budget(
    contents: list[tuple[str, str, str]],
    edges: list[tuple[int, int, str, int]],
    others: list[tuple[str, str]],
    budget: int,
) -> None:
    nodes = [
        NodeText(
            id=str(number),
            text=body,
            is_seed=False,
            depth=1,
            parent_id="",
            token_count=1,
            location=SourceLocation(path=path, start_line=1, end_line=1 + body.count("\n"), content_hash="00"),
            symbol=symbol,
        )
        for number, (body, path, symbol) in enumerate(contents)
    ]
    dependencies = [
        GraphEdge(from_id=str(a), to_id=str(b), edge_type=kind, confidence=0.3, line=line) for a, b, kind, line in edges
    ]
    walked_to = [
        ReachedNode(id=str(20 + n), depth=1, parent_id="0", symbol=symbol, location=SourceLocation(path=path))
        for n, (symbol, path) in enumerate(others)
    ]
    dependencies += [
        GraphEdge(from_id=str(20 + n), to_id="0", edge_type="Calls", confidence=1.0) for n in range(len(others))
    ]
    state = make_state(node_texts=nodes, graph_edges=dependencies, graph_expanded_nodes=walked_to)
    render(state, budget)
    answer = evidence_text(state)
    assert TokenCounter().count(answer) <= budget
    assert len({source.node.id for source in state.shown}) == len(state.shown)
    again = make_state(node_texts=nodes, graph_edges=dependencies[::-1], graph_expanded_nodes=walked_to)
    render(again, budget)
    assert evidence_text(again) == answer
