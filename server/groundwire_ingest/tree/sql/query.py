"""The dependencies of one query or change, by its syntax tree."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from groundwire_ingest.tree.sql.lexer import Dialect, Kind, Token
from groundwire_ingest.tree.sql.object_names import Found, Relation, SqlName, read_name, unquoted
from groundwire_ingest.tree.sql.parse import NotParsedError, broken_trees, parse_statement
from groundwire_ingest.tree.sql.tokens import closing_parenthesis, depth_change, keyword_at, keyword_set
from groundwire_ingest.tree.sql.tree import tree_references

_VIEW_OPTIONS = keyword_set("NO DATA CHECK CASCADED LOCAL READ")
_INSERTS_INTO = keyword_set("INSERT MERGE REPLACE IGNORE LOW_PRIORITY DELAYED HIGH_PRIORITY OVERWRITE")
_AFTER_INTO_LIST = keyword_set("FROM WHERE GROUP ORDER LIMIT UNION HAVING USING SELECT VALUES EXCEPT INTERSECT")
_CHANGES = keyword_set("INSERT UPDATE DELETE MERGE")
_VERBS_FOR_PARSER = {"PERFORM": "SELECT", "REPLACE": "INSERT"}
_ASSIGNMENT_OPERATORS = frozenset("+-*/%&|^")


@dataclass(frozen=True, slots=True)
class QueryReading:
    """The dependencies of a query: certain ones, and those of a broken tree when `why_unparsed` has an error."""

    certain: list[Found]
    guessed: list[Found]
    why_unparsed: str | None


def read_query(text: str, code: Sequence[Token], dialect: Dialect) -> QueryReading:
    """Reads the query or change that `code`, tokens of `text`, consists of."""
    kept, written = plain_query(text, code, dialect)
    certain: list[Found] = [(Relation.WRITES, name) for name in written]
    sql = _for_parser(text, kept, dialect)
    try:
        return QueryReading([*certain, *tree_references(parse_statement(sql, dialect))], [], None)
    except NotParsedError as error:
        # A parameter may replace any piece of SQL here, or nothing.
        sql = _for_parser(text, [token for token in kept if token.keyword != "?"], dialect)
        guessed = [found for tree in broken_trees(sql, dialect) for found in tree_references(tree)]
        return QueryReading(certain, guessed, str(error))


def plain_query(text: str, code: Sequence[Token], dialect: Dialect) -> tuple[list[Token], list[SqlName]]:
    """The query without what sqlglot does not know, and the tables named in what was taken out.

    Out go SELECT/RETURNING/OUTPUT ... INTO (a table in T-SQL, variables elsewhere), options at the end of a
    view, TOP (n) of a change, and T-SQL's table hints and the operators of its compound assignments.
    """
    kept: list[Token] = []
    written: list[SqlName] = []
    depth = index = 0
    while index < len(code):
        token = code[index]
        depth += depth_change(token)
        previous = keyword_at(code, index - 1)
        if token.keyword == "INTO" and depth == 0 and previous not in _INSERTS_INTO:
            index = _after_into(text, code, index + 1, dialect, written)
        elif token.keyword == "WITH" and depth == 0 and keyword_at(code, index + 1) in _VIEW_OPTIONS:
            break
        elif (token.keyword == "TOP" and previous in _CHANGES) or (
            dialect is Dialect.TSQL and token.keyword == "WITH" and keyword_at(code, index + 1) == "("
        ):
            index = closing_parenthesis(code, index + 1) + 1
        elif dialect is Dialect.TSQL and _is_compound_assignment(code, index):
            index += 1
        else:
            kept.append(token)
            index += 1
    return kept, written


def _after_into(text: str, code: Sequence[Token], index: int, dialect: Dialect, written: list[SqlName]) -> int:
    """The index after the INTO list at `index`; in T-SQL it names a table, which is added to `written`."""
    if dialect is Dialect.TSQL:
        name, index = read_name(text, code, index)
        if name is not None:
            written.append(name)
        return closing_parenthesis(code, index) + 1 if keyword_at(code, index) == "(" else index
    while index < len(code) and code[index].keyword not in _AFTER_INTO_LIST:
        index += 1
    return index


def _is_compound_assignment(code: Sequence[Token], index: int) -> bool:
    """True if the operator at `index` is the first half of `+=`, `-=` ..."""
    return (
        code[index].keyword in _ASSIGNMENT_OPERATORS
        and keyword_at(code, index + 1) == "="
        and code[index + 1].start == code[index].end
    )


def _for_parser(text: str, code: Sequence[Token], dialect: Dialect) -> str:
    """The source of `code` as sqlglot knows it.

    PERFORM and REPLACE become the verbs that they mean, and `$1` a column's name: in `$1,$2` sqlglot sees the start of
    a dollar-quoted string. Where any quotes are allowed around a name, it gets those of the standard.
    """
    pieces: list[str] = []
    for index, token in enumerate(code):
        if index and token.start > code[index - 1].end:
            pieces.append(" ")
        written = text[token.start : token.end]
        if token.kind is Kind.VARIABLE and written[0] == "$":
            written = f"parameter{written[1:]}"
        elif token.kind is Kind.QUOTED and dialect is Dialect.GENERIC:
            written = exp.to_identifier(unquoted(written), quoted=True).sql()
        pieces.append(written if index else _VERBS_FOR_PARSER.get(token.keyword, written))
    return "".join(pieces)
