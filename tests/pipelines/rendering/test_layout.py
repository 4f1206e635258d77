"""How the table of the evidence names texts and edges."""

import pytest

from groundwire_client import GraphEdge
from groundwire_pipelines.rendering.layout import link, row
from groundwire_pipelines.rendering.shown import EvidenceNode


def node(symbol: str, path: str, handle: int | None) -> EvidenceNode:
    return EvidenceNode("cs::n", symbol, path, 3, 9, handle=handle)


@pytest.mark.parametrize(
    ("symbol", "path", "told"),
    [
        ("Shop.Api.Basket.Add(int)", "src/Baskets.cs", "src/Baskets.cs:3-9 Basket.Add(int)"),
        ("Shop.Api.Basket.Add(int)", "src/Basket.cs", "src/Basket.cs:3-9 Add(int)"),
        ("Shop.Api.Basket", "src/Basket.cs", "src/Basket.cs:3-9 Api.Basket"),
        ("Basket", "src/Basket.cs", "src/Basket.cs:3-9"),
        ("Basket<T>", "src/Basket.cs", "src/Basket.cs:3-9"),
        ("", "src/Basket.cs", "src/Basket.cs:3-9"),
    ],
)
def test_a_name_is_told_as_far_as_the_file_does_not(symbol: str, path: str, told: str) -> None:
    assert row(node(symbol, path, 7), is_shown=True) == f"[7] {told}"
    assert row(node(symbol, path, None), is_shown=False) == f"- {told}"
    assert row(node(symbol, path, 7), is_shown=False) == f"- [7] {told}"


@pytest.mark.parametrize(("confidence", "told"), [(1.0, "[2]:20"), (0.8, "[2]:20"), (0.5, "[2]:20~.5")])
def test_doubtful_edges_say_so(confidence: float, told: str) -> None:
    target = node("", "src/b.cs", 2)
    edge = GraphEdge(from_id="cs::m", to_id="cs::n", edge_type="Calls", confidence=confidence, line=20)
    assert link(edge, target, target, to=target) == told


def test_the_line_of_an_edge_is_left_out_only_if_the_targets_row_shows_it() -> None:
    edge = GraphEdge(from_id="cs::m", to_id="cs::n", edge_type="Calls", confidence=1.0, line=3)
    member, elsewhere = node("", "src/b.cs", 2), node("", "src/a.cs", 1)
    assert link(edge, node("", "src/b.cs", 1), member, to=member) == "[2]"
    assert link(edge, elsewhere, member, to=member) == "[2]:3"
