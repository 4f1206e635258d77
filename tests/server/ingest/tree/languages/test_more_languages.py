"""What the readers of Kotlin, PHP, Ruby, Rust, C and C++ say of one file."""

from collections.abc import Callable

import pytest

from groundwire_ingest.tree.facts import CodeAnalysis, CodeFacts, Import
from groundwire_ingest.tree.languages.rust.crates import Crate, crate

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


def test_imports_of_rust(analyse: Analyser) -> None:
    text = (
        "use std::fmt;\nuse crate::a::{self, b as c, D, e::*};\nuse super::f::g;\nmod h;\n"
        "mod tests {\n    use super::*;\n    use super::super::i;\n}\n"
    )
    assert sorted(facts_of(analyse("a.rs", text)).imports, key=lambda item: (item.line, item.name)) == [
        Import("std", "fmt", "fmt", 1),
        Import("crate.a.e", "*", "", 2),
        Import("crate.a", "D", "D", 2),
        Import("crate", "a", "a", 2),
        Import("crate.a", "b", "c", 2),
        Import("super.f", "g", "g", 3),
        Import("self", "h", "h", 4),
        Import("self", "*", "", 6),
        Import("super", "i", "i", 7),
    ]


def test_the_name_of_a_crate() -> None:
    assert crate("Cargo.toml", '[package]\nversion = "1"\nname = "shop-core"\n') == Crate("shop_core")
    assert crate("Cargo.toml", '[workspace]\nmembers = ["a"]\n[package.metadata]\nname = "x"\n') is None
    assert crate("Cargo.toml", "[package]\n" * 100_000) is None


def test_strings_of_php_and_ruby(analyse: Analyser) -> None:
    php = analyse("a.php", "<?php $a = 'x\\ny'; $b = \"z\\t\";\n")
    assert [literal.text for literal in php.literals] == ["x\\ny", "z\t"]
    ruby = analyse("a.rb", "a = 'x\\ny'\nb = \"z\\t\"\n")
    assert [literal.text for literal in ruby.literals] == ["x\\ny", "z\t"]


def test_associations_of_rails(analyse: Analyser) -> None:
    text = (
        "class Order < Base\n  belongs_to :user\n  has_many :line_items\n  has_many :entries\n"
        '  has_one :payer, class_name: "Shop::User"\nend\n'
    )
    bindings = {item.name: item.type_name for item in facts_of(analyse("order.rb", text)).bindings}
    assert bindings == {
        "user": "User",
        "line_items": "Array<LineItem>",
        "entries": "Array<Entry>",
        "payer": "Shop.User",
    }


def test_html_around_php_is_text_of_the_file(analyse: Analyser) -> None:
    analysis = analyse(
        "a.php", "<h1>Orders</h1>\n<?php foreach ($a as $b): ?>\n<p><?= show($b) ?></p>\n<?php endforeach; ?>\n"
    )
    assert [node.symbol for node in analysis.file.nodes] == [""]
    assert [call.name for call in facts_of(analysis).calls] == ["show"]


def test_extensions_and_companions_of_kotlin(analyse: Analyser) -> None:
    text = "class A {\n    companion object {\n        fun f(): A = A()\n    }\n}\n\nfun A?.g(b: Int = 1): B = h(b)\n"
    definitions = {item.symbol: item for item in facts_of(analyse("a.kt", text)).definitions}
    assert definitions["A.f"].traits == {"static"}
    assert definitions["g"].traits == {"extension"}
    assert [(item.name, item.type_name, item.is_optional) for item in definitions["g"].parameters or ()] == [
        ("this", "A", False),
        ("b", "Int", True),
    ]
    assert definitions["g"].result == "B"
