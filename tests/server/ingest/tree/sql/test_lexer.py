"""SQL that nothing closes is read in time linear in its length."""

import pytest

from groundwire_ingest.tree.sql.lexer import Dialect, Kind, tokenize
from support.growth import check_linear


@pytest.mark.parametrize(
    ("dialect", "unit"), [(Dialect.TSQL, "["), (Dialect.GENERIC, "[a"), (Dialect.MYSQL, "\\'"), (Dialect.MYSQL, '\\"')]
)
def test_quotes_that_nothing_closes(dialect: Dialect, unit: str) -> None:
    def read(units: int) -> None:
        text = unit * units
        tokens = tokenize(text, dialect)
        assert {text[token.start : token.end] for token in tokens} <= {*unit, unit}
        assert tokens[-1].end >= len(text) - 1

    check_linear(read, 2_000)


def test_copies_whose_data_nothing_ends() -> None:
    def read(copies: int) -> None:
        tokens = tokenize("COPY a FROM STDIN;\n" * copies, Dialect.POSTGRES)
        assert sum(token.kind is Kind.TERMINATOR for token in tokens) == copies

    check_linear(read, 2_000)


def test_dollar_quotes_of_as_many_names_as_there_are() -> None:
    def read(names: int) -> None:
        tokens = tokenize("".join(f"$a{number}$ " for number in range(names)), Dialect.POSTGRES)
        assert all(token.kind is not Kind.BODY for token in tokens)

    check_linear(read, 3_000)


def test_some_quotes_that_nothing_closes_hide_no_others() -> None:
    text = "SELECT [a\n" * 20 + "SELECT [b c], 'd e', $x$ f $x$, \"g h\"\n"
    tokens = [text[token.start : token.end] for token in tokenize(text, Dialect.TSQL)]
    assert {"[b c]", "'d e'", '"g h"'} <= set(tokens)
