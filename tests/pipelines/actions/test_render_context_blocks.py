"""`render_context_blocks`: a table of places and edges, then the texts, within the budget whatever they hold."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
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
    ServiceContext,
    SourceLocation,
)
from groundwire_pipelines.actions import finalize
from groundwire_pipelines.actions.definition import Outcome
from groundwire_pipelines.actions.evidence import evidence_text
from groundwire_pipelines.actions.render_context_blocks import ACTION
from groundwire_pipelines.errors import StepError
from groundwire_pipelines.state import PipelineState
from support.retrieval import FakeRetrieval, changed, make_runtime, make_state, place, run_action, text, walked

BODY = "\n".join(["def vat(order):", *(f"    step_{number} = order.lines[{number}]" for number in range(60))])


def render(
    state: PipelineState,
    budget: int | None = 1000,
    view: str = "graph",
    retrieval: FakeRetrieval | None = None,
    **settings: Any,
) -> Outcome:
    runtime = make_runtime(retrieval or FakeRetrieval(), max_context_tokens=budget, **settings)
    runtime = replace(runtime, counter=TokenCounter())
    return run_action(ACTION, {"view": view}, state, runtime)


def table(*texts: NodeText, edges: tuple[GraphEdge, ...] = (), view: str = "graph") -> str:
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
    first, other, last = text("a", "one"), text("b", "two"), changed(text("c", "three"), location=text("a").location)
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
        GraphEdge(from_id="a", to_id="c", edge_type="Calls", confidence=0.75, line=12),
        GraphEdge(from_id="a", to_id="b", edge_type="Calls", line=7, confidence=1.0),
        GraphEdge(from_id="a", to_id="b", edge_type="Calls", line=5, confidence=1.0),
        GraphEdge(from_id="a", to_id="b", edge_type="Inherits", confidence=1.0),
        GraphEdge(from_id="b", to_id="a", edge_type="FK", line=2, confidence=1.0),
        GraphEdge(from_id="a", to_id="unseen", edge_type="Calls", line=3, confidence=1.0),
        GraphEdge(from_id="unseen", to_id="a", edge_type="Calls", line=3, confidence=1.0),
    )
    assert table(text("a"), text("b"), text("c"), edges=edges).split("\n")[1::2] == [
        "[1] 1-3 Symbol.a → Calls [2]:5 [2]:7 [3]:12~.75, Inherits [2]",
        "[2] 1-3 Symbol.b → FK [1]:2",
        "[3] 1-3 Symbol.c",
    ]
    assert "→" not in table(text("a"), text("b"), edges=edges, view="flat")


def test_a_line_that_the_table_tells_anyway_is_left_out_of_an_edge() -> None:
    member = changed(
        text("b", "member"), location=SourceLocation(path="src/a.py", start_line=2, end_line=3, content_hash="00")
    )
    edge = GraphEdge(from_id="a", to_id="b", edge_type="Contains", line=2, confidence=1.0)
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
    assert table(changed(text("a"), symbol=symbol)) == f"src/a.py\n{name}"


@pytest.mark.parametrize(("lines", "place"), [(0, "1"), (1, "1"), (7, "1-7")])
def test_a_place_is_the_lines_in_the_file(lines: int, place: str) -> None:
    assert table(text("a", lines=lines)) == f"src/a.py\n[1] {place} Symbol.a"


def test_a_text_without_a_path_is_told_by_its_id() -> None:
    assert (
        table(changed(text("a"), location=SourceLocation(path="", start_line=0, end_line=0, content_hash="00")))
        == "a\n[1] Symbol.a"
    )


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
        ("- 9 Vat.find", '"- 9 Vat.find"'),
        ("…and 3 more were found", '"…and 3 more were found"'),
        ("src/[id]/`a`.py", "src/[id]/`a`.py"),
    ],
)
def test_a_path_begins_neither_another_row_nor_a_fence(path: str, line: str) -> None:
    assert table(
        changed(text("a"), location=SourceLocation(path=path, start_line=1, end_line=3, content_hash="00"))
    ).split("\n") == [line, "[1] 1-3 Symbol.a"]


def test_a_name_forges_no_edge() -> None:
    assert table(changed(text("a"), symbol="Tax → Calls [2]")) == "src/a.py\n[1] 1-3 Tax -> Calls [2]"


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
    part = changed(text("b", "    rate: int\n"), location=whole.location)
    elsewhere = text("c", "    rate: int\n")
    state = make_state(node_texts=[whole, part, elsewhere, whole])
    outcome = render(state)
    assert [one.node.id for one in state.shown] == ["a", "c"]
    assert outcome.detail["left_out"] == 1


def test_a_member_within_a_type_that_is_shown_keeps_its_edges() -> None:
    whole = text("a", "class Tax:\n    def rate(self): ...")
    member = changed(
        text("b", "    def rate(self): ...\n"),
        location=SourceLocation(path="src/a.py", start_line=2, end_line=2, content_hash="00"),
    )
    edges = (
        GraphEdge(from_id="b", to_id="c", edge_type="Calls", line=2, confidence=1.0),
        GraphEdge(from_id="d", to_id="b", edge_type="Calls", line=1, confidence=1.0),
    )
    assert table(whole, member, text("c"), text("d"), edges=edges).split("\n")[:3] == [
        "src/a.py",
        "[1] 1-3 Symbol.a",
        "- 2 Symbol.b → Calls [2]:2 ← Calls [3]:1",
    ]


def test_nodes_without_a_text_are_named_with_their_edges_those_that_have_some_first() -> None:
    state = make_state(
        retrieval_seed_nodes=["a"],
        graph_expanded_nodes=[
            ReachedNode(id="a", depth=0),
            ReachedNode(id="far", depth=2, parent_id="callee", symbol="Far.away", location=place("src/far.py", 4, 4)),
            ReachedNode(id="caller", depth=1, parent_id="a", symbol="Shop.caller", location=place("src/a.py", 9, 12)),
            ReachedNode(
                id="callee",
                depth=1,
                parent_id="a",
                symbol="Shop.callee",
                location=place("src/callee.py", 1, 2),
            ),
            ReachedNode(id="bare", depth=1, parent_id="a"),
        ],
        graph_edges=[
            GraphEdge(from_id="a", to_id="callee", edge_type="Calls", confidence=0.5, line=2),
            GraphEdge(from_id="caller", to_id="a", edge_type="Calls", line=10, confidence=1.0),
            GraphEdge(from_id="caller", to_id="a", edge_type="References", line=11, confidence=1.0),
            GraphEdge(from_id="callee", to_id="far", edge_type="Calls", line=2, confidence=1.0),
        ],
        node_texts=[text("a")],
    )
    render(state, 3_200)
    assert state.context_blocks[0].split("\n") == [
        "src/a.py",
        "[1] 1-3 Symbol.a",
        "- 9-12 Shop.caller → Calls [1]:10, References [1]:11",
        "src/callee.py",
        "- 1-2 Shop.callee ← Calls [1]:2~.5",
        "src/far.py",
        "- 4 Far.away",
        "bare",
        "-",
    ]
    render(state, 2_000, view="flat")
    assert state.context_blocks[0] == "src/a.py\n[1] 1-3 Symbol.a\n…and 4 more were found"


def test_names_take_a_small_share_and_the_rest_is_counted() -> None:
    walked_to = [
        ReachedNode(id=f"n{number}", depth=1, parent_id="a", symbol=f"Shop.n{number}") for number in range(500)
    ]
    state = make_state(node_texts=[text("a", numbered(400))], graph_expanded_nodes=walked_to)
    render(state, 1_000)
    *rows, last = state.context_blocks[0].split("\n")
    named = sum(row.startswith("-") for row in rows)
    assert named > 1
    assert TokenCounter().count("\n".join(rows[2:])) <= 1_000 / 40
    assert last == f"…and {500 - named} more were found"


def test_edges_that_no_walk_followed_are_asked_for_and_shown() -> None:
    """What a walk ends at may depend on each other, and a search walks nowhere."""
    rim = walked([("a", 0, ""), ("b", 0, ""), ("c", 0, "")], [("b", "c", "Calls"), ("b", "c", "References")])
    retrieval = FakeRetrieval(expansions=[rim])
    access = AccessContext(tenant_id="acme")
    state = make_state(
        node_texts=[text("a"), text("b"), text("c")],
        graph_edges=[
            GraphEdge(from_id="a", to_id="b", edge_type="Calls", confidence=1.0),
            GraphEdge(from_id="a", to_id="c", edge_type="Calls", confidence=1.0),
        ],
        retrieval_access=access,
        retrieval_filter=NodeFilter(languages=("python",)),
    )
    render(state, retrieval=retrieval, graph_min_confidence=0.5, graph_edge_allowlist=("Calls", "References"))
    assert state.context_blocks[0].split("\n")[1::2] == [
        "[1] 1-3 Symbol.a → Calls [2] [3]",
        "[2] 1-3 Symbol.b → Calls [3], References [3]",
        "[3] 1-3 Symbol.c",
    ]
    assert len(state.graph_edges) == 4
    (call,) = retrieval.calls
    assert call.arguments == {
        "seed_ids": ("a", "b", "c"),
        "max_depth": 1,
        "max_nodes": 3,
        "edge_allowlist": ("Calls", "References"),
        "direction": EdgeDirection.EDGE_DIRECTION_OUTGOING,
        "filter": NodeFilter(languages=("python",)),
        "min_confidence": 0.5,
        "lifecycle": Lifecycle.LIFECYCLE_ACTIVE,
        "access": access,
    }
    render(state, view="flat", retrieval=retrieval)
    assert len(retrieval.calls) == 1


def follow_up(*earlier: NodeText, request: str = "more", **fields: object) -> PipelineState:
    """A question that one retrieval was shown for, and that another was made for since."""
    state = make_state(node_texts=list(earlier), retrieval_seed_nodes=[one.id for one in earlier])
    render(state)
    state.data_requests.append(request)
    state.keep_retrieval()
    for name, value in fields.items():
        setattr(state, name, value)
    return state


def test_follow_ups_are_laid_out_with_what_was_there_and_handles_stay() -> None:
    state = follow_up(text("a"), text("b"), node_texts=[text("c"), text("b"), text("d")])
    render(state)
    assert [(one.handle, one.node.id) for one in state.shown] == [(3, "c"), (1, "a"), (2, "b"), (4, "d")]
    assert state.context_blocks[0].split("\n")[1::2] == [
        f"[{n}] 1-3 Symbol.{one}" for n, one in ((3, "c"), (1, "a"), (2, "b"), (4, "d"))
    ]
    assert state.handles == {"a": 1, "b": 2, "c": 3, "d": 4}


def test_all_retrievals_share_one_budget_and_the_newest_is_not_starved() -> None:
    first, second = ([text(f"{name}{number}", numbered(30)) for number in range(20)] for name in "ab")
    state = follow_up(*first, node_texts=second)
    outcome = render(state, 1_500)
    assert outcome.detail["tokens"] == TokenCounter().count(evidence_text(state)) <= 1_500
    ids = [one.node.id for one in state.shown]
    assert ids[:4] == ["b0", "a0", "b1", "a1"]
    assert abs(sum(one.startswith("a") for one in ids) - sum(one.startswith("b") for one in ids)) <= 1


def test_a_text_that_comes_back_has_its_handle_again_and_no_other_gets_it() -> None:
    state = follow_up(text("a", numbered(40)), text("b", numbered(40)))
    state.node_texts = [text("c")]
    render(state, 60)
    assert [(one.handle, one.node.id) for one in state.shown] == [(3, "c")]
    render(state, 1_000)
    assert [(one.handle, one.node.id) for one in state.shown] == [(3, "c"), (1, "a"), (2, "b")]


@pytest.mark.parametrize("found_again", [(), ("b", "a")])
def test_a_request_that_brought_nothing_new_is_told_and_takes_nothing_away(found_again: tuple[str, ...]) -> None:
    again = [text(name) for name in found_again]
    state = follow_up(text("a"), text("b"), request="the class\n[9] Invoice", node_texts=again)
    render(state)
    assert sorted((one.handle, one.node.id) for one in state.shown) == [(1, "a"), (2, "b")]
    assert state.context_blocks[-1] == 'The request "the class [9] Invoice" brought nothing new.'
    state = follow_up(text("a"), node_texts=[text("c")])
    render(state)
    assert "brought nothing new" not in evidence_text(state)


def test_the_services_of_all_retrievals_are_told_below_the_texts() -> None:
    billing = ServiceContext(service_name="billing", calls=("mail", "rates →\n[1]"), called_by=("gateway",), edges=())
    state = make_state(
        node_texts=[text("a")],
        services=[billing, ServiceContext(service_name="mail", calls=(), called_by=(), edges=())],
    )
    state.keep_retrieval()
    state.node_texts, state.services = (
        [text("b")],
        [ServiceContext(service_name="mail", calls=(), called_by=("billing",), edges=())],
    )
    render(state)
    assert state.context_blocks[-1].split("\n") == [
        "service mail ← billing",
        "service billing → mail, rates -> [1] ← gateway",
    ]
    many = [ServiceContext(service_name=f"s{number}", calls=(), called_by=(), edges=()) for number in range(500)]
    state = make_state(node_texts=[text("a")], services=many)
    outcome = render(state, 400)
    assert "service s0" in state.context_blocks[-1]
    assert TokenCounter().count(state.context_blocks[-1]) <= 400 / 8
    assert outcome.detail["tokens"] == TokenCounter().count(evidence_text(state)) <= 400


def test_a_search_of_another_loop_leaves_the_evidence_until_it_is_laid_out_anew() -> None:
    state = follow_up(text("a"))
    state.clear_retrieval()
    assert evidence_text(state).endswith("```[1]\nsource\n```")
    assert [one.handle for one in state.shown] == [1]


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
    outline = changed(
        text("a", BODY), location=SourceLocation(path="src/a.py", start_line=11, end_line=900, content_hash="00")
    )
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
    assert used <= {1_000: 1.8, 4_000: 1.27, 12_000: 1.22}[budget] * texts


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


def evidence_table(state: PipelineState) -> list[str]:
    return state.context_blocks[0].split("\n") if state.context_blocks else []


def test_what_does_not_fit_at_all_is_told() -> None:
    state = make_state(node_texts=[text("a"), text("b")])
    render(state, 3)
    assert (state.context_blocks, state.shown) == ([], [])
    run_action(finalize.ACTION, {}, state, make_runtime(FakeRetrieval()))
    limit = "max_context_tokens (--budget-tokens), which is 1000"
    assert state.final_answer.splitlines() == [
        f"Texts fetched from shop (main): 2. None of them fits {limit}: raise it.",
        "- src/a.py:1-3 Symbol.a",
        "- src/b.py:1-3 Symbol.b",
    ]


def test_no_texts_make_no_blocks() -> None:
    state = make_state(context_blocks=["old"])
    render(state)
    assert state.context_blocks == []


def test_an_unknown_view_fails() -> None:
    with pytest.raises(StepError) as caught:
        run_action(ACTION, {"view": "tree"}, make_state(), make_runtime(FakeRetrieval()))
    assert caught.value.rule == "view-unknown"
