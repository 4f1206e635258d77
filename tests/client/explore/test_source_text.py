"""Texts that are made to be slow to highlight."""

import html
import re

import pytest

from groundwire_client import SourceLocation
from groundwire_explore.source_text import source_text


@pytest.mark.parametrize(
    "text", ["int a\n" * 990 + "b", "\n" * 5_900 + "b", "a<" * 2_900], ids=["words", "lines", "angles"]
)
def test_a_text_that_is_slow_to_highlight_is_shown_whole(text: str) -> None:
    """Of each, Pygments' lexer for Java alone needs the square of its length, which are many seconds."""
    shown = source_text(text, SourceLocation(path="a.java"))
    assert [html.unescape(re.sub("<[^>]*>", "", line)) for line in shown.lines] == text.split("\n")


@pytest.mark.parametrize("name", ["x.c-objdump", "x.ini", "x.scala"])
def test_the_name_of_a_file_chooses_no_lexer_that_takes_long_for_one_token(name: str) -> None:
    shown = source_text("int x = 1\n; y", SourceLocation(path=name))
    assert shown.lines == ("int x = 1", "; y")
    assert "<span" in source_text("int x = 1;", SourceLocation(path="x.c")).lines[0]


def test_a_long_line_of_an_excerpt_is_cut_with_the_match_in_view() -> None:
    """An excerpt does not scroll; the whole text keeps its lines."""
    text = source_text("{\n" + "a<b;" * 2_000 + "invoice()" + "c;" * 2_000 + "\n}", SourceLocation(path="x.js"))
    shown = html.unescape(text.line_in_view(1, "where are invoices?"))
    assert "invoice()" in shown
    assert len(shown) == 140
    assert (shown[0], shown[-1]) == ("…", "…")
    assert text.line_in_view(0, "invoices") == text.lines[0]
    assert len(text.text.split("\n")[1]) == 12_009
