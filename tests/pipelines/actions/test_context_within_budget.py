"""`render_context_blocks` keeps its budget, whatever texts and names hold, and uses it for texts."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.tokens import TokenCounter
from groundwire_client import GraphEdge, NodeText, ReachedNode, SourceLocation
from groundwire_pipelines.actions.evidence import evidence_text
from groundwire_pipelines.actions.render_context_blocks import ACTION
from groundwire_pipelines.state import PipelineState
from support.context_blocks import numbered, render
from support.retrieval import FakeRetrieval, changed, make_runtime, make_state, run_action, text

BODY = "\n".join(["def vat(order):", *(f"    step_{number} = order.lines[{number}]" for number in range(60))])


def test_more_than_the_budget_may_be_shown_for_a_summary() -> None:
    state = make_state(node_texts=[text(name, numbered(30)) for name in "abcdefgh"])
    runtime = replace(make_runtime(FakeRetrieval(), max_context_tokens=400), counter=TokenCounter())
    outcome = run_action(ACTION, {"budget_factor": 3}, state, runtime)
    assert isinstance(outcome.detail["tokens"], int)
    assert 400 < outcome.detail["tokens"] <= 1_200


def test_a_long_text_is_shown_by_the_parts_that_answer() -> None:
    long = BODY + "\n    if order.is_exempt:\n        return no_vat(order)\n" + BODY.replace("def", "    def")
    lines = long.count("\n") + 1
    node = changed(
        text("a", long), location=SourceLocation(path="src/a.py", start_line=11, end_line=10 + lines, content_hash="00")
    )
    state = make_state(user_question="which orders are exempted?", node_texts=[node])
    outcome = render(state, 180)
    (one,) = state.shown
    assert outcome.detail["shortened"] == 1
    assert "def vat(order):\n" in one.excerpt.text
    assert "    if order.is_exempt:\n        return no_vat(order)\n" in one.excerpt.text
    marks = [line for line in one.excerpt.text.split("\n") if line.startswith("…")]
    left_out = {
        number for first, _, last in (mark[1:].partition("-") for mark in marks)
        for number in range(int(first), int(last or first) + 1)
    }  # fmt: skip
    shown_lines = [line for number, line in enumerate(long.split("\n"), start=11) if number not in left_out]
    assert [line for line in one.excerpt.text.split("\n") if not line.startswith("…")] == shown_lines


def test_the_lines_of_an_outline_are_counted_not_numbered() -> None:
    outline = changed(
        text("a", BODY), location=SourceLocation(path="src/a.py", start_line=11, end_line=900, content_hash="00")
    )
    state = make_state(node_texts=[outline])
    render(state, 170)
    assert state.shown[0].excerpt.text.startswith("def vat(order):\n")
    last = state.shown[0].excerpt.text.split("\n")[-1]
    assert last == f"…{61 - state.shown[0].excerpt.text.count(chr(10))} lines"


def test_a_text_in_one_long_line_is_left_out_and_others_after_it_are_shown() -> None:
    state = make_state(node_texts=[text("a", "x = 1; " * 5_000), text("b")])
    outcome = render(state)
    assert [one.node.id for one in state.shown] == ["b"]
    assert outcome.detail["left_out"] == 1


def test_the_best_text_gets_what_is_left() -> None:
    state = make_state(node_texts=[text("a", numbered(50)), text("b", "short")])
    render(state, 1000)
    assert all(one.excerpt.is_whole for one in state.shown)


@pytest.mark.parametrize("budget", [1_000, 4_000, 12_000])
def test_the_budget_is_used_and_little_goes_to_other_things_than_texts(budget: int) -> None:
    """Ninety texts of 180 tokens, three in a file, each depending on the next."""
    nodes = [
        changed(
            text(f"n{number}", numbered(20).replace("value", f"value{number}")),
            symbol=f"shop.billing.Service{number // 3}.method_{number}",
            location=SourceLocation(
                path=f"src/billing/service_{number // 3}.py",
                start_line=number * 30 + 1,
                end_line=number * 30 + 20,
                content_hash="00",
            ),
        )
        for number in range(90)
    ]
    edges = [
        GraphEdge(from_id=f"n{number}", to_id=f"n{number + 1}", edge_type="Calls", line=30 * number + 5, confidence=1.0)
        for number in range(89)
    ]
    state = make_state(node_texts=nodes, graph_edges=edges)
    outcome = render(state, budget)
    used, texts = outcome.detail["tokens"], outcome.detail["text_tokens"]
    assert isinstance(used, int)
    assert isinstance(texts, int)
    assert 0.85 * budget <= used <= budget
    assert used <= {1_000: 2.1, 4_000: 1.42, 12_000: 1.35}[budget] * texts


def test_without_a_budget_everything_is_shown_whole() -> None:
    state = make_state(node_texts=[text("a", BODY * 50), text("b")])
    outcome = render(state, budget=None)
    assert (outcome.detail["texts"], outcome.detail["shortened"]) == (2, 0)


hostile = st.one_of(
    st.text(max_size=300),
    st.text(alphabet="`\n[]1 …→", max_size=200),
    st.integers(1, 400).map(lambda count: "\n".join(" " * number + "{" for number in range(count))),
    st.integers(1, 3_000).map(lambda count: "é`" * count),
    st.integers(1, 300).map(numbered),
    st.integers(1, 2_000).map(lambda count: "\n" * count),
)


def evidence_table(state: PipelineState) -> list[str]:
    return state.context_table[0].split("\n") if state.context_table else []


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
    assert len({one.node.id for one in state.shown}) == len(state.shown)
    assert all(one.startswith(("[", "-", "…and")) or "→" not in one for one in evidence_table(state))
    again = make_state(node_texts=nodes, graph_edges=dependencies[::-1], graph_expanded_nodes=walked_to)
    render(again, budget)
    assert evidence_text(again) == answer
