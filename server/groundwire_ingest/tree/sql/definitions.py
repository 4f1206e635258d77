"""CREATE statements: what they define, under which name, on which table, and the place of their body."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from groundwire_ingest.tree.sql.lexer import Dialect, Kind, Token
from groundwire_ingest.tree.sql.object_names import SqlName, read_name
from groundwire_ingest.tree.sql.statement_references import query_after_as
from groundwire_ingest.tree.sql.tokens import dollar_body_tokens, keyword_outside, keyword_set

MAX_SIGNATURE_CHARACTERS = 300


class ObjectType(StrEnum):
    """The type of a SQL object; the value ends its local id (`dbo.Invoice|TABLE`)."""

    TABLE = "TABLE"
    VIEW = "VIEW"
    PROCEDURE = "PROC"
    FUNCTION = "FUNC"
    TRIGGER = "TRIGGER"
    SYNONYM = "SYNONYM"
    INDEX = "INDEX"
    SEQUENCE = "SEQUENCE"
    TYPE = "TYPE"


_TYPES = {
    "TABLE": ObjectType.TABLE,
    "VIEW": ObjectType.VIEW,
    "PROC": ObjectType.PROCEDURE,
    "PROCEDURE": ObjectType.PROCEDURE,
    "FUNCTION": ObjectType.FUNCTION,
    "AGGREGATE": ObjectType.FUNCTION,
    "TRIGGER": ObjectType.TRIGGER,
    "SYNONYM": ObjectType.SYNONYM,
    "INDEX": ObjectType.INDEX,
    "SEQUENCE": ObjectType.SEQUENCE,
    "TYPE": ObjectType.TYPE,
    "DOMAIN": ObjectType.TYPE,
}
_ROUTINES = frozenset({ObjectType.PROCEDURE, ObjectType.FUNCTION, ObjectType.TRIGGER})
_REDEFINED_BY_ALTER = _ROUTINES | {ObjectType.VIEW}
_MODIFIERS = keyword_set(
    "OR REPLACE ALTER GLOBAL LOCAL UNLOGGED EXTERNAL FOREIGN VIRTUAL UNIQUE CLUSTERED NONCLUSTERED COLUMNSTORE "
    "FULLTEXT SPATIAL XML PRIMARY MATERIALIZED RECURSIVE CONSTRAINT ALGORITHM UNDEFINED MERGE TEMPTABLE SQL SECURITY "
    "DEFINER INVOKER FORCE EDITIONABLE NONEDITIONABLE"
)
_USER_TOKENS = 6
_BODY_VERBS = keyword_set(
    "BEGIN SELECT INSERT UPDATE DELETE REPLACE MERGE CALL RETURN SET IF WITH DECLARE TRUNCATE CASE WHILE"
)
_TRIGGER_EVENT_AFTER = keyword_set("BEFORE AFTER OF OR , FOR")
_READABLE_LANGUAGES = keyword_set("SQL PLPGSQL")


@dataclass(frozen=True, slots=True)
class Definition:
    """The definition in a CREATE statement; `head`, `options` and `body` are its tokens with offsets in the file.

    The head ends before the keyword (AS, BEGIN) that opens the body; the options are the head after the
    name: parameters, columns, the table of a trigger. The body is the query of a view and the
    statements of a routine, empty in a language that is not SQL. `on` is the table of a trigger or an index; `target`
    is the object that a synonym names.
    """

    object_type: ObjectType
    name: SqlName
    head: Sequence[Token]
    options: Sequence[Token]
    body: Sequence[Token]
    on: SqlName | None = None
    target: SqlName | None = None


def read_definition(text: str, code: Sequence[Token], dialect: Dialect) -> Definition | None:
    """The definition that the statement `code` is; None for any other statement and for temporary objects."""
    type_at = _type_index(code)
    if type_at is None:
        return None
    object_type = _TYPES[code[type_at].keyword]
    alters = code[0].keyword == "ALTER"
    if alters and (dialect is not Dialect.TSQL or object_type not in _REDEFINED_BY_ALTER):
        return None
    name, after = read_name(text, code, _after_options(code, type_at + 1))
    if name is None:
        return None
    on = _named_after(text, code, after, "ON") if object_type in {ObjectType.TRIGGER, ObjectType.INDEX} else None
    if object_type is ObjectType.INDEX:
        if on is None:
            return None
        name = SqlName(name.name, on.schema)
    elif object_type is ObjectType.TRIGGER and on is not None and not name.schema:
        name = SqlName(name.name, on.schema)
    target = _named_after(text, code, after, "FOR") if object_type is ObjectType.SYNONYM else None
    head, body = _head_and_body(text, code, after, object_type, dialect)
    return Definition(object_type, name, head, head[after:], body, on, target)


def signature(text: str, code: Sequence[Token]) -> str:
    """The tokens as one line without comments, at most MAX_SIGNATURE_CHARACTERS, "..." where it is cut."""
    pieces: list[str] = []
    length = 0
    for index, token in enumerate(code):
        gap = " " if index and token.start > code[index - 1].end else ""
        piece = gap + " ".join(text[token.start : token.end].split())
        length += len(piece)
        if length > MAX_SIGNATURE_CHARACTERS - 4:
            return "".join(pieces)[: MAX_SIGNATURE_CHARACTERS - 4] + " ..."
        pieces.append(piece)
    return "".join(pieces)


def foreign_keys(text: str, code: Sequence[Token]) -> list[SqlName]:
    """The tables after REFERENCES in CREATE TABLE or ALTER TABLE."""
    names = [read_name(text, code, index + 1)[0] for index, token in enumerate(code) if token.keyword == "REFERENCES"]
    return [name for name in names if name is not None]


def altered_object(text: str, code: Sequence[Token]) -> tuple[ObjectType, SqlName] | None:
    """The object that an ALTER statement changes, by its type and name; None for every other statement."""
    type_at = _type_index(code) if code[0].keyword == "ALTER" else None
    name = None if type_at is None else read_name(text, code, _after_options(code, type_at + 1))[0]
    return None if type_at is None or name is None else (_TYPES[code[type_at].keyword], name)


def _type_index(code: Sequence[Token]) -> int | None:
    """The index of TABLE, VIEW ... in a CREATE or ALTER statement; None when it defines nothing that we index."""
    if code[0].keyword not in {"CREATE", "ALTER"}:
        return None
    user_ends = 0
    for index in range(1, len(code)):
        token = code[index]
        if token.keyword in _TYPES:
            return index
        if token.keyword == "DEFINER":
            user_ends = index + _USER_TOKENS
        if token.keyword not in _MODIFIERS and token.keyword != "=" and index >= user_ends:
            return None
    return None


def _after_options(code: Sequence[Token], index: int) -> int:
    """Skips IF [NOT] EXISTS, CONCURRENTLY, ONLY and BODY before a name."""
    while index < len(code) and code[index].keyword in {"IF", "NOT", "EXISTS", "CONCURRENTLY", "ONLY"}:
        index += 1
    return index


def _named_after(text: str, code: Sequence[Token], start: int, keyword: str) -> SqlName | None:
    """The name behind the first `keyword` from `start` on."""
    for index in range(start, len(code)):
        if code[index].keyword == keyword:
            return read_name(text, code, _after_options(code, index + 1))[0]
    return None


def _head_and_body(
    text: str, code: Sequence[Token], after: int, object_type: ObjectType, dialect: Dialect
) -> tuple[Sequence[Token], Sequence[Token]]:
    if object_type is ObjectType.VIEW:
        opening = keyword_outside(code, after, keyword_set("AS"))
        return code[:opening], code[opening + 1 :]
    if object_type is ObjectType.TABLE:
        return code, code[query_after_as(code) :]
    if object_type not in _ROUTINES:
        return code, ()
    quoted = next((index for index in range(after, len(code)) if code[index].kind is Kind.BODY), None)
    if quoted is not None:
        is_readable = _language(text, code) in _READABLE_LANGUAGES
        head = code[: quoted - (code[quoted - 1].keyword == "AS")]
        return head, dollar_body_tokens(text, code[quoted], dialect) if is_readable else ()
    is_tsql = dialect is Dialect.TSQL
    opening = keyword_outside(code, after, keyword_set("AS") if is_tsql else _BODY_VERBS)
    while opening < len(code) and _opens_no_body(code[opening - 1], dialect):
        opening = keyword_outside(code, opening + 1, keyword_set("AS") if is_tsql else _BODY_VERBS)
    return code[:opening], code[opening + is_tsql :]


def _opens_no_body(before: Token, dialect: Dialect) -> bool:
    """True if what follows opens no body: the AS of a parameter's type or of EXECUTE AS, an event of a trigger."""
    if dialect is Dialect.TSQL:
        return before.kind is Kind.VARIABLE or before.keyword in {"EXECUTE", "EXEC"}
    return before.keyword in _TRIGGER_EVENT_AFTER


def _language(text: str, code: Sequence[Token]) -> str:
    """The language that CREATE FUNCTION states, upper-cased; PL/pgSQL when it states none."""
    for token, following in pairwise(code):
        if token.keyword == "LANGUAGE":
            return text[following.start : following.end].strip("'\"").upper()
    return "PLPGSQL"
