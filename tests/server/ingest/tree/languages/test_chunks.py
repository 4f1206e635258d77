"""How the lines of a file become chunks, in whichever language."""

from collections.abc import Callable

import pytest

from groundwire_server.ingest.tree.chunking import MAX_CHUNK_CHARACTERS
from groundwire_server.ingest.tree.facts import CodeAnalysis

Analyser = Callable[[str, str], CodeAnalysis]


def spans(analysis: CodeAnalysis) -> dict[str, tuple[int, int]]:
    return {node.local_id: (node.start_line, node.end_line) for node in analysis.file.nodes}


def test_code_between_definitions_is_a_part_of_its_own_when_it_is_substantial(analyse: Analyser) -> None:
    text = (
        "import a\n"
        "def f():\n    return 1\n"
        "x = 1\n"
        "def g():\n    return 2\n"
        "\n"
        "registry = {'f': f, 'g': g, 'another one': None}\n"
        "registry.update(another)\n"
    )
    analysis = analyse("a.py", text)
    assert spans(analysis) == {"a.py": (1, 1), "a.py@2": (8, 9), "a.py#f": (2, 3), "a.py#g": (5, 6)}
    assert ("py::a.py", "py::a.py@2") in {(edge.from_key, edge.to_key) for edge in analysis.file.edges}
    assert analysis.facts is not None
    assert [(call.from_key, call.name) for call in analysis.facts.calls] == [("py::a.py@2", "update")]


def test_fields_between_methods_belong_to_their_class(analyse: Analyser) -> None:
    text = "class A {\n  void f() {\n  }\n  private final Map<String, Repository> repositories;\n  void g() {\n  }\n}\n"
    assert spans(analyse("A.java", text)) == {
        "A.java": (1, 1),
        "A.java#A": (1, 1),
        "A.java#A@2": (4, 4),
        "A.java#A.f": (2, 3),
        "A.java#A.g": (5, 6),
    }


def test_a_file_that_is_all_definitions_is_known_by_its_first_line(analyse: Analyser) -> None:
    analysis = analyse("a.ts", "export class A {\n  f() {\n  }\n}\n")
    assert spans(analysis)["a.ts"] == (1, 1)
    assert analysis.file.nodes[0].text == "export class A {"


def test_definitions_that_share_a_line_are_one_chunk(analyse: Analyser) -> None:
    analysis = analyse("a.js", "class A { f() {} g() {} } function h() { g(); }\nfunction i() {}\n")
    assert spans(analysis) == {"a.js": (1, 1), "a.js#A": (1, 1), "a.js#i": (2, 2)}
    assert analysis.facts is not None
    keys = {definition.symbol: definition.key for definition in analysis.facts.definitions}
    assert {keys[symbol] for symbol in ("A", "A.f", "A.g", "h")} == {"js::a.js#A"}


def test_comments_belong_to_what_stands_right_below_them(analyse: Analyser) -> None:
    text = "import a  # why\ndef f(): pass\n# stray\n\n# of g\n# too\n@deco\ndef g(): pass\n"
    assert spans(analyse("a.py", text)) == {"a.py": (1, 1), "a.py#f": (2, 2), "a.py#g": (5, 8)}


def test_long_function_is_cut_between_statements(analyse: Analyser) -> None:
    statement = "    if ready:\n        # Writes what is there.\n        write('" + "x" * 60 + "')\n"
    text = "def f():\n" + statement * 150 + "\ndef g():\n    pass\n"
    analysis = analyse("a.py", text)
    nodes = analysis.file.nodes
    parts = [node for node in nodes if node.symbol == "f"]
    assert [node.local_id for node in parts] == ["a.py#f"] + [f"a.py#f@{number}" for number in range(2, len(parts) + 1)]
    assert len(parts) > 2
    lines = text.split("\n")
    assert all(len(node.text) <= MAX_CHUNK_CHARACTERS for node in parts)
    assert all(node.text == "\n".join(lines[node.start_line - 1 : node.end_line]) for node in parts)
    assert all(node.text.startswith("    if ready:") for node in parts[1:])
    assert [node.start_line for node in parts[1:]] == [node.end_line + 1 for node in parts[:-1]]
    edges = {(edge.from_key, edge.to_key) for edge in analysis.file.edges}
    assert {("py::a.py#f", node.key) for node in parts[1:]} <= edges
    assert {node.signature for node in parts} == {"def f()"}


def test_a_statement_that_is_too_long_is_cut_inside(analyse: Analyser) -> None:
    text = "class A {\n  int[] table = {\n" + "    1111111111, 2222222222, 3333333333,\n" * 400 + "  };\n}\n"
    nodes = analyse("A.java", text).file.nodes
    assert all(len(node.text) <= MAX_CHUNK_CHARACTERS for node in nodes)
    assert "\n".join(node.text for node in nodes if node.symbol == "A") + "\n" == text


def test_calls_and_literals_belong_to_the_part_that_holds_them(analyse: Analyser) -> None:
    text = "def f():\n" + "    x = 1\n" * 900 + "    last('SELECT')\n"
    analysis = analyse("a.py", text)
    last = analysis.file.nodes[-1].key
    assert last.startswith("py::a.py#f@")
    assert analysis.facts is not None
    assert [call.from_key for call in analysis.facts.calls] == [last]
    assert [literal.from_key for literal in analysis.literals] == [last]


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        (
            "a.py",
            "class A:\r\n    def f(self):\r\n        pass\r\n",
            {"A": "class A:", "A.f": "    def f(self):\r\n        pass"},
        ),
        ("A.java", "class A {\r\n  void f() {\r\n  }\r\n}\r\n", {"A": "class A {", "A.f": "  void f() {\r\n  }"}),
    ],
)
def test_carriage_returns_stay_inside_a_chunk(
    analyse: Analyser, path: str, text: str, expected: dict[str, str]
) -> None:
    texts = {node.symbol: node.text for node in analyse(path, text).file.nodes if "#" in node.local_id}
    assert texts == expected
