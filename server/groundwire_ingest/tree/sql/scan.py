"""Names that stand where only one thing can be meant: behind the verb of a statement, and before a parenthesis."""

from collections.abc import Iterator, Sequence

from sqlglot import exp

from groundwire_ingest.tree.sql.lexer import Kind, Token
from groundwire_ingest.tree.sql.object_names import SqlName, read_name
from groundwire_ingest.tree.sql.tokens import depth_change, keyword_set
from groundwire_ingest.tree.sql.tree import Relation

_SKIPPED = keyword_set("ONLY LATERAL TABLE INTO FROM IGNORE LOW_PRIORITY DELAYED HIGH_PRIORITY OVERWRITE INSERT")

Found = tuple[Relation, SqlName]


def call_references(text: str, code: Sequence[Token]) -> Iterator[Found]:
    """Every name before an opening parenthesis, save keywords and the functions that come with SQL."""
    index = 0
    while index < len(code):
        if code[index].kind not in {Kind.WORD, Kind.QUOTED}:
            index += 1
            continue
        first = code[index]
        name, end = read_name(text, code, index)
        is_call = end < len(code) and code[end].keyword == "(" and name is not None
        if is_call and name is not None and (name.schema or first.keyword not in exp.FUNCTION_BY_NAME):
            yield Relation.CALLS, name
        index = max(end, index + 1)


def target_name(text: str, code: Sequence[Token], index: int) -> SqlName | None:
    """The object named after the verb at `code[index]`, options such as TOP (5), INTO, TABLE and ONLY skipped."""
    index += 1
    while index < len(code):
        if code[index].keyword == "TOP":
            index = _after_parentheses(code, index + 1)
        elif code[index].keyword in _SKIPPED:
            index += 1
        else:
            return read_name(text, code, index)[0]
    return None


def _after_parentheses(code: Sequence[Token], index: int) -> int:
    """The index after the parenthesised group at `index`, or after the one token that stands there instead."""
    depth = 0
    while index < len(code):
        depth += depth_change(code[index])
        index += 1
        if depth <= 0:
            break
    return index
