"""Where one SQL statement ends and the next begins, at the top of a file and inside a routine's body.

Most dialects end statements with `;`. T-SQL does not ask for it, so there a keyword that can only open a
statement opens one, unless the token before it continues a statement (`INSERT ... SELECT`, `ON DELETE`).
"""

from collections.abc import Sequence

from groundwire_ingest.tree.sql.lexer import Dialect, Kind, Token
from groundwire_ingest.tree.sql.tokens import keyword_at, keyword_set

_CHANGES = keyword_set("INSERT UPDATE DELETE MERGE")
_PRIVILEGES = keyword_set("GRANT REVOKE DENY")
_BLOCKS = keyword_set("BEGIN END ELSE")
_TSQL_OPENERS = keyword_set(
    "SELECT INSERT UPDATE DELETE MERGE EXEC EXECUTE DECLARE SET IF ELSE WHILE BEGIN END RETURN PRINT RAISERROR THROW "
    "WITH TRUNCATE CREATE ALTER DROP GRANT REVOKE DENY OPEN CLOSE FETCH DEALLOCATE GOTO BREAK CONTINUE COMMIT ROLLBACK "
    "SAVE USE WAITFOR BULK DBCC BACKUP RESTORE KILL RECONFIGURE"
)
# END IF, END LOOP ... close what no BEGIN or CASE has opened.
_INNER_BLOCKS = keyword_set("IF LOOP WHILE REPEAT FOR")
_BLOCK_OPENERS = _BLOCKS | {"THEN", "LOOP", "DO"}
_BEFORE_CHANGE = keyword_set(", OR OF AFTER BEFORE FOR BULK")
_BEFORE_SELECT = keyword_set("UNION ALL EXCEPT INTERSECT MINUS AS FOR IN QUERY")
_BEFORE_OPTION = {
    "EXEC": keyword_set("WITH ,"),
    "EXECUTE": keyword_set("WITH ,"),
    "SET": keyword_set("UPDATE DELETE"),
    "FETCH": keyword_set("ROW ROWS"),
    "GRANT": keyword_set("WITH REVOKE"),
    "COMMIT": keyword_set("ON"),
    "IF": keyword_set("TABLE VIEW PROC PROCEDURE FUNCTION TRIGGER INDEX SCHEMA DATABASE TYPE COLUMN CONSTRAINT"),
}
_ALTERED_PARTS = keyword_set("COLUMN CONSTRAINT INDEX MEMBER PERIOD")
_ROUTINES = keyword_set("PROC PROCEDURE FUNCTION TRIGGER EVENT")
_ALONE_IN_BATCH = keyword_set("PROC PROCEDURE FUNCTION TRIGGER VIEW")
_DEFINITION_HEAD_TOKENS = 24

Range = tuple[int, int]


def file_statements(code: Sequence[Token], dialect: Dialect) -> list[Range]:
    """The statements of a file as index ranges [first, end) of `code`, its tokens without comments.

    A T-SQL procedure, function or trigger runs to the end of its batch, as the server reads it; elsewhere
    `;` inside BEGIN ... END of a routine does not end it.
    """
    return _batch_statements(code) if dialect is Dialect.TSQL else _terminated_statements(code)


def body_statements(code: Sequence[Token], dialect: Dialect) -> list[Range]:
    """The statements of a routine's body, control flow cut off at its keywords, as ranges [first, end)."""
    return _Splitter(code, dialect).run()


def _batch_statements(code: Sequence[Token]) -> list[Range]:
    merged: list[Range] = []
    in_routine = False
    for first, end in _Splitter(code, Dialect.TSQL).run():
        defines = _defined_type(code, first, end)
        starts_batch = bool(merged) and any(token.kind is Kind.BATCH for token in code[merged[-1][1] : first])
        if in_routine and defines not in _ALONE_IN_BATCH and not starts_batch:
            merged[-1] = (merged[-1][0], end)
            continue
        in_routine = defines in _ROUTINES
        merged.append((first, end))
    return merged


def _terminated_statements(code: Sequence[Token]) -> list[Range]:
    ranges: list[Range] = []
    first = depth = 0
    for index, token in enumerate(code):
        if token.kind is Kind.TERMINATOR and depth == 0:
            ranges.append((first, index))
            first = index + 1
        elif token.keyword in {"BEGIN", "CASE"} and (index == 0 or code[index - 1].keyword != "END"):
            depth += depth > 0 or _defined_type(code, first, index) in _ROUTINES
        elif token.keyword == "END" and depth and keyword_at(code, index + 1) not in _INNER_BLOCKS:
            depth -= 1
    ranges.append((first, len(code)))
    return [(start, end) for start, end in ranges if start < end]


def _defined_type(code: Sequence[Token], first: int, end: int) -> str:
    """PROCEDURE, VIEW ... when `code[first:end]` begins like a definition of one; "" otherwise."""
    if code[first].keyword not in {"CREATE", "ALTER"}:
        return ""
    for token in code[first + 1 : min(end, first + _DEFINITION_HEAD_TOKENS)]:
        if token.keyword in _ALONE_IN_BATCH or token.keyword in _ROUTINES:
            return token.keyword
        if token.keyword in {"TABLE", "INDEX", "TYPE", "SYNONYM", "SEQUENCE", "("}:
            return ""
    return ""


class _Splitter:
    """One pass over tokens. Knows of the open statement what decides whether a keyword goes on with it."""

    def __init__(self, code: Sequence[Token], dialect: Dialect) -> None:
        self._code = code
        self._openers = _TSQL_OPENERS if dialect is Dialect.TSQL else _BLOCK_OPENERS
        self._ranges: list[Range] = []
        self._open_statement(0)

    def _open_statement(self, first: int) -> None:
        self._first = first
        self._parentheses = 0
        self._cases = 0
        self._verb = ""
        self._awaits_query = False
        self._awaits_set = False

    def run(self) -> list[Range]:
        for index, token in enumerate(self._code):
            if token.keyword == ";" or token.kind is Kind.BATCH:
                self._close(index, index + 1)
            elif token.keyword == "(":
                self._parentheses += 1
            elif token.keyword == ")":
                self._parentheses = max(0, self._parentheses - 1)
            elif token.kind is Kind.WORD and not self._parentheses and self._keyword_at(index - 1) != ".":
                self._word(index, token.keyword)
        self._close(len(self._code), len(self._code))
        return self._ranges

    def _close(self, end: int, next_first: int) -> None:
        if self._first < end:
            self._ranges.append((self._first, end))
        self._open_statement(next_first)

    def _keyword_at(self, index: int) -> str:
        return self._code[index].keyword if self._first <= index < len(self._code) else ""

    def _word(self, index: int, keyword: str) -> None:
        if keyword == "CASE" and self._keyword_at(index - 1) != "END":
            self._cases += 1
            return
        if self._cases:
            self._cases -= keyword == "END"
            return
        if index > self._first and keyword in self._openers and not self._goes_on(index, keyword):
            self._close(index, index)
        self._note(index, keyword)

    def _note(self, index: int, keyword: str) -> None:
        """Keeps what later keywords of the statement are judged by."""
        if keyword in {"SELECT", "VALUES", "EXEC", "EXECUTE"}:
            self._awaits_query = False
        elif keyword in {"INSERT", "REPLACE"} or (keyword == "WITH" and opens_common_expressions(self._code, index)):
            self._awaits_query = True
        elif keyword in {"UPDATE", "MERGE", "DELETE"} and self._verb in {"", "WITH"}:
            self._verb, self._awaits_query, self._awaits_set = keyword, False, keyword == "UPDATE"
        elif keyword == "SET":
            self._awaits_set = False
        elif keyword in {"ON", "TO", "FROM"} and self._verb in _PRIVILEGES:
            self._verb = "PRIVILEGE"
        if not self._verb and (keyword in _TSQL_OPENERS or keyword == "REPLACE") and keyword not in _BLOCKS:
            self._verb = keyword

    def _goes_on(self, index: int, keyword: str) -> bool:
        previous, following = self._keyword_at(index - 1), self._keyword_at(index + 1)
        if self._verb in _PRIVILEGES or previous in _BEFORE_OPTION.get(keyword, ()):
            return True
        if keyword == "SELECT":
            return self._awaits_query or previous in _BEFORE_SELECT
        if keyword in _CHANGES:
            return self._change_goes_on(keyword, previous, following)
        if keyword in {"EXEC", "EXECUTE"}:
            return self._awaits_query and self._verb in {"INSERT", "WITH"}
        if keyword == "WITH":
            return self._awaits_query or previous in {"AS", "FOR"} or not opens_common_expressions(self._code, index)
        if keyword == "SET":
            return self._awaits_set or self._verb in {"ALTER", "CREATE", "MERGE"}
        if keyword in {"ALTER", "DROP"}:
            is_option = self._verb == "ALTER" and following in _ALTERED_PARTS
            return is_option or previous == "OR"
        if keyword == "THEN":
            return self._verb == "MERGE"
        return keyword == "DO" and self._verb in {"INSERT", "WITH"}

    def _change_goes_on(self, keyword: str, previous: str, following: str) -> bool:
        """True if INSERT, UPDATE, DELETE or MERGE is a clause, hint or function here and opens no statement."""
        if self._verb == "MERGE" or previous in _BEFORE_CHANGE:
            return True
        if previous == "ON" and self._verb in {"CREATE", "ALTER"}:
            return True
        if keyword == "MERGE" and following in {"JOIN", "UNION"}:
            return True
        return self._awaits_query and self._verb == "WITH"


def opens_common_expressions(code: Sequence[Token], index: int) -> bool:
    """True if WITH at `index` opens common table expressions (`WITH name [(columns)] AS (`) and is no option."""
    index += 1 + (keyword_at(code, index + 1) == "RECURSIVE")
    if index >= len(code) or code[index].kind not in {Kind.WORD, Kind.QUOTED}:
        return False
    index += 1
    if keyword_at(code, index) == "(":
        while index < len(code) and code[index].keyword != ")":
            index += 1
        index += 1
    return keyword_at(code, index) == "AS" and keyword_at(code, index + 1) in {"(", "NOT", "MATERIALIZED"}
