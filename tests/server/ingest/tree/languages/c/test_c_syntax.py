"""What the reader of C and C++ says of one file."""

from collections.abc import Callable

import pytest

from groundwire_ingest.tree.code_facts import CodeAnalysis, CodeFacts

Analyser = Callable[[str, str], CodeAnalysis]


def facts_of(analysis: CodeAnalysis) -> CodeFacts:
    assert analysis.facts is not None
    return analysis.facts


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("struct a { int b; };\nint f(struct a *a);\n", "c"),
        ('#ifdef __cplusplus\nextern "C" {\n#endif\nint f(void);\n#if defined(__cplusplus)\n} /* C */\n#endif\n', "c"),
        ("int class_of(int namespace_of);\n", "c"),
        ("namespace a {\nint f();\n}\n", "cpp"),
        ("template <typename T> T f();\n", "cpp"),
        ("struct A {\n public:\n  int f();\n};\n", "cpp"),
    ],
)
def test_a_header_is_of_cpp_when_it_has_what_c_has_not(analyse: Analyser, text: str, language: str) -> None:
    analysis = analyse("a.h", text)
    assert analysis.file.skipped == ()
    assert facts_of(analysis).language == language
    assert {node.language for node in analysis.file.nodes} == {language}


def test_macros_where_the_grammar_has_no_place_for_them(analyse: Analyser) -> None:
    text = (
        "class EXPORT_API(1) A : public B {\n  Q_OBJECT\n public:\n  void f() { g(); h(); }\n};\n"
        "BEGIN_DECLS\nAPI_EXPORT const K* m(int a);\nvoid k() {\n  int x = A_FLAG |\n    B_FLAG\n  ;\n}\n"
    )
    analysis = analyse("a.cpp", text)
    assert analysis.file.skipped == ()
    assert [node.symbol for node in analysis.file.nodes] == ["", "A", "A.f", "k"]
    assert "EXPORT_API(1)" in analysis.file.nodes[1].text
    assert "B_FLAG" in analysis.file.nodes[3].text


def test_a_pointer_to_a_function_is_a_variable(analyse: Analyser) -> None:
    facts = facts_of(analyse("a.c", "int (*go)(int);\nint *make(int a);\nstruct s { int (*run)(void); int b; };\n"))
    assert [item.name for item in facts.definitions if item.construct == "callable"] == ["make"]
    assert {item.name for item in facts.bindings} == {"go", "a", "run", "b"}
