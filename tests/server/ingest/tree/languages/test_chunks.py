"""How the lines of a file become chunks, in whichever language."""

from collections.abc import Callable

import pytest

from groundwire_ingest.tree.chunking import MAX_CHUNK_CHARACTERS
from groundwire_ingest.tree.code_facts import CodeAnalysis

Analyser = Callable[[str, str], CodeAnalysis]


def spans(analysis: CodeAnalysis) -> dict[str, tuple[int, int]]:
    return {node.local_id: (node.start_line, node.end_line) for node in analysis.file.nodes}


def texts(analysis: CodeAnalysis) -> dict[str, str]:
    return {node.local_id: node.text for node in analysis.file.nodes}


def test_statements_of_a_file_are_one_outline_with_the_signatures_of_its_functions(analyse: Analyser) -> None:
    text = (
        "import a\n"
        "def f():\n    return 1\n"
        "x = 1\n"
        "@deco\ndef g(\n    y=None,\n):\n    return 2\n"
        "\n"
        "registry.update(another)\n"
    )
    analysis = analyse("a.py", text)
    assert spans(analysis) == {"a.py": (1, 11), "a.py#f": (2, 3), "a.py#g": (5, 9)}
    assert texts(analysis)["a.py"] == ("import a\ndef f() ...\nx = 1\ndef g( y=None, ) ...\nregistry.update(another)")
    assert analysis.facts is not None
    assert [(call.from_key, call.name) for call in analysis.facts.calls] == [("py::a.py", "update")]


def test_fields_empty_constructors_and_accessors_belong_to_the_outline_of_their_type(analyse: Analyser) -> None:
    text = (
        "package p;\nimport q.R;\n"
        "/** Keeps. */\nclass A implements B {\n"
        "  private final R r;\n"
        "  A() {\n  }\n"
        "  A(R r) {\n    this.r = r;\n  }\n"
        "  R getR() {\n    return r;\n  }\n"
        "  @Override\n  public void run() {\n    r.go();\n  }\n"
        "}\n"
    )
    analysis = analyse("A.java", text)
    assert texts(analysis) == {
        "A.java#p.A": (
            "/** Keeps. */\nclass A implements B {\n  private final R r;\n"
            "  A() {\n  }\n  A(R r) {\n    this.r = r;\n  }\n"
            "  R getR() {\n    return r;\n  }\n  public void run() { ... }\n}\n\npackage p;\nimport q.R;"
        ),
        "A.java#p.A.run": "  @Override\n  public void run() {\n    r.go();\n  }",
    }
    prefixes = {node.local_id: node.context_prefix for node in analysis.file.nodes}
    assert prefixes == {"A.java#p.A": "", "A.java#p.A.run": "class A implements B"}


def test_members_of_an_interface_are_nodes(analyse: Analyser) -> None:
    analysis = analyse("I.cs", "interface I {\n  /// Runs.\n  int Run(int x);\n  int Count { get; }\n}\n")
    assert spans(analysis) == {"I.cs#I": (1, 5), "I.cs#I.Run": (2, 3)}
    assert texts(analysis)["I.cs#I"] == "interface I {\n  int Run(int x);\n  int Count { get; }\n}"


def test_a_file_with_statements_of_its_own_has_a_node_beside_its_types(analyse: Analyser) -> None:
    analysis = analyse("Program.cs", "using A;\nvar app = Make();\napp.Run();\n\nclass Extra { }\n")
    assert texts(analysis)["Program.cs"] == "using A;\nvar app = Make();\napp.Run();\nclass Extra { ... }"
    assert ("cs::Program.cs", "cs::Program.cs#Extra") in {(edge.from_key, edge.to_key) for edge in analysis.file.edges}


def test_types_of_a_file_without_a_node_contain_nothing_of_each_other(analyse: Analyser) -> None:
    analysis = analyse("a.cs", "using A;\nnamespace N\n{\n  class B { }\n  class C { }\n}\n")
    assert set(spans(analysis)) == {"a.cs#N.B", "a.cs#N.C"}
    assert analysis.file.edges == ()
    assert texts(analysis)["a.cs#N.B"] == "  class B { }\n\nusing A;\nnamespace N\n{"


def test_a_long_outline_is_cut_into_parts(analyse: Analyser) -> None:
    fields = "".join(f"  int field{number} = {number};\n" for number in range(600))
    analysis = analyse("A.java", f"class A {{\n{fields}  void f() {{\n    g();\n  }}\n}}\n")
    parts = [node for node in analysis.file.nodes if node.symbol == "A"]
    assert len(parts) > 1
    assert all(len(node.text) <= MAX_CHUNK_CHARACTERS for node in parts)
    assert [node.start_line for node in parts[1:]] == [node.end_line + 1 for node in parts[:-1]]
    assert {(edge.from_key, edge.to_key) for edge in analysis.file.edges} >= {
        ("java::A.java#A", node.key) for node in parts[1:]
    }


def test_definitions_that_share_a_line_are_one_chunk(analyse: Analyser) -> None:
    analysis = analyse("a.js", "class A { f() {} g() {} } function h() { g(); }\nfunction i() {}\n")
    assert spans(analysis) == {"a.js": (1, 2), "a.js#A": (1, 1), "a.js#i": (2, 2)}
    assert analysis.facts is not None
    keys = {definition.symbol: definition.key for definition in analysis.facts.definitions}
    assert {keys[symbol] for symbol in ("A", "A.f", "A.g")} == {"js::a.js#A"}


def test_comments_belong_to_what_stands_right_below_them(analyse: Analyser) -> None:
    text = "import a  # why\ndef f(): pass\n# stray\n\n# of g\n# too\n@deco\ndef g(): pass\n"
    assert spans(analyse("a.py", text)) == {"a.py": (1, 8), "a.py#f": (2, 2), "a.py#g": (5, 8)}


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
            "class A:\r\n    def f(self):\r\n        g()\r\n",
            {"A": "class A:\n    def f(self) ...", "A.f": "    def f(self):\r\n        g()"},
        ),
        (
            "A.java",
            "class A {\r\n  void f() {\r\n  }\r\n}\r\n",
            {"A": "class A {\n  void f() { ... }\n}", "A.f": "  void f() {\r\n  }"},
        ),
    ],
)
def test_carriage_returns_stay_inside_a_chunk(
    analyse: Analyser, path: str, text: str, expected: dict[str, str]
) -> None:
    texts = {node.symbol: node.text for node in analyse(path, text).file.nodes if "#" in node.local_id}
    assert texts == expected


NOTICE = ("Copyright (c) 2021 Shop Ltd.", "Licensed under the Apache License, Version 2.0.")
SLASHES = "".join(f"// {line}\n" for line in NOTICE)
HASHES = "".join(f"# {line}\n" for line in NOTICE)
STARS = "/*\n" + "".join(f" * {line}\n" for line in NOTICE) + " */\n"


@pytest.mark.parametrize("blank", ["", "\n"])
@pytest.mark.parametrize(
    ("path", "notice", "code", "symbol", "kept"),
    [
        ("A.java", STARS, "package p;\n\n/** Keeps. */\nclass A {\n  int b;\n}\n", "p.A", "package p;"),
        ("A.java", STARS.replace("/*", "/**"), "package p;\nclass A {\n  int b;\n}\n", "p.A", "package p;"),
        ("A.java", STARS, "/** Keeps. */\nclass A {\n  int b;\n}\n", "A", ""),
        ("A.java", STARS, "// See the design of A.\nclass A {\n  int b;\n}\n", "A", ""),
        ("A.cs", SLASHES, "using B;\n/// Keeps.\nclass A { }\n", "A", "using B;"),
        ("A.cs", SLASHES, "/// Keeps.\nclass A { }\n", "A", ""),
        ("A.cs", SLASHES, "namespace N\n{\n  class A { }\n}\n", "N.A", "namespace N\n{"),
        ("A.cs", SLASHES.replace("// C", '// <copyright file="A.cs">\n// C'), "class A { }\n", "A", ""),
        ("a.ts", STARS, "class A {\n  b = 1;\n}\n", "A", ""),
        ("a.ts", "// SPDX-License-Identifier: MIT\n", "export class A {\n  b = 1;\n}\n", "A", ""),
        ("A.kt", STARS, "class A {\n  val b = 1\n}\n", "A", ""),
        ("a.py", HASHES, "class A:\n    b = 1\n", "A", ""),
        ("a.py", HASHES, "import b\n\n\nclass A:\n    b = 1\n", "A", "import b"),
        ("a.rb", HASHES, "class A\n  B = 1\nend\n", "A", ""),
        ("a.rs", SLASHES, "pub struct A {\n  b: i32,\n}\n", "A", ""),
        ("a.php", f"<?php\n{STARS}", "class A\n{\n  public $b;\n}\n", "A", "<?php"),
    ],
)
def test_a_licence_belongs_to_no_type(
    analyse: Analyser, path: str, notice: str, code: str, symbol: str, kept: str, blank: str
) -> None:
    analysis = analyse(path, notice + blank + code)
    (node,) = (node for node in analysis.file.nodes if node.symbol == symbol)
    assert not any(line in other.text for line in NOTICE for other in analysis.file.nodes if other.symbol)
    assert "SPDX" not in node.text
    assert node.text.rpartition("\n\n")[2] == kept if kept else node.text == code.removesuffix("\n")
    lines = (notice + blank + code).split("\n")
    assert node.text.split("\n")[0] == lines[node.start_line - 1]
    assert node.end_line is not None
    assert len(node.text.removesuffix(kept).strip("\n").split("\n")) == node.end_line - node.start_line + 1


@pytest.mark.parametrize(
    "text",
    [
        "/**\n * Keeps.\n * @copyright 2021 Shop Ltd.\n * @license MIT\n */\nclass A {\n  b = 1;\n}",
        "/** Copyright (c) 2021, as the law defines it. */\nclass A {\n  b = 1;\n}",
        "// The holders of a copyright, and how to reach them.\nclass A {\n  b = 1;\n}",
        "// Checks licences of drivers.\nclass A {\n  b = 1;\n}",
        "class A {\n  // Copyright (c) 2021 Shop Ltd.\n  b = 1;\n}",
    ],
)
def test_what_documents_a_type_stays_in_it(analyse: Analyser, text: str) -> None:
    assert texts(analyse("a.ts", text + "\n")) == {"a.ts#A": text}


def test_a_licence_stays_in_the_text_of_its_file(analyse: Analyser) -> None:
    function = "def f():\n    return 1"
    analysis = analyse("a.py", f"{HASHES}{function}\n\n\nregister(f)\n")
    assert texts(analysis) == {"a.py": f"{HASHES}def f() ...\nregister(f)", "a.py#f": function}
    assert spans(analysis) == {"a.py": (1, 7), "a.py#f": (3, 4)}


def test_a_comment_on_the_line_of_code_is_no_licence(analyse: Analyser) -> None:
    text = "/* Copyright (c) 2021 Shop Ltd. */ class A {\n  b = 1;\n}"
    assert texts(analyse("a.ts", text)) == {"a.ts#A": text}


def test_of_other_comments_above_a_licence_nothing_is_lost(analyse: Analyser) -> None:
    text = f"// Generates invoices.\n\n{SLASHES}package p;\n\nclass A {{\n  int b;\n}}\n"
    assert texts(analyse("A.java", text)) == {
        "A.java#p.A": "class A {\n  int b;\n}\n\n// Generates invoices.\npackage p;"
    }
