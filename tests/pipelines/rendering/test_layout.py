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
        ("Shop.Api.Basket.Add(int)", "src/Baskets.cs", "[7] 3-9 Basket.Add(int)"),
        ("Shop.Api.Basket.Add(int)", "src/Basket.cs", "[7] 3-9 Add(int)"),
        ("Shop.Api.Basket", "src/Basket.cs", "[7] 3-9 Api.Basket"),
        ("Basket", "src/Basket.cs", "[7] 3-9"),
        ("Basket<T>", "src/Basket.cs", "[7] 3-9"),
        ("", "src/Basket.cs", "[7] 3-9"),
    ],
)
def test_a_name_is_told_as_far_as_the_file_does_not(symbol: str, path: str, told: str) -> None:
    assert row(node(symbol, path, 7)) == told
    assert row(node(symbol, path, None)) == told.replace("[7]", "-")


@pytest.mark.parametrize(("confidence", "told"), [(1.0, "[2]:20"), (0.8, "[2]:20"), (0.5, "[2]:20~.5")])
def test_doubtful_edges_say_so(confidence: float, told: str) -> None:
    target = node("", "src/b.cs", 2)
    assert (
        link(
            GraphEdge(from_id="cs::m", to_id="cs::n", edge_type="Calls", confidence=confidence, line=20), target, target
        )
        == told
    )
