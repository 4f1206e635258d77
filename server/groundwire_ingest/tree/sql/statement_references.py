"""References of SQL statements: what a script or a routine's body reads, writes, calls and executes."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from groundwire_ingest.tree.sql.lexer import Dialect, Kind, Token
from groundwire_ingest.tree.sql.object_names import Found, Relation, SqlName, called_names, read_name, target_name
from groundwire_ingest.tree.sql.statements import body_statements, opens_common_expressions
from groundwire_ingest.tree.sql.tokens import (
    closing_parenthesis,
    code_tokens,
    depth_change,
    dollar_body_tokens,
    keyword_at,
    keyword_set,
)

PARSED_CONFIDENCE = 1.0
GUESSED_CONFIDENCE = 0.7
DYNAMIC_CONFIDENCE = 0.7

_QUERY_VERBS = keyword_set("SELECT WITH INSERT UPDATE DELETE MERGE REPLACE PERFORM")
_VERBS = _QUERY_VERBS | keyword_set("EXEC EXECUTE CALL TRUNCATE COPY BULK")
_ALSO_FUNCTIONS = keyword_set("UPDATE REPLACE INSERT TRUNCATE COPY")
_NO_REFERENCES = keyword_set("GRANT REVOKE DENY COMMENT DROP")
_DEFINES = keyword_set("CREATE ALTER")
_NO_VERB_AFTER = keyword_set(". ON DO KEY FOR OF OR AFTER BEFORE ,")
_EXECUTES = keyword_set("EXEC EXECUTE")
_ROWS = keyword_set("VALUES VALUE EXEC EXECUTE")
_VERB_IN_STRING = re.compile(r"\b(?:SELECT|INSERT|DELETE|UPDATE|MERGE|EXEC|EXECUTE)\b", re.IGNORECASE)
_COMPANION_IN_STRING = re.compile(r"\b(?:FROM|INTO|SET|EXEC|EXECUTE)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Reference:
    """A name that a statement depends on. `offset` is where the statement begins in the text that was read."""

    relation: Relation
    name: SqlName
    offset: int
    confidence: float


@dataclass(frozen=True, slots=True)
class Reading:
    """The dependencies of a piece of SQL, in its order.

    `unparsed` are the statements that sqlglot did not accept, by offset and reason: their references come from a broken
    tree.
    """

    references: list[Reference] = field(default_factory=list)
    unparsed: list[tuple[int, str]] = field(default_factory=list)


def read_references(text: str, code: Sequence[Token], dialect: Dialect) -> Reading:
    """The references of the statements that `code` (tokens of `text` without comments) consists of.

    Confidence is PARSED_CONFIDENCE where sqlglot parsed the query or the statement has only one shape,
    GUESSED_CONFIDENCE where it made a broken tree of the query, DYNAMIC_CONFIDENCE for SQL inside a string.
    """
    reader = _Reader(text, dialect, reads_strings=True)
    reader.body(code)
    return reader.reading


def read_option_references(text: str, code: Sequence[Token], dialect: Dialect) -> Reading:
    """The references between a definition's name and its body: defaults, checks, the function of a trigger."""
    reader = _Reader(text, dialect, reads_strings=True)
    reader.loose(code)
    return reader.reading


class _Reader:
    """Collects references; `reads_strings` says whether SQL inside string literals counts."""

    def __init__(self, text: str, dialect: Dialect, reads_strings: bool) -> None:
        self._text = text
        self._dialect = dialect
        self._reads_strings = reads_strings
        self.reading = Reading()

    def body(self, code: Sequence[Token]) -> None:
        for first, end in body_statements(code, self._dialect):
            self._statement(code[first:end])

    def _statement(self, code: Sequence[Token]) -> None:
        if code[0].keyword in _NO_REFERENCES:
            return
        if code[0].keyword == "DO":
            for token in code:
                if token.kind is Kind.BODY:
                    self.body(dollar_body_tokens(self._text, token, self._dialect))
            return
        verb = query_after_as(code) if code[0].keyword in _DEFINES else _verb_index(code)
        self.loose(code[:verb])
        rest = code[verb:]
        if not rest:
            return
        if rest[0].keyword in {"EXEC", "EXECUTE", "CALL"}:
            self._execute(rest)
        elif rest[0].keyword not in _QUERY_VERBS:
            self._target(rest)
        elif rest[0].keyword in {"INSERT", "REPLACE"} and (split := _after_insert_target(rest)) is not None:
            self._target(rest[:split])
            from groundwire_ingest.tree.sql.query import plain_query

            _, written = plain_query(self._text, rest[:split], self._dialect)
            self._add([(Relation.WRITES, name) for name in written], rest[0].start, PARSED_CONFIDENCE)
            self._inserted(rest[split:])
        else:
            self._query(rest)

    def loose(self, code: Sequence[Token]) -> None:
        """Reads what is no query itself: subqueries in parentheses, calls, SQL in strings."""
        start = 0
        index = 0
        while index < len(code):
            token = code[index]
            if token.keyword == "(" and index + 1 < len(code) and code[index + 1].keyword in {"SELECT", "WITH"}:
                self._add_calls(code[start : index + 1], token.start)
                close = closing_parenthesis(code, index)
                self._query(code[index + 1 : close])
                start = index = close
            elif token.kind is Kind.STRING and self._reads_strings:
                self._dynamic(token)
            index += 1
        if start < len(code):
            self._add_calls(code[start:], code[start].start)

    def _inserted(self, code: Sequence[Token]) -> None:
        """The part after INSERT INTO target: rows are data, so strings among them are not read as SQL."""
        if code[0].keyword in _EXECUTES:
            self._execute(code)
            return
        reads_strings, self._reads_strings = self._reads_strings, False
        self.loose(code)
        self._reads_strings = reads_strings

    def _execute(self, code: Sequence[Token]) -> None:
        index = 1
        if len(code) > 2 and code[1].kind is Kind.VARIABLE and code[2].keyword == "=":
            index = 3
        name, end = read_name(self._text, code, index)
        if name is not None and (self._dialect is not Dialect.POSTGRES or code[0].keyword == "CALL"):
            self._add([(Relation.EXECUTES, name)], code[0].start, PARSED_CONFIDENCE)
            index = end
        self.loose(code[index:])

    def _target(self, code: Sequence[Token]) -> None:
        name = target_name(self._text, code)
        is_export = code[0].keyword == "COPY" and any(token.keyword == "TO" for token in code)
        if name is not None:
            self._add([(Relation.READS if is_export else Relation.WRITES, name)], code[0].start, PARSED_CONFIDENCE)

    def _query(self, code: Sequence[Token]) -> None:
        from groundwire_ingest.tree.sql.query import read_query

        reading = read_query(self._text, code, self._dialect)
        offset = code[0].start
        self._add(reading.certain, offset, PARSED_CONFIDENCE)
        self._add(reading.guessed, offset, GUESSED_CONFIDENCE)
        if reading.why_unparsed is not None:
            self.reading.unparsed.append((offset, reading.why_unparsed))

    def _dynamic(self, token: Token) -> None:
        """Reads a string that holds SQL, such as the argument of sp_executesql; what it lacks stays unread."""
        raw = self._text[token.start : token.end]
        quote = raw[-1]
        inner = raw[raw.index(quote) + 1 : -1].replace(quote * 2, quote)
        if _VERB_IN_STRING.search(inner) is None or _COMPANION_IN_STRING.search(inner) is None:
            return
        reader = _Reader(inner, self._dialect, reads_strings=False)
        reader.body(code_tokens(inner, self._dialect))
        references = [(reference.relation, reference.name) for reference in reader.reading.references]
        self._add(references, token.start, DYNAMIC_CONFIDENCE)

    def _add_calls(self, code: Sequence[Token], offset: int) -> None:
        called = called_names(self._text, code)
        self._add([(Relation.CALLS, name) for name in called], offset, PARSED_CONFIDENCE)

    def _add(self, references: Iterable[Found], offset: int, confidence: float) -> None:
        self.reading.references.extend(Reference(relation, name, offset, confidence) for relation, name in references)


def _verb_index(code: Sequence[Token]) -> int:
    """The index of the verb outside parentheses that makes `code` a query, a change or a call; its length if none."""
    depth = 0
    for index, token in enumerate(code):
        depth += depth_change(token)
        if depth == 0 and token.keyword in _VERBS and _is_verb(code, index):
            return index
    return len(code)


def _is_verb(code: Sequence[Token], index: int) -> bool:
    """False where the keyword at `index` is a clause (ON DELETE), a function (REPLACE()) or an option (WITH INIT)."""
    keyword = code[index].keyword
    previous, following = keyword_at(code, index - 1), keyword_at(code, index + 1)
    if keyword == "SELECT":
        return previous != "."
    if keyword == "WITH":
        return opens_common_expressions(code, index)
    if previous in _NO_VERB_AFTER:
        return False
    return following != "STATISTICS" and not (keyword in _ALSO_FUNCTIONS and following == "(")


def query_after_as(code: Sequence[Token]) -> int:
    """The index of the query in CREATE ... AS SELECT, outside parentheses; the length of `code` without one."""
    for index in range(1, len(code)):
        if code[index - 1].keyword == "AS" and code[index].keyword in {"SELECT", "WITH"}:
            return index
    return len(code)


def _after_insert_target(code: Sequence[Token]) -> int | None:
    """The start of the rows or the procedure of INSERT; None when a query follows that must be parsed."""
    depth = 0
    for index, token in enumerate(code):
        depth += depth_change(token)
        if depth == 0 and token.keyword in _ROWS:
            return index
        if depth == 0 and token.keyword in {"SELECT", "WITH"}:
            return None
    return None
