"""A SQL file cut into units: one an object with what belongs to it, one for each run of other statements."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from groundwire_ingest.tree.sql.definitions import Definition, read_definition
from groundwire_ingest.tree.sql.lexer import Dialect, Kind, Token, tokenize
from groundwire_ingest.tree.sql.statements import file_statements
from groundwire_ingest.tree.sql.tokens import keyword_set

MAX_LEADING_CHARACTERS = 1500

_LEADING = keyword_set("SET USE IF BEGIN DROP PRINT ELSE START")
_TRAILING = keyword_set("END COMMIT ROLLBACK")
_ABOUT_OBJECTS = keyword_set("ALTER COMMENT GRANT REVOKE DENY")
_ABOUT_TOKENS = 10


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement's tokens and what they define. `start` takes in the comments above it, `end` its terminator."""

    code: Sequence[Token]
    definition: Definition | None
    start: int
    end: int


@dataclass(slots=True)
class Unit:
    """`text[start:end]` is one chunk of the file, or several when it is long.

    `definition` is that of the one object in it; None for a script of statements that define nothing.
    """

    start: int
    end: int
    definition: Definition | None = None
    statements: list[Statement] = field(default_factory=list)

    def take(self, statement: Statement) -> None:
        """Extends the unit to the end of `statement`."""
        self.statements.append(statement)
        self.end = statement.end


def sql_units(text: str, dialect: Dialect) -> list[Unit]:
    """The units of a file, in its order; together they hold every line but blank ones and batch separators.

    Session settings, guards (IF NOT EXISTS) and DROP directly above an object belong to its unit unless
    they exceed MAX_LEADING_CHARACTERS; so do the statements directly below that alter, comment or grant it.
    """
    units: list[Unit] = []
    leading: list[Statement] = []
    statements, comments_end = _statements(text, dialect)
    for statement in statements:
        keyword = statement.code[0].keyword
        if statement.definition is not None:
            _open_object(text, units, leading, statement)
            leading = []
        elif keyword in _LEADING:
            leading.append(statement)
        elif not leading and units and (keyword in _TRAILING or _is_about(text, units[-1], statement)):
            units[-1].take(statement)
        else:
            _extend_script(text, units, [*leading, statement])
            leading = []
    _close(text, units, leading, comments_end)
    return units


def _open_object(text: str, units: list[Unit], leading: list[Statement], statement: Statement) -> None:
    pending = [*leading, statement]
    if statement.start - pending[0].start > MAX_LEADING_CHARACTERS:
        _extend_script(text, units, leading)
        pending = [statement]
    unit = Unit(_line_start(text, pending[0].start), statement.end, statement.definition)
    for part in pending:
        unit.take(part)
    units.append(unit)


def _extend_script(text: str, units: list[Unit], statements: Sequence[Statement]) -> None:
    if not units or units[-1].definition is not None:
        units.append(Unit(_line_start(text, statements[0].start), statements[0].end))
    for statement in statements:
        units[-1].take(statement)


def _close(text: str, units: list[Unit], leading: list[Statement], comments_end: int) -> None:
    """Gives what is left at the end of the file to the last unit; alone in the file it is a script."""
    if units:
        for statement in leading:
            units[-1].take(statement)
    elif leading:
        _extend_script(text, units, leading)
    elif comments_end:
        units.append(Unit(0, comments_end))
    if units:
        units[-1].end = max(units[-1].end, comments_end)


def _is_about(text: str, unit: Unit, statement: Statement) -> bool:
    """True if `statement` alters, comments on or grants the object that `unit` defines."""
    if unit.definition is None or statement.code[0].keyword not in _ABOUT_OBJECTS:
        return False
    wanted = unit.definition.name.name.casefold()
    return any(
        text[token.start : token.end].strip('"`[]').casefold() == wanted for token in statement.code[1:_ABOUT_TOKENS]
    )


def _line_start(text: str, offset: int) -> int:
    """The start of the line of `offset` when only white space is before it there; `offset` otherwise."""
    start = offset
    while start > 0 and text[start - 1] in " \t":
        start -= 1
    return start if start == 0 or text[start - 1] == "\n" else offset


def _statements(text: str, dialect: Dialect) -> tuple[list[Statement], int]:
    """The statements of a file and the end of its last comment (0 without one)."""
    tokens = tokenize(text, dialect)
    code = [token for token in tokens if token.kind is not Kind.COMMENT]
    comments = [token for token in tokens if token.kind is Kind.COMMENT]
    bounds = _bounds(text, code, comments, file_statements(code, dialect))
    statements = [
        Statement(code[first:end], read_definition(text, code[first:end], dialect), start, stop)
        for first, end, start, stop in bounds
    ]
    return statements, comments[-1].end if comments else 0


def _bounds(
    text: str, code: Sequence[Token], comments: Sequence[Token], ranges: Sequence[tuple[int, int]]
) -> list[list[int]]:
    """(first, end, start offset, end offset) of each statement, comments given to the one next to them.

    A comment on the line where a statement ends belongs to that statement, one on a later line to the next.
    """
    position = 0
    bounds: list[list[int]] = []
    for first, end in ranges:
        start = code[first].start
        while position < len(comments) and comments[position].start < code[first].start:
            comment = comments[position]
            if bounds and "\n" not in text[bounds[-1][3] : comment.start]:
                bounds[-1][3] = comment.end
            else:
                start = min(start, comment.start)
            position += 1
        stop = code[end].end if end < len(code) and code[end].kind is Kind.TERMINATOR else code[end - 1].end
        while position < len(comments) and comments[position].start < stop:
            position += 1
        bounds.append([first, end, start, stop])
    return bounds
