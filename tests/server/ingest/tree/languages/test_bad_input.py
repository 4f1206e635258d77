"""Files that no well-behaved programmer writes."""

from collections.abc import Callable

import pytest

from groundwire_ingest.records import SkippedFile
from groundwire_ingest.tree.code_facts import CodeAnalysis
from support.steps import within_steps

Analyser = Callable[[str, str], CodeAnalysis]

STEPS_A_CHARACTER = 60
"""More than twice what any of the texts below takes."""
PATHS = ("a.py", "A.cs", "a.ts", "a.tsx", "a.js", "A.java", "a.go", "a.kt", "a.php", "a.rb", "a.rs", "a.c", "a.cpp")


def test_a_syntax_error_is_named_and_the_rest_is_read(analyse: Analyser) -> None:
    text = "def f():\n    return 1\n\ndef g(:\n    return 2\n\ndef h():\n    return 3\n"
    analysis = analyse("a.py", text)
    assert analysis.file.skipped == (SkippedFile("a.py", "syntax error at line 4; the rest of the file is indexed"),)
    assert {"f", "h"} <= {node.symbol for node in analysis.file.nodes}


def test_methods_are_found_in_a_class_that_is_never_closed(analyse: Analyser) -> None:
    text = "namespace A {\nclass B {\n  void F() {\n    G();\n  }\n  void G() {\n    F();\n  }\n"
    analysis = analyse("A.cs", text)
    assert len(analysis.file.skipped) == 1
    assert {"F", "G"} <= {node.symbol.rpartition(".")[2] for node in analysis.file.nodes}


@pytest.mark.parametrize("path", PATHS)
def test_prose_is_refused_as_code(analyse: Analyser, path: str) -> None:
    text = "“Once upon a time”, said § the (king ¶ to the [queen… there } was } a { ¿ dragon ¡ !!! ??? \\\n" * 20
    analysis = analyse(path, f"<?php {text}" if path.endswith(".php") else text)
    assert analysis.file.nodes == ()
    assert analysis.facts is None
    assert len(analysis.file.skipped) == 1
    assert analysis.file.skipped[0].why.startswith("cannot be parsed as ")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.py", "x = " + "(" * 10_000 + "1" + ")" * 10_000 + "\n"),
        ("a.py", "x = " + "f(" * 10_000 + ")" * 10_000 + "\n"),
        ("a.py", "x = a" + ".b()" * 10_000 + "\n"),
        ("a.py", "x = " + "'a' + " * 10_000 + "'b'\n"),
        ("a.js", "x = " + "[\n" * 10_000 + "]\n" * 10_000),
        ("a.ts", "const x = a" + "\n  .then(() => 1)" * 10_000 + ";\n"),
        ("a.js", "if (a) {\n" * 10_000 + "}\n" * 10_000),
        ("A.java", "class A {\n" * 5_000 + "}\n" * 5_000),
        ("A.cs", "namespace A {\n" * 5_000 + "}\n" * 5_000),
        ("a.go", "package a\nvar x = " + "-" * 10_000 + "1\n"),
        ("a.kt", "class A {\n" * 5_000 + "}\n" * 5_000),
        ("a.kt", "val x = a" + "\n  .then { 1 }" * 10_000 + "\n"),
        ("a.php", "<?php if (a) {\n" + "if (a) {\n" * 10_000 + "}\n" * 10_001),
        ("a.php", "<?php $x = $a" + "->b()" * 10_000 + ";\n"),
        ("a.rb", "module A\n" * 5_000 + "end\n" * 5_000),
        ("a.rb", "x = a" + ".b" * 10_000 + "\n"),
        ("a.rs", "mod a {\n" * 5_000 + "}\n" * 5_000),
        ("a.rs", "impl A { fn f(&self) { } }\n" * 5_000),
        ("a.c", "int x = " + "-" * 10_000 + "1;\n"),
        ("a.c", "#if A\n" * 5_000 + "#endif\n" * 5_000),
        ("a.cpp", "namespace a {\n" * 5_000 + "}\n" * 5_000),
        ("a.cpp", "A" + "<A" * 10_000 + ">" * 10_000 + " x;\n"),
        ("a.cpp", "\n" * 200_000 + "FOO\n" * 10_000),
        ("a.py", "(" * 10_000),
        ("A.cs", "{" * 10_000),
    ],
    ids=lambda value: value[:12],
)
def test_deep_nesting_neither_crashes_nor_takes_more_than_the_length_of_a_text(
    analyse: Analyser, path: str, text: str
) -> None:
    analysis = within_steps(STEPS_A_CHARACTER * len(text), lambda: analyse(path, text))
    assert analysis.file.nodes or analysis.file.skipped


def test_many_functions_on_one_line_do_not_multiply_its_text(analyse: Analyser) -> None:
    analysis = analyse("a.js", "function f(){g()}" * 1000 + "\n")
    assert sum(len(node.text) for node in analysis.file.nodes) < 3 * 17_000


def test_a_name_too_long_for_an_id_makes_no_node(analyse: Analyser) -> None:
    nested = "".join(f"{'  ' * depth}class C{'x' * 50}{depth}:\n" for depth in range(30)) + "  " * 30 + "pass\n"
    analysis = analyse("a.py", nested)
    assert max(len(node.local_id) for node in analysis.file.nodes) < 600
    covered = {line for node in analysis.file.nodes for line in range(node.start_line, node.end_line + 1)}
    assert covered == set(range(1, 32))


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("text", ["\ufeffx", "\r", "x", ";", "\n\n\u2028", "/*", "'", '"""', "`", "#", "@", "\x0c"])
def test_fragments_are_read_or_named(analyse: Analyser, path: str, text: str) -> None:
    analysis = analyse(path, text + " a\n")
    assert analysis.file.nodes or analysis.file.skipped


def test_a_string_of_nothing_but_quotes_is_read_in_one_pass(analyse: Analyser) -> None:
    text = 'class A { string B = @"' + '""' * 200_000 + '"; string C = @"a ""b"""; string D = """a "b" c"""; }\n'
    assert [literal.text for literal in analyse("A.cs", text).literals] == ['"' * 200_000, 'a "b"', 'a "b" c']


def test_a_parser_that_tries_ever_more_ways_is_stopped_and_reads_the_next_file(analyse: Analyser) -> None:
    refused = [path for path in PATHS if "steps" in "".join(s.why for s in analyse(path, "<!--" * 4_000).file.skipped)]
    assert {"a.rb", "a.go", "A.cs", "a.py"} <= set(refused)
    assert [node.symbol for node in analyse("a.rb", "def run\n  start(1)\nend\n").file.nodes][-1] == "run"


def test_a_reader_keeps_nothing_of_the_file_before(analyse: Analyser) -> None:
    """The syntax nodes of a file get the addresses of those of an earlier one."""
    for number in range(40):
        facts = analyse("a.py", f"def f(order):\n    order.lines.add{number}(order.total)\n").facts
        assert facts is not None
        assert [(call.receiver, call.name) for call in facts.calls] == [("order.lines", f"add{number}")]
