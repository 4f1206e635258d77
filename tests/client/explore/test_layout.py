"""Places of boxes: areas fill the whole without overlap, and layers are ordered so that few links cross."""

from collections import Counter
from dataclasses import replace
from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_client import SourceLocation
from groundwire_explore.drawing import Drawing
from groundwire_explore.exports import mermaid_graph
from groundwire_explore.folders import Edges, Folder, Part
from groundwire_explore.graph_drawing import draw_graph
from groundwire_explore.layout import Rectangle, ordered_layers, treemap
from groundwire_explore.neighbourhood import Edge, Placed
from groundwire_explore.overview import draw_parts


def overlap(first: Rectangle, second: Rectangle) -> bool:
    """True if two rectangles share more than what rounding makes them share."""
    width = min(first.x + first.width, second.x + second.width) - max(first.x, second.x)
    height = min(first.y + first.height, second.y + second.height) - max(first.y, second.y)
    return width > 1e-6 and height > 1e-6


def crossings(layers: list[list[int]], links: set[tuple[int, int]]) -> int:
    """How many pairs of links cross between neighbouring layers, pair by pair."""
    crossed = 0
    for before, after in pairwise(layers):
        between = [
            (before.index(start), after.index(end))
            for link in links
            for start, end in (link, link[::-1])
            if start in before and end in after
        ]
        crossed += sum((a - c) * (b - d) < 0 for (a, b), (c, d) in combinations(between, 2))
    return crossed


@given(st.lists(st.integers(1, 10_000), min_size=1, max_size=30))
def test_areas_fill_the_whole_in_proportion(sizes: list[int]) -> None:
    sizes.sort(reverse=True)
    places = treemap(sizes, Rectangle(0, 0, 1_200, 500))
    assert [place.width * place.height for place in places] == pytest.approx(
        [size * 600_000 / sum(sizes) for size in sizes], rel=1e-6
    )
    assert not any(overlap(*pair) for pair in combinations(places, 2))


@given(st.data())
def test_layers_keep_their_nodes_and_gain_no_crossings(data: st.DataObject) -> None:
    sizes = data.draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    numbers = iter(range(sum(sizes)))
    layers = [[next(numbers) for _ in range(size)] for size in sizes]
    ends = st.integers(0, sum(sizes) - 1)
    links = data.draw(st.sets(st.tuples(ends, ends).filter(lambda link: link[0] < link[1]), max_size=20))
    ordered = ordered_layers(layers, links)
    assert [sorted(layer) for layer in ordered] == layers
    assert crossings(ordered, links) <= crossings(layers, links)


def test_links_are_untangled() -> None:
    links = {(0, 5), (1, 4), (2, 3)}
    assert crossings(ordered_layers([[0, 1, 2], [3, 4, 5]], links), links) == 0


def placed(name: str, column: int) -> Placed:
    return Placed(name, f"Shop.Orders.{name}", SourceLocation(path="src/a.py", start_line=3, end_line=4), column, ())


def boxes_lie_apart(drawing: Drawing) -> bool:
    """True if no two boxes overlap, and all are inside."""
    places = [box.place for box in drawing.boxes]
    inside = all(box.x >= 0 and box.x + box.width <= drawing.width and box.y >= 0 for box in places)
    return inside and not any(overlap(*pair) for pair in combinations(places, 2))


@pytest.mark.parametrize("depth", [1, 2, 4])
def test_a_graph_has_layers_from_left_to_right_and_fits_a_narrow_screen(depth: int) -> None:
    nodes = [placed("centre", 0)]
    nodes += [placed(f"n{column}_{row}", column) for column in range(-depth, depth + 1) if column for row in range(7)]
    edges = [Edge(nodes[0], node, "Calls", "1", 3) for node in nodes[1:]]
    edges += [Edge(nodes[1], nodes[2], "Inherits", "1", 4), Edge(nodes[0], nodes[1], "Calls", "1", 9)]
    wide, narrow = draw_graph(nodes, edges)
    assert boxes_lie_apart(wide)
    assert boxes_lie_apart(narrow)
    assert narrow.width <= 340
    by_column = {node.column: wide.boxes[number].place.x for number, node in enumerate(nodes)}
    assert sorted(by_column, key=lambda column: by_column[column]) == list(range(-depth, depth + 1))
    assert [box.name for box in wide.boxes][:2] == ["centre", f"n{-depth}_0"]
    assert len(wide.curves) == len(edges) - 1  # two edges lead from the centre to the first node
    assert {curve.label for curve in wide.curves} == {"Calls", "Inherits"}
    assert wide.legend == narrow.legend == ("Calls", "Inherits")
    assert {curve.style: curve.label for curve in wide.curves} == {0: "Calls", 1: "Inherits"}


def test_boxes_of_one_drawing_have_different_names() -> None:
    nodes = [replace(placed("Create", 0), id="0"), *(placed(f"n{number}", 1) for number in range(2))]
    nodes[1] = replace(nodes[1], name="Shop.Invoice.Create")
    nodes[2] = replace(nodes[2], name="Shop.Order.Create")
    edges = [Edge(nodes[0], node, "Calls", "1", 3) for node in nodes[1:]]
    for drawing in draw_graph(nodes, edges):
        assert [box.name for box in drawing.boxes] == ["Orders.Create", "Invoice.Create", "Order.Create"]
    assert 'n1["Invoice.Create"]' in mermaid_graph(nodes, edges)


def test_rare_types_of_edges_share_a_style_and_a_link_of_several_has_that_of_the_most_frequent() -> None:
    nodes = [placed("centre", 0), *(placed(f"n{number}", 1) for number in range(8))]
    types = ["Calls", "Calls", "Inherits", "Reads", "Sends", "Tests", "Writes", "Calls"]
    edges = [Edge(nodes[0], node, name, "1", 3) for node, name in zip(nodes[1:], types, strict=True)]
    edges.append(Edge(nodes[0], nodes[3], "Calls", "1", 4))
    wide, _ = draw_graph(nodes, edges)
    assert wide.legend == ("Calls", "Inherits", "Reads", "Sends", "Tests, Writes")
    styles = {curve.end: (curve.style, curve.label) for curve in wide.curves}
    assert styles[3] == (0, "Calls, Inherits")
    assert styles[6] == (4, "Tests")
    assert styles[7] == (4, "Writes")


def test_a_map_names_its_areas_and_says_how_many_edges_lead_from_one_to_another() -> None:
    long = f"src/{'long_' * 12}name.py"
    folder = Folder("v1", "src/", 112, (), (Part("src/big/", 100, 100), Part(long, 12, 12)))
    edges = Edges(1_234, Counter({("src/big/", long): 1_234}), frozenset(), is_whole=True)
    wide, narrow = draw_parts(folder, edges)
    for drawing in (wide, narrow):
        assert boxes_lie_apart(drawing)
        assert drawing.boxes[0].name == "big/"
        assert drawing.boxes[0].remark == "100 nodes"
        assert drawing.boxes[1].title == f"{long}: 12 nodes"
        assert [curve.label for curve in drawing.curves] == ["1,234"]
    assert narrow.boxes[1].name.endswith("…")
