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
