"""SQL that nothing closes is read in time linear in its length: quadratic time would be minutes to hours here."""

import pytest

from groundwire_server.ingest.tree.sql.lexer import Dialect, Kind, tokenize

LENGTH = 200_000


@pytest.mark.parametrize(
    ("dialect", "unit"),
    [
        (Dialect.TSQL, "["),
        (Dialect.GENERIC, "[a"),
        (Dialect.MYSQL, "\\'"),
        (Dialect.MYSQL, '\\"'),
        (Dialect.POSTGRES, "COPY a FROM STDIN;\n"),
    ],
)
def test_quotes_that_nothing_closes(dialect: Dialect, unit: str) -> None:
    text = unit * (LENGTH // len(unit))
    tokens = tokenize(text, dialect)
    assert {text[token.start : token.end] for token in tokens} <= {*unit, unit, *"COPY a FROM STDIN ;".split()}
    assert tokens[-1].end >= len(text) - 1


def test_dollar_quotes_of_as_many_names_as_there_are() -> None:
    tokens = tokenize("".join(f"$a{number}$ " for number in range(LENGTH // 9)), Dialect.POSTGRES)
    assert all(token.kind is not Kind.BODY for token in tokens)


def test_some_quotes_that_nothing_closes_hide_no_others() -> None:
    text = "SELECT [a\n" * 20 + "SELECT [b c], 'd e', $x$ f $x$, \"g h\"\n"
    found = [text[token.start : token.end] for token in tokenize(text, Dialect.TSQL)]
    assert {"[b c]", "'d e'", '"g h"'} <= set(found)
