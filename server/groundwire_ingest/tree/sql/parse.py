"""The one door to sqlglot: a statement's text in, its syntax tree or one typed refusal out."""

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager

import sqlglot
from sqlglot import exp
from sqlglot.errors import ErrorLevel, SqlglotError

from groundwire_ingest.tree.sql.lexer import Dialect

MAX_PARSED_CHARACTERS = 50_000
MAX_NESTED_PARENTHESES = 60

_SQLGLOT_NAMES = {Dialect.TSQL: "tsql", Dialect.POSTGRES: "postgres", Dialect.MYSQL: "mysql", Dialect.GENERIC: ""}
_LOGGER = logging.getLogger("sqlglot")


class NotParsedError(Exception):
    """sqlglot has no tree for the statement; the message is the reason in a few words."""


def parse_statement(sql: str, dialect: Dialect) -> exp.Expr:
    """The syntax tree of one query or change.

    Raises NotParsedError for text that is no statement of the dialect, or is longer than MAX_PARSED_CHARACTERS. It also
    raises it for nesting deeper than MAX_NESTED_PARENTHESES: a hostile file must meet this limit and never the
    interpreter's, which depends on the caller's stack.
    """
    trees = _trees(sql, dialect, ErrorLevel.IMMEDIATE)
    if len(trees) != 1 or isinstance(trees[0], exp.Command):
        raise NotParsedError("syntax that the SQL parser does not know")
    return trees[0]


def broken_trees(sql: str, dialect: Dialect) -> list[exp.Expr]:
    """The tree that sqlglot makes of invalid text when it passes over errors; none where it cannot."""
    try:
        return _trees(sql, dialect, ErrorLevel.IGNORE)
    except NotParsedError:
        return []


def _trees(sql: str, dialect: Dialect, level: ErrorLevel) -> list[exp.Expr]:
    if len(sql) > MAX_PARSED_CHARACTERS:
        raise NotParsedError(f"longer than {MAX_PARSED_CHARACTERS} characters")
    if _nesting(sql) > MAX_NESTED_PARENTHESES:
        raise NotParsedError(f"nested deeper than {MAX_NESTED_PARENTHESES} parentheses")
    try:
        with _silent_logger():
            trees = sqlglot.parse(sql, read=_SQLGLOT_NAMES[dialect], error_level=level)
    except SqlglotError as error:
        # Without the excerpt and the position, which count from the statement's start.
        reason = re.split(r"\. Line |\n| but got <Token| for <class", str(error), maxsplit=1)[0]
        raise NotParsedError(reason[:120]) from error
    except RecursionError as error:
        raise NotParsedError("nested too deeply") from error
    except Exception as error:
        # Malformed text trips sqlglot in more ways than its own errors; none may end the reading of a tree.
        raise NotParsedError(f"the SQL parser failed with {type(error).__name__}") from error
    return [tree for tree in trees if isinstance(tree, exp.Expr)]


def _nesting(sql: str) -> int:
    depth = deepest = 0
    for character in sql:
        if character == "(":
            depth += 1
            deepest = max(deepest, depth)
        elif character == ")":
            depth -= 1
    return deepest


@contextmanager
def _silent_logger() -> Iterator[None]:
    """Keeps sqlglot from logging what it cannot parse: the caller reports it, with file and line."""

    def refuse(_: logging.LogRecord) -> bool:
        return False

    _LOGGER.addFilter(refuse)
    try:
        yield
    finally:
        _LOGGER.removeFilter(refuse)
