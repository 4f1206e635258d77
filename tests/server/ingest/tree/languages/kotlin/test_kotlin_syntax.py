"""What the reader of Kotlin says of one file."""

from collections.abc import Callable

from groundwire_ingest.tree.code_facts import CodeAnalysis, CodeFacts

Analyser = Callable[[str, str], CodeAnalysis]


def facts_of(analysis: CodeAnalysis) -> CodeFacts:
    assert analysis.facts is not None
    return analysis.facts


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
