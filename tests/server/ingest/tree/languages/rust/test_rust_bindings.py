"""Imports of Rust, and the names of its crates."""

from collections.abc import Callable

from groundwire_ingest.tree.code_facts import CodeAnalysis, CodeFacts, Import
from groundwire_ingest.tree.languages.rust.crates import Crate, crate

Analyser = Callable[[str, str], CodeAnalysis]


def facts_of(analysis: CodeAnalysis) -> CodeFacts:
    assert analysis.facts is not None
    return analysis.facts


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
