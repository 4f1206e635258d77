"""SQL that nothing closes is read in time linear in its length; in quadratic time each of these takes ten minutes."""

import pytest

from groundwire_ingest.tree.sql.lexer import Dialect, Kind, tokenize

LENGTH = 600_000
LENGTH_OF_SEARCHES = 3_000_000
"""For what is found by plain searches, which are fast, so that they need more to be slow."""


@pytest.mark.parametrize(
    ("dialect", "unit"),
    [
        (Dialect.TSQL, "["),
        (Dialect.GENERIC, "[a"),
        (Dialect.MYSQL, "\\'"),
        (Dialect.MYSQL, '\\"'),
    ],
)
def test_quotes_that_nothing_closes(dialect: Dialect, unit: str) -> None:
    text = unit * (LENGTH // len(unit))
    tokens = tokenize(text, dialect)
    assert {text[token.start : token.end] for token in tokens} <= {*unit, unit}
    assert tokens[-1].end >= len(text) - 1


def test_copies_whose_data_nothing_ends() -> None:
    text = "COPY a FROM STDIN;\n"
    tokens = tokenize(text * (LENGTH_OF_SEARCHES // len(text)), Dialect.POSTGRES)
    assert sum(token.kind is Kind.TERMINATOR for token in tokens) == LENGTH_OF_SEARCHES // len(text)


def test_dollar_quotes_of_as_many_names_as_there_are() -> None:
    tokens = tokenize("".join(f"$a{number}$ " for number in range(LENGTH_OF_SEARCHES // 9)), Dialect.POSTGRES)
    assert all(token.kind is not Kind.BODY for token in tokens)


def test_some_quotes_that_nothing_closes_hide_no_others() -> None:
    text = "SELECT [a\n" * 20 + "SELECT [b c], 'd e', $x$ f $x$, \"g h\"\n"
    found = [text[token.start : token.end] for token in tokenize(text, Dialect.TSQL)]
    assert {"[b c]", "'d e'", '"g h"'} <= set(found)
