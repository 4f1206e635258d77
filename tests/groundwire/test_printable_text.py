"""What people are shown: nothing that moves their cursor, turns the writing around, or breaks a line."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from groundwire.printable_text import one_line, printable

BIDIRECTIONAL = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


@given(st.text(st.characters(exclude_categories=())))
def test_nothing_steers_the_reader(text: str) -> None:
    shown = printable(text)
    assert not [sign for sign in shown if unicodedata.category(sign) in ("Cc", "Cs") and sign not in "\t\n"]
    assert not [sign for sign in shown if unicodedata.bidirectional(sign) in BIDIRECTIONAL]
    assert printable(shown) == shown
    shown.encode()


@given(st.text(st.characters(exclude_categories=())))
def test_a_line_is_one(text: str) -> None:
    assert len(one_line(text).splitlines()) <= 1


def test_every_such_character_is_a_visible_sign() -> None:
    for code in range(0x110000):
        sign = chr(code)
        if unicodedata.bidirectional(sign) in BIDIRECTIONAL or unicodedata.category(sign) in ("Cc", "Cs"):
            assert sign in "\t\n" or printable(sign) != sign
    assert printable("a\N{RIGHT-TO-LEFT MARK}b\x1b[31m") == "a\ufffdb␛[31m"
