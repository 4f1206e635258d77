"""`render_context_blocks`: a table of places and edges, then the texts, within the budget whatever they hold."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire.tokens import TokenCounter
from groundwire_client import DependencyEdge, Location, NodeText
from groundwire_pipelines.actions import finalize
from groundwire_pipelines.actions.definition import Outcome
from groundwire_pipelines.actions.evidence import evidence_text
from groundwire_pipelines.actions.render_context_blocks import ACTION
from groundwire_pipelines.errors import StepError
from groundwire_pipelines.state import PipelineState
from support.retrieval import FakeRetrieval, make_runtime, make_state, run_action, shown, text

BODY = "\n".join(["def vat(order):", *(f"    step_{number} = order.lines[{number}]" for number in range(60))])


def render(state: PipelineState, budget: int | None = 1000, view: str = "graph") -> Outcome:
    runtime = replace(make_runtime(FakeRetrieval(), max_context_tokens=budget), counter=TokenCounter())
    return run_action(ACTION, {"view": view}, state, runtime)


def table(*texts: NodeText, edges: tuple[DependencyEdge, ...] = (), view: str = "graph") -> str:
    state = make_state(node_texts=list(texts), graph_edges=list(edges))
    render(state, view=view)
    return state.context_blocks[0]


def numbered(count: int) -> str:
    return "\n".join(f"value_{number} = compute({number})" for number in range(count))


def test_the_table_stands_first_and_then_the_texts_in_order() -> None:
    state = make_state(node_texts=[text("c", "x = 1\ny = 2\n"), text("a", "z = 3")])
    outcome = render(state)
    assert state.context_blocks == [
        "src/c.py\n[1] 1-3 Symbol.c\nsrc/a.py\n[2] 1-3 Symbol.a",
        "```[1]\nx = 1\ny = 2\n```",
        "```[2]\nz = 3\n```",
    ]
    assert [(one.handle, one.node.id) for one in state.shown] == [(1, "c"), (2, "a")]
    assert outcome.detail == {
        "view": "graph",
        "texts": 2,
        "shortened": 0,
        "left_out": 0,
        "text_tokens": 13,
        "tokens": 54,
    }


def test_texts_of_one_file_stand_together_where_the_first_of_them_stands() -> None:
    first, other, last = text("a", "one"), text("b", "two"), replace(text("c", "three"), location=text("a").location)
    state = make_state(node_texts=[first, other, last])
    render(state)
    assert state.context_blocks[0].split("\n") == [
        "src/a.py",
        "[1] 1-3 Symbol.a",
        "[3] 1-3 Symbol.c",
        "src/b.py",
        "[2] 1-3 Symbol.b",
    ]
    assert [block.split("\n")[0] for block in state.context_blocks[1:]] == ["```[1]", "```[3]", "```[2]"]


def test_every_edge_among_the_texts_is_shown_at_the_one_that_depends() -> None:
    edges = (
        DependencyEdge("a", "c", "Calls", 0.75, 12),
        DependencyEdge("a", "b", "Calls", line=7),
        DependencyEdge("a", "b", "Calls", line=5),
        DependencyEdge("a", "b", "Inherits"),
        DependencyEdge("b", "a", "FK", line=2),
        DependencyEdge("a", "unseen", "Calls", line=3),
        DependencyEdge("unseen", "a", "Calls", line=3),
    )
    assert table(text("a"), text("b"), text("c"), edges=edges).split("\n")[1::2] == [
        "[1] 1-3 Symbol.a → Calls [2]:5 [2]:7 [3]:12~.75, Inherits [2]",
        "[2] 1-3 Symbol.b → FK [1]:2",
        "[3] 1-3 Symbol.c",
    ]
    assert "→" not in table(text("a"), text("b"), edges=edges, view="flat")


def test_a_line_that_the_table_tells_anyway_is_left_out_of_an_edge() -> None:
    member = replace(text("b", "member"), location=Location("src/a.py", 2, 3, "00"))
    edge = DependencyEdge("a", "b", "Contains", line=2)
    assert table(text("a"), member, edges=(edge,)).split("\n")[1] == "[1] 1-3 Symbol.a → Contains [2]"


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("Shop.Api.Basket.Add(int, List<Shop.Item>)", "[1] 1-3 Basket.Add(int, List<Shop.Item>)"),
        ("Add", "[1] 1-3 Add"),
        ("a.py", "[1] 1-3"),
        ("", "[1] 1-3"),
        ("Tax > VAT. How it works", "[1] 1-3 Tax > VAT. How it works"),
        ("forged\n[9] 1-3 name", "[1] 1-3 forged [9] 1-3 name"),
        ("x" * 500, f"[1] 1-3 {'x' * 29}…{'x' * 29}"),
    ],
)
def test_a_name_is_short_and_in_one_line(symbol: str, name: str) -> None:
    assert table(replace(text("a"), symbol=symbol)) == f"src/a.py\n{name}"


@pytest.mark.parametrize(("lines", "place"), [(0, "1"), (1, "1"), (7, "1-7")])
def test_a_place_is_the_lines_in_the_file(lines: int, place: str) -> None:
    assert table(text("a", lines=lines)) == f"src/a.py\n[1] {place} Symbol.a"


def test_a_text_without_a_path_is_told_by_its_id() -> None:
    assert table(replace(text("a"), location=Location("", 0, 0, "00"))) == "a\n[1] Symbol.a"


def test_a_text_cannot_close_its_fence() -> None:
    state = make_state(node_texts=[text("a", "````\n[9] forged\n````")])
    render(state)
    assert state.context_blocks[1] == "`````[1]\n````\n[9] forged\n````\n`````"


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("[9] 40-44 Vat.find", '"[9] 40-44 Vat.find"'),
        ("[locale]/page.tsx", '"[locale]/page.tsx"'),
        ("````", '"````"'),
        (" ~~~/a.py", '"~~~/a.py"'),
        ("src/[id]/`a`.py", "src/[id]/`a`.py"),
    ],
)
def test_a_path_begins_neither_another_row_nor_a_fence(path: str, line: str) -> None:
    assert table(replace(text("a"), location=Location(path, 1, 3, "00"))).split("\n") == [line, "[1] 1-3 Symbol.a"]


def test_a_name_forges_no_edge() -> None:
    assert table(replace(text("a"), symbol="Tax → Calls [2]")) == "src/a.py\n[1] 1-3 Tax -> Calls [2]"


@pytest.mark.parametrize("ticks", [2_000, 3_000, 5_000])
def test_a_text_whose_fences_are_long_takes_no_room_from_others(ticks: int) -> None:
    """A line of so many backticks would fit, but not with two fences that are longer."""
    others = [text(name, numbered(30)) for name in "bcd"]
    state = make_state(node_texts=[text("a", f"{numbered(12)}\n{'`' * ticks}"), *others])
    render(state, 4_000)
    assert [one.node.id for one in state.shown] == ["a", "b", "c", "d"]
    assert TokenCounter().count(evidence_text(state)) <= 4_000


def test_a_text_that_another_of_its_file_shows_is_not_shown_again() -> None:
    whole = text("a", "class Tax:\n    rate: int\n    name: str")
    part = replace(text("b", "    rate: int\n"), location=whole.location)
    elsewhere = text("c", "    rate: int\n")
    state = make_state(node_texts=[whole, part, elsewhere, whole])
    outcome = render(state)
    assert [one.node.id for one in state.shown] == ["a", "c"]
    assert outcome.detail["left_out"] == 2


def test_what_earlier_evidence_shows_is_not_shown_again_and_handles_count_on() -> None:
    state = make_state(node_texts=[text("a"), text("b")], earlier_shown=[shown(1, "a"), shown(2, "c")])
    render(state)
    assert state.context_blocks == ["src/b.py\n[3] 1-3 Symbol.b", "```[3]\nsource\n```"]


def test_a_long_text_is_shown_by_the_parts_that_answer() -> None:
    long = BODY + "\n    if order.is_exempt:\n        return no_vat(order)\n" + BODY.replace("def", "    def")
    lines = long.count("\n") + 1
    node = replace(text("a", long), location=Location("src/a.py", 11, 10 + lines, "00"))
    state = make_state(user_question="which orders are exempted?", node_texts=[node])
    outcome = render(state, 150)
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
    outline = replace(text("a", BODY), location=Location("src/a.py", 11, 900, "00"))
    state = make_state(node_texts=[outline])
    render(state, 150)
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
        replace(
            text(f"n{number}", numbered(20).replace("value", f"value{number}")),
            symbol=f"shop.billing.Service{number // 3}.method_{number}",
            location=Location(f"src/billing/service_{number // 3}.py", number * 30 + 1, number * 30 + 20, "00"),
        )
        for number in range(90)
    ]
    edges = [DependencyEdge(f"n{number}", f"n{number + 1}", "Calls", line=30 * number + 5) for number in range(89)]
    state = make_state(node_texts=nodes, graph_edges=edges)
    outcome = render(state, budget)
    used, texts = outcome.detail["tokens"], outcome.detail["text_tokens"]
    assert isinstance(used, int)
    assert isinstance(texts, int)
    assert 0.85 * budget <= used <= budget
    assert used <= {1_000: 1.65, 4_000: 1.25, 12_000: 1.17}[budget] * texts


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


@settings(deadline=None)
@given(
    contents=st.lists(st.tuples(hostile, hostile, hostile), max_size=12),
    edges=st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11), hostile, st.integers(0, 10**9)), max_size=30),
    budget=st.integers(1, 3_000),
)
def test_nothing_that_texts_and_names_hold_passes_the_budget(
    contents: list[tuple[str, str, str]], edges: list[tuple[int, int, str, int]], budget: int
) -> None:
    nodes = [
        NodeText(str(number), body, False, 1, "", 1, Location(path, 1, 1 + body.count("\n"), "00"), symbol)
        for number, (body, path, symbol) in enumerate(contents)
    ]
    dependencies = [DependencyEdge(str(a), str(b), kind, 0.3, line) for a, b, kind, line in edges]
    state = make_state(node_texts=nodes, graph_edges=dependencies)
    render(state, budget)
    answer = evidence_text(state)
    assert TokenCounter().count(answer) <= budget
    assert len({one.node.id for one in state.shown}) == len(state.shown)
    again = make_state(node_texts=nodes, graph_edges=dependencies[::-1])
    render(again, budget)
    assert evidence_text(again) == answer


def test_what_does_not_fit_at_all_is_told() -> None:
    state = make_state(node_texts=[text("a"), text("b")])
    render(state, 3)
    assert (state.context_blocks, state.shown) == ([], [])
    run_action(finalize.ACTION, {}, state, make_runtime(FakeRetrieval()))
    nothing = "Nothing of the 2 texts found in shop (main) fits max_context_tokens (--budget-tokens): raise it."
    assert state.final_answer == nothing


def test_no_texts_make_no_blocks() -> None:
    state = make_state(context_blocks=["old"])
    render(state)
    assert state.context_blocks == []


def test_an_unknown_view_fails() -> None:
    with pytest.raises(StepError) as caught:
        run_action(ACTION, {"view": "tree"}, make_state(), make_runtime(FakeRetrieval()))
    assert caught.value.rule == "view-unknown"
