"""Exports are Markdown and Mermaid in which no text of an index is markup."""

import re

from client.explore.conftest import MARKUP
from groundwire_client import SourceLocation
from groundwire_explore.exports import markdown, mermaid_graph, mermaid_map
from groundwire_explore.folders import Part
from groundwire_explore.neighbourhood import Edge, Placed
from groundwire_explore.results import Match, Results
from groundwire_explore.source_text import source_text

PLACE = SourceLocation(path="src/`a`.py", start_line=3, end_line=4)


def answer(text: str, name: str) -> str:
    match = Match("id", 1, "0.5", name, PLACE, text=source_text(text, PLACE))
    left_out = Match("id", 2, "0.4", "Shop.order", SourceLocation(path="b.md"), omission="over the budget")
    return markdown("where is\n# it?", "shop::main", Results("v1", (match, left_out), None, ()))


def test_an_answer_has_each_match_with_its_citation_and_text() -> None:
    exported = answer("def a():\n    pass\n", "Shop.a")
    assert exported.startswith("# where is \\# it?\n\nFrom index v1 of shop · main.\n")
    assert "## 1. Shop.a\n\n`` src/`a`.py:3-4 ``\n\n```py\ndef a():\n    pass\n```\n" in exported
    assert exported.endswith("## 2. Shop.order\n\n`b.md`\n\nText left out: over the budget\n")


def test_a_text_cannot_end_its_fence_nor_a_name_its_line() -> None:
    exported = answer("````\n# no heading\n````", f"{MARKUP}\n# no heading")
    escaped = re.sub(r"([<>()])", r"\\\1", MARKUP)
    assert "`````py\n````\n# no heading\n````\n`````\n" in exported
    assert re.findall("^#+ .*", exported.replace("````\n# no heading\n````", ""), re.MULTILINE) == [
        "# where is \\# it?",
        f"## 1. {escaped} \\# no heading",
        "## 2. Shop.order",
    ]


def test_a_graph_is_a_flowchart() -> None:
    nodes = [Placed(name, name, PLACE, 0, ()) for name in ("Shop.a", '"] --> x["')]
    edges = [Edge(nodes[0], nodes[1], "Calls", "1", line) for line in (3, 4)]
    assert mermaid_graph(nodes, edges) == (
        'flowchart LR\n  n0["a"]\n  n1["#34;#93; --#62; x#91;#34;"]\n  n0 -->|"Calls"| n1\n'
    )


def test_a_label_is_one_line_without_signs_that_steer() -> None:
    """A line break would begin a statement of its own."""
    name, kind = "a\n  click n0 call x\u2028b\u202e", "Calls\r\n  n0 --> n1\x1b"
    nodes = [Placed(number, name, PLACE, 0, ()) for number in ("1", "2")]
    exported = mermaid_graph(nodes, [Edge(nodes[0], nodes[1], kind, "1", 3)])
    exported += mermaid_map([Part(f"{name}.py", 1), Part("b", 2)], {(f"{name}.py", "b"): 1})
    assert len(exported.splitlines()) == 2 * 4
    assert not [sign for sign in "\u202e\x1b" if sign in exported]


def test_a_map_is_a_flowchart_with_the_most_frequent_edges_first() -> None:
    parts = [Part("src/", 1_000), Part("docs/", 2), Part("a.py", 1)]
    edges = {("docs/", "src/"): 2, ("a.py", "src/"): 30}
    assert mermaid_map(parts, edges).splitlines()[1:] == [
        '  n0["src/ 1,000"]',
        '  n1["docs/ 2"]',
        '  n2["a.py 1"]',
        '  n2 -->|"30"| n0',
        '  n1 -->|"2"| n0',
    ]
