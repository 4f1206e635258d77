"""Names of SQL objects as they are written: `Invoice`, `dbo.Invoice`, `[Shop].[dbo].[Invoice]`, `"Invoice"`."""

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from groundwire_ingest.tree.sql.lexer import Dialect, Kind, Token, tokenize
from groundwire_ingest.tree.sql.tokens import closing_parenthesis, keyword_set

MAX_NAME_CHARACTERS = 128
DEFAULT_SCHEMAS = {Dialect.TSQL: "dbo", Dialect.POSTGRES: "public", Dialect.MYSQL: "", Dialect.GENERIC: ""}

HOLE = "__hole__"
"""Stands in a name for what the code inserts there and the tree does not say."""
ANY_SCHEMA = "*"
"""The schema of a name whose schema the code inserts."""

_NEVER_NAMES = keyword_set(
    "SELECT FROM WHERE SET VALUES INTO JOIN ON AS AND OR NOT CASE WHEN THEN ELSE END UNION GROUP ORDER BY HAVING WITH "
    "INSERT UPDATE DELETE MERGE EXEC EXECUTE IF BEGIN CREATE ALTER DROP EXISTS IN IS NULL USING RETURNING"
)
_BEFORE_TARGET = keyword_set("ONLY LATERAL TABLE INTO FROM IGNORE LOW_PRIORITY DELAYED HIGH_PRIORITY OVERWRITE INSERT")


@dataclass(frozen=True, slots=True)
class SqlName:
    """An object's name without its quotes; an unstated schema is "", one that is not known ANY_SCHEMA.

    `is_foreign` when a database was named too.
    """

    name: str
    schema: str = ""
    is_foreign: bool = False

    def __str__(self) -> str:
        return f"{self.schema}.{self.name}" if self.schema else self.name

    @property
    def folded(self) -> tuple[str, str]:
        """(schema, name) for comparison: SQL names are compared without regard to case."""
        return self.schema.casefold(), self.name.casefold()


class Relation(StrEnum):
    """How a statement depends on an object; the value is the edge type."""

    READS = "ReadsFrom"
    WRITES = "WritesTo"
    CALLS = "Calls"
    EXECUTES = "Executes"
    FOREIGN_KEY = "FK"
    ON = "On"
    SYNONYM_FOR = "SynonymFor"
    ALTERS = "Alters"


Found = tuple[Relation, SqlName]


def name_from_parts(parts: Sequence[str]) -> SqlName | None:
    """The name that the last two of `parts` (`server.database.schema.name`) state.

    None without a name or for one with a HOLE, and for temporary tables and variables, which no other statement can
    mean.
    """
    cleaned = [" ".join(part.split())[:MAX_NAME_CHARACTERS] for part in parts]
    if not cleaned or not cleaned[-1] or cleaned[-1][0] in "#@$" or HOLE in cleaned[-1]:
        return None
    schema = cleaned[-2] if len(cleaned) > 1 else ""
    return SqlName(cleaned[-1], ANY_SCHEMA if HOLE in schema else schema, is_foreign=len(cleaned) > 2)


def unquoted(raw: str) -> str:
    """An identifier without its brackets, backticks or double quotes, and with doubled closing marks undone."""
    closing = raw[-1]
    return raw[1:-1].replace(closing * 2, closing)


def read_name(
    text: str, tokens: Sequence[Token], index: int, reserved: frozenset[str] = _NEVER_NAMES
) -> tuple[SqlName | None, int]:
    """The object name at `tokens[index]` and the index after it.

    None where there is none: a `reserved` word, a subquery, a `#temporary` table or an `@variable`.
    """
    parts: list[str] = []
    while index < len(tokens):
        part = _name_part(text, tokens[index], is_first=not parts)
        if part is None or (not parts and tokens[index].keyword in reserved):
            break
        parts.append(part)
        index += tokens[index].keyword != "."
        if index == len(tokens) or tokens[index].keyword != ".":
            break
        index += 1
    return name_from_parts(parts), index


def identifier(text: str, token: Token) -> str:
    """The name that one WORD or QUOTED token means."""
    written = text[token.start : token.end]
    return unquoted(written) if token.kind is Kind.QUOTED else written


def _name_part(text: str, token: Token, is_first: bool) -> str | None:
    """One part of a dotted name; "" for the part left out in `Shop..Invoice`, None when the name ends before it."""
    if token.kind is Kind.QUOTED:
        return unquoted(text[token.start : token.end])
    if token.kind in {Kind.WORD, Kind.VARIABLE}:
        return text[token.start : token.end]
    return "" if token.keyword == "." and not is_first else None


def parse_name(written: str) -> SqlName | None:
    """The object name that `written` consists of, as a mapping or a literal states it; None when it is no name."""
    stripped = written.strip()
    tokens = tokenize(stripped, Dialect.GENERIC)
    name, end = read_name(stripped, tokens, 0, reserved=frozenset())
    return name if end == len(tokens) else None


def called_names(text: str, code: Sequence[Token]) -> Iterator[SqlName]:
    """Every name before an opening parenthesis, save keywords and the functions that come with SQL."""
    index = 0
    while index < len(code):
        if code[index].kind not in {Kind.WORD, Kind.QUOTED}:
            index += 1
            continue
        first = code[index]
        name, end = read_name(text, code, index)
        is_call = end < len(code) and code[end].keyword == "(" and name is not None
        if is_call and name is not None and (name.schema or first.keyword not in functions_of_sql()):
            yield name
        index = max(end, index + 1)


@cache
def functions_of_sql() -> Set[str]:
    """The functions that come with SQL, in capitals."""
    from sqlglot import exp  # takes half a second to load, which only trees with SQL are to pay

    return exp.FUNCTION_BY_NAME.keys()


def target_name(text: str, code: Sequence[Token]) -> SqlName | None:
    """The object named after the verb that `code` begins with; options such as TOP (5), INTO and ONLY are skipped."""
    index = 1
    while index < len(code):
        if code[index].keyword == "TOP" and index + 1 < len(code):
            index = closing_parenthesis(code, index + 1) + 1
        elif code[index].keyword in _BEFORE_TARGET:
            index += 1
        else:
            return read_name(text, code, index)[0]
    return None
