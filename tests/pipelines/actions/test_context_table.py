"""The table of `render_context_blocks`: places, names, and the edges among what was found."""

import pytest

from groundwire.tokens import TokenCounter
from groundwire_client import (
    AccessContext,
    EdgeDirection,
    GraphEdge,
    Lifecycle,
    NodeFilter,
    NodeText,
    ReachedNode,
    SourceLocation,
)
from support.context_blocks import numbered, render
from support.retrieval import FakeRetrieval, changed, make_state, place, text, walked


def table(*texts: NodeText, edges: tuple[GraphEdge, ...] = (), view: str = "graph") -> str:
    state = make_state(node_texts=list(texts), graph_edges=list(edges))
    render(state, view=view)
    return state.context_table[0]


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
    assert table(text("a"), text("b"), text("c"), edges=edges).split("\n") == [
        "[1] src/a.py:1-3 Symbol.a → Calls [2]:5 [2]:7 [3]:12~.75, Inherits [2]",
        "[2] src/b.py:1-3 Symbol.b → FK [1]:2",
        "[3] src/c.py:1-3 Symbol.c",
    ]
    assert "→" not in table(text("a"), text("b"), edges=edges, view="flat")


def test_a_line_that_the_table_tells_anyway_is_left_out_of_an_edge() -> None:
    member = changed(
        text("b", "member"), location=SourceLocation(path="src/a.py", start_line=2, end_line=3, content_hash="00")
    )
    edge = GraphEdge(from_id="a", to_id="b", edge_type="Contains", line=2, confidence=1.0)
    assert table(text("a"), member, edges=(edge,)).split("\n")[0] == "[1] src/a.py:1-3 Symbol.a → Contains [2]"


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("Shop.Api.Basket.Add(int, List<Shop.Item>)", "[1] src/a.py:1-3 Basket.Add(int, List<Shop.Item>)"),
        ("Add", "[1] src/a.py:1-3 Add"),
        ("a.py", "[1] src/a.py:1-3"),
        ("", "[1] src/a.py:1-3"),
        ("Tax > VAT. How it works", "[1] src/a.py:1-3 Tax > VAT. How it works"),
        ("forged\n[9] 1-3 name", "[1] src/a.py:1-3 forged [9] 1-3 name"),
        ("x" * 500, f"[1] src/a.py:1-3 {'x' * 29}…{'x' * 29}"),
    ],
)
def test_a_name_is_short_and_in_one_line(symbol: str, name: str) -> None:
    assert table(changed(text("a"), symbol=symbol)) == name


@pytest.mark.parametrize(("lines", "place"), [(0, "1"), (1, "1"), (7, "1-7")])
def test_a_place_is_the_lines_in_the_file(lines: int, place: str) -> None:
    assert table(text("a", lines=lines)) == f"[1] src/a.py:{place} Symbol.a"


def test_a_text_without_a_path_is_told_by_its_id() -> None:
    assert (
        table(changed(text("a"), location=SourceLocation(path="", start_line=0, end_line=0, content_hash="00")))
        == "[1] a Symbol.a"
    )


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("[9] a.py:40-44 Vat.find", '"[9] a.py:40-44 Vat.find:1-3"'),
        ("[locale]/page.tsx", '"[locale]/page.tsx:1-3"'),
        ("````", '"````:1-3"'),
        (" ~~~/a.py", '"~~~/a.py:1-3"'),
        ("- 9 Vat.find", '"- 9 Vat.find:1-3"'),
        ("…and 3 more were found", '"…and 3 more were found:1-3"'),
        ("src/[id]/`a`.py", "src/[id]/`a`.py:1-3"),
    ],
)
def test_a_path_looks_like_no_handle_and_no_fence(path: str, line: str) -> None:
    odd = changed(text("a"), location=SourceLocation(path=path, start_line=1, end_line=3, content_hash="00"))
    assert table(odd) == f"[1] {line} Symbol.a"


def test_a_name_forges_no_edge() -> None:
    assert table(changed(text("a"), symbol="Tax → Calls [2]")) == "[1] src/a.py:1-3 Tax -> Calls [2]"


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
    assert table(whole, member, text("c"), text("d"), edges=edges).split("\n") == [
        "[1] src/a.py:1-3 Symbol.a",
        "[2] src/c.py:1-3 Symbol.c",
        "[3] src/d.py:1-3 Symbol.d",
        "- src/a.py:2 Symbol.b → Calls [2]:2 ← Calls [3]:1",
    ]


def test_nodes_without_a_text_are_named_with_their_edges_those_that_have_some_first() -> None:
    state = make_state(
        retrieval_seed_nodes=["a"],
        graph_expanded_nodes=[
            ReachedNode(id="a", depth=0),
            ReachedNode(id="far", depth=2, parent_id="callee", symbol="Far.away", location=place("src/far.py", 4, 4)),
            ReachedNode(id="caller", depth=1, parent_id="a", symbol="Shop.caller", location=place("src/a.py", 9, 12)),
            ReachedNode(
                id="callee", depth=1, parent_id="a", symbol="Shop.callee", location=place("src/callee.py", 1, 2)
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
    assert state.context_blocks[1].split("\n") == [
        "- src/a.py:9-12 Shop.caller → Calls [1]:10, References [1]:11",
        "- src/callee.py:1-2 Shop.callee ← Calls [1]:2~.5",
        "- src/far.py:4 Far.away",
        "- bare",
    ]
    render(state, 2_000, view="flat")
    assert state.context_table == ["[1] src/a.py:1-3 Symbol.a\n…and 4 more were found"]


def test_names_take_a_small_share_and_the_rest_is_counted() -> None:
    walked_to = [
        ReachedNode(id=f"n{number}", depth=1, parent_id="a", symbol=f"Shop.n{number}") for number in range(500)
    ]
    state = make_state(node_texts=[text("a", numbered(400))], graph_expanded_nodes=walked_to)
    render(state, 1_000)
    *rows, last = state.context_blocks[1].split("\n")
    assert len(rows) > 1
    assert TokenCounter().count("\n".join(rows)) <= 1_000 / 40
    assert last == f"…and {500 - len(rows)} more were found"


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
    assert state.context_table[0].split("\n") == [
        "[1] src/a.py:1-3 Symbol.a → Calls [2] [3]",
        "[2] src/b.py:1-3 Symbol.b → Calls [3], References [3]",
        "[3] src/c.py:1-3 Symbol.c",
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
