"""What a statement reads, writes and calls, told from its tokens alone.

Exact for statements of one shape (EXEC, TRUNCATE, INSERT ... VALUES); for queries that no parser accepts an
approximation by the keywords that stand before names.
"""

from collections.abc import Iterator, Sequence

from sqlglot import exp

from groundwire_ingest.tree.sql.lexer import Kind, Token
from groundwire_ingest.tree.sql.names import SqlName, read_name
from groundwire_ingest.tree.sql.tokens import depth_change, keyword_set
from groundwire_ingest.tree.sql.tree import Relation

_BEFORE_TARGET = keyword_set("INTO UPDATE TRUNCATE MERGE INSERT DELETE COPY REPLACE")
_BEFORE_SOURCE = keyword_set("FROM JOIN USING APPLY")
_SKIPPED = keyword_set("ONLY LATERAL TABLE INTO FROM IGNORE LOW_PRIORITY DELAYED HIGH_PRIORITY OVERWRITE INSERT")
_ENDS_SOURCES = keyword_set("WHERE SELECT SET GROUP ORDER HAVING LIMIT UNION EXCEPT INTERSECT ON VALUES WHEN")
_FROM_ARGUMENT = keyword_set("EXTRACT SUBSTRING TRIM OVERLAY")

Found = tuple[Relation, SqlName]


def query_tokens_references(text: str, code: Sequence[Token]) -> list[Found]:
    """Names after FROM, JOIN, INTO, UPDATE, DELETE and MERGE; aliases and common table expressions left out."""
    scan = _QueryScan(text, code)
    scan.run()
    known = scan.aliases
    found = [
        (relation, known.get(name.name.casefold(), name) if relation is Relation.WRITES and not name.schema else name)
        for relation, name in scan.found
    ]
    kept = [(relation, name) for relation, name in found if name.schema or name.folded[1] not in scan.common]
    return kept + list(call_references(text, code))


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


class _QueryScan:
    """One pass over a query; knows of each open parenthesis what stands before it and whether sources are listed."""

    def __init__(self, text: str, code: Sequence[Token]) -> None:
        self._text = text
        self._code = code
        self._functions = [""]
        self._lists_sources = [False]
        self.found: list[Found] = []
        self.aliases: dict[str, SqlName] = {}
        self.common: set[str] = set()

    def run(self) -> None:
        for index, token in enumerate(self._code):
            keyword = token.keyword
            if keyword == "(":
                self._functions.append(self._keyword(index - 1))
                self._lists_sources.append(False)
            elif keyword == ")" and len(self._functions) > 1:
                self._functions.pop()
                self._lists_sources.pop()
            elif keyword == "AS" and self._keyword(index + 1) == "(" and self._keyword(index + 2) in {"SELECT", "WITH"}:
                self._common_name(index)
            elif keyword in _BEFORE_SOURCE and self._opens_sources(index):
                self._lists_sources[-1] = True
                self._source(index + 1)
            elif keyword == "," and self._lists_sources[-1]:
                self._source(index + 1)
            elif keyword in _ENDS_SOURCES:
                self._lists_sources[-1] = False
            elif keyword in _BEFORE_TARGET and self._opens_target(index):
                self._target(index)

    def _keyword(self, index: int) -> str:
        return self._code[index].keyword if 0 <= index < len(self._code) else ""

    def _opens_sources(self, index: int) -> bool:
        """False where FROM belongs to a function, to IS DISTINCT FROM, or follows DELETE and names the target."""
        return self._keyword(index - 1) not in {"DISTINCT", "DELETE"} and self._functions[-1] not in _FROM_ARGUMENT

    def _opens_target(self, index: int) -> bool:
        if self._keyword(index) in {"UPDATE", "DELETE"} and self._keyword(index - 1) in {
            "KEY",
            "ON",
            "DO",
            "FOR",
            "THEN",
        }:
            return False
        return self._keyword(index + 1) != "INTO" and self._keyword(index) != "REPLACE"

    def _common_name(self, index: int) -> None:
        """Notes the name before AS ( SELECT, behind its column list if it has one."""
        index -= 1
        if self._keyword(index) == ")":
            while index > 0 and self._keyword(index) != "(":
                index -= 1
            index -= 1
        if index >= 0:
            name, _ = read_name(self._text, self._code, index)
            if name is not None:
                self.common.add(name.folded[1])

    def _source(self, index: int) -> None:
        while self._keyword(index) in {"ONLY", "LATERAL"}:
            index += 1
        name, end = read_name(self._text, self._code, index)
        if name is None or self._keyword(end) == "(":
            return
        self.found.append((Relation.READS, name))
        end += self._keyword(end) == "AS"
        if end < len(self._code) and self._keyword(end) not in _ENDS_SOURCES:
            alias, _ = read_name(self._text, self._code, end)
            if alias is not None:
                self.aliases.setdefault(alias.name.casefold(), name)

    def _target(self, index: int) -> None:
        name = target_name(self._text, self._code, index)
        if name is not None:
            self.found.append((Relation.WRITES, name))
