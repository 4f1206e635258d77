"""What the names of symbols say."""

import pytest

from groundwire_ingest.tree.scip.symbols import (
    constructors,
    is_callable,
    is_module,
    is_of_unnamed_package,
    is_type,
    plain_name,
    type_of_field,
)

P = "scip-test npm shop 1 "


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        (P + "src/`a.ts`/Animal#", "Animal"),
        (P + "src/`a.ts`/Animal#sound().", "sound"),
        (P + "src/`a.ts`/Animal#sound(+1).", "sound"),
        (P + "src/`a.ts`/LIMIT.", "LIMIT"),
        (P + "a/println!", "println"),
        (P + "a/`größe`.", "größe"),
        (P + "src/`a.ts`/Base#`<constructor>`().", ""),
        (P + "src/`a.ts`/map0:", ""),
        (P + "src/`a.ts`/f().(name)", ""),
        (P + "src/`a.ts`/f().[T]", ""),
        (P + "src/`a.ts`/", ""),
        (P + "a/+().", ""),
        ("", ""),
        (".", ""),
        (").", ""),
        ("`#", ""),
    ],
)
def test_the_name_under_which_a_symbol_is_written(symbol: str, name: str) -> None:
    assert plain_name(symbol) == name


def test_modules_types_and_callables() -> None:
    assert is_module(P + "src/`a.ts`/")
    assert is_module("scip-python python shop 1 `shop.base`/__init__:")
    assert not is_module(P + "src/`a.ts`/map0:")
    assert is_type(P + "a/B#")
    assert not is_type(P + "a/B#c().")
    assert [is_callable(P + end) for end in ("a/B#", "a/f().", "a/m!", "a/x.", "a/f().(x)")] == [True] * 3 + [False] * 2


def test_a_field_has_a_type() -> None:
    assert type_of_field(P + "a/B#c.") == P + "a/B#"
    assert [type_of_field(P + end) for end in ("a/c.", "a/B#c().", "a/B#", "a/B#`<x>`.")] == [""] * 4


def test_packages_without_name_and_version() -> None:
    assert is_of_unnamed_package("scip-typescript npm . . src/`a.ts`/")
    assert not is_of_unnamed_package("scip-typescript npm . 1.2 src/`a.ts`/")
    assert not is_of_unnamed_package("x y")


def test_the_constructors_of_a_type() -> None:
    assert P + "a/B#__init__()." in constructors(P + "a/B#")
