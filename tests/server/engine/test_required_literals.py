"""Each match of an expression holds one of its required literals."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.engine.linear_pattern import LinearPattern, PatternError
from groundwire_server.engine.required_literals import required_literals


@pytest.mark.parametrize(
    ("expression", "literals"),
    [
        ("shop", ["shop"]),
        ("shop|cart", ["shop", "cart"]),
        ("shop|shop", ["shop"]),
        ("shop|", []),
        (r"shop\.cart\(\)", ["shop.cart()"]),
        (r"\bshop\b.*cartridge$", ["cartridge"]),
        ("shops?", ["shop"]),
        ("shops*cart", ["shop"]),
        ("shops+cart", ["shops"]),
        ("shops{2}", ["shop"]),
        ("shops{0,2}?_carts", ["_carts"]),
        ("shop{cart", ["shop{cart"]),
        ("shop(cart)?", ["shop"]),
        ("(shop|cart)_basket", ["_basket"]),
        ("(?:shop(cart|))_basket", ["_basket"]),
        ("(?P<name>shop)_basket", ["_basket"]),
        (r"[]shop][^]cart]x[[shop][\]]yz", ["yz"]),
        ("[[:alpha:]]shop", []),
        (r"[(]shop", ["shop"]),
        (r"\(shop|\)cart", ["(shop", ")cart"]),
        (r"shop\\Qcart", [r"shop\Qcart"]),
        (r"\wshop\d", ["shop"]),
        (r"\Qshop|cart\E", []),
        ("(?i)shop", []),
        ("cart(?i:shop)", []),
        (r"\x73hop", []),
        (r"\pLshop", []),
        (r"\101shop", []),
        ("läng|größe", ["läng", "größe"]),
        (".*", []),
        ("", []),
    ],
)  # fmt: skip
def test_literals_outside_of_groups_are_required(expression: str, literals: list[str]) -> None:
    assert list(required_literals(expression)) == literals


_ATOMS = st.one_of(
    st.text("abX_ é", min_size=1, max_size=4).map(re.escape),
    st.sampled_from([".", r"\w", r"\d", "[ab]", "[^b]", "[]x]", "[[a]", r"\.", r"\(", "^", "$", r"\b"]),
)
EXPRESSIONS = st.recursive(
    _ATOMS,
    lambda parts: st.one_of(
        st.lists(parts, min_size=1, max_size=4).map("".join),
        st.tuples(parts, parts).map("|".join),
        st.tuples(parts, st.sampled_from(["?", "*", "+", "{2}", "{0,1}", "{1,}", "*?", "+?"])).map(
            lambda repeated: f"({repeated[0]}){repeated[1]}"
        ),
        st.tuples(parts, st.sampled_from(["?", "*", "+", "{2}"])).map("".join),
    ),
    max_leaves=8,
)


@given(expression=EXPRESSIONS, text=st.text("abX_ é.(1", max_size=12).map(str.encode))
def test_no_text_without_a_required_literal_matches(expression: str, text: bytes) -> None:
    try:
        pattern = LinearPattern(expression, is_literal=False, ignore_case=False, whole_words=False, multiline=False)
    except PatternError:
        return
    match = pattern.search(memoryview(text), 0, len(text))
    literals = required_literals(expression)
    assert match is None or not literals or any(literal.encode() in text[slice(*match)] for literal in literals)
