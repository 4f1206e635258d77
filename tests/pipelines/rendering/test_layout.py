"""How the table of the evidence names texts and edges."""

import pytest

from groundwire_client import DependencyEdge, Location, NodeText
from groundwire_pipelines.rendering.layout import link, row
from groundwire_pipelines.rendering.shown import Excerpt, ShownText


def text(symbol: str, path: str) -> NodeText:
    return NodeText("cs::n", "text", True, 0, "", 1, Location(path, 3, 9, ""), symbol)


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
    assert row(7, text(symbol, path)) == told


@pytest.mark.parametrize(("confidence", "told"), [(1.0, "[2]:20"), (0.8, "[2]:20"), (0.5, "[2]:20~.5")])
def test_doubtful_edges_say_so(confidence: float, told: str) -> None:
    target = ShownText(2, text("", "src/b.cs"), Excerpt("", 0, 0, is_whole=True))
    assert link(DependencyEdge("cs::m", "cs::n", "Calls", confidence, 20), target) == told
