"""Edges from code to SQL objects by the SQL, and the names of procedures and tables, in its strings."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import TypeAlias

from groundwire_index.nodes.node import NodeAccess
from groundwire_index.repository_edges.tables import TableUse
from groundwire_ingest.records import SourceEdge
from groundwire_ingest.tree.file_analysis import StringLiteral
from groundwire_ingest.tree.folders import path_in
from groundwire_ingest.tree.names.run_time_links.texts import ResolvedText
from groundwire_ingest.tree.sql.catalog import SqlCatalog
from groundwire_ingest.tree.sql.definitions import ObjectType
from groundwire_ingest.tree.sql.dialect import evident_dialect
from groundwire_ingest.tree.sql.lexer import Dialect, Token
from groundwire_ingest.tree.sql.object_names import HOLE, Relation, SqlName, parse_name
from groundwire_ingest.tree.sql.objects import ADMITTED_TYPES, edge_type
from groundwire_ingest.tree.sql.statement_references import PARSED_CONFIDENCE as READ_WITH_CERTAINTY
from groundwire_ingest.tree.sql.statement_references import read_references
from groundwire_ingest.tree.sql.tokens import code_tokens, keyword_set

PARSED_CONFIDENCE = 0.9
EXECUTED_PROCEDURE_CONFIDENCE = 0.9
"""The code passes the name as that of a procedure to execute."""
NAMED_TABLE_CONFIDENCE = 0.9
INHERITED_CONFIDENCE = 0.8
"""The text is in a member of a base class, with what a class gives for the values in it."""
QUALIFIED_PROCEDURE_CONFIDENCE = 0.8
PIECE_CONFIDENCE = 0.6
BARE_PROCEDURE_CONFIDENCE = 0.6
MINIMUM_BARE_NAME_CHARACTERS = 6

MOST_KEPT_NAMES = 1 << 14
"""How many names that literals may be are not looked up again."""

FoundReference: TypeAlias = tuple[Relation, SqlName, float]
"""An object that SQL names, what is done to it, and how sure that is."""

_NAME_PART = r'(?:\[[^\]\n]+\]|"[^"\n]+"|[^\W\d][\w$]*)'
_PROCEDURE = re.compile(rf"(?P<name>{_NAME_PART}(?:\.{_NAME_PART}){{0,2}})(?:\s+@\w.*)?", re.DOTALL)
_JDBC_CALL = re.compile(r"\{\s*(?:\?\s*=\s*)?(?P<call>call\b.*)\}", re.IGNORECASE | re.DOTALL)
_HOLE = re.compile(r"%\(\w+\)s|%[sd]|\$?\{[^{}]*\}|\$\d+")
_BESIDE_NAME = frozenset('[]".`_')
_ANY_VERB = re.compile(r"\b(?:SELECT|INSERT|UPDATE|DELETE|MERGE|EXEC|EXECUTE|CALL|TRUNCATE|FROM|JOIN)\b", re.IGNORECASE)
_PUNCTUATION = re.compile(r"[*=@?\[\]%:()]|\w\.\w")
_COMPANIONS = {
    "SELECT": frozenset({"FROM", "("}),
    "INSERT": keyword_set("INTO VALUES SELECT"),
    "UPDATE": keyword_set("SET"),
    "DELETE": keyword_set("FROM WHERE"),
    "MERGE": keyword_set("USING"),
    "TRUNCATE": keyword_set("TABLE"),
    "WITH": keyword_set("AS"),
}
_CALLS = keyword_set("EXEC EXECUTE CALL")
_BEFORE_FRAGMENT = {"FROM": "SELECT 1"} | dict.fromkeys(
    ("JOIN", "INNER", "LEFT", "RIGHT"), "SELECT 1 FROM (SELECT 1) AS a"
)
"""The text to put before a fragment that begins with the word, to make it a query."""


@dataclass(frozen=True, slots=True)
class Statement:
    """SQL of a string literal, not yet parsed; tokens before `first` are prose.

    `is_piece`: words were put in front of a fragment. `has_marks`: it has punctuation that prose does not have. `most`
    is the greatest confidence of its edges.
    """

    literal: StringLiteral
    sql: str
    dialect: Dialect
    first: int
    is_piece: bool
    has_marks: bool
    most: float = 1.0

    @property
    def reading(self) -> tuple[str, bool, bool]:
        """What `references_in` depends on."""
        return self.sql, self.is_piece, self.has_marks


def statements(literals: Iterable[StringLiteral]) -> Iterator[Statement]:
    """The SQL in `literals`; `references_in` reads it."""
    for literal in literals:
        if not literal.has_insertions and _procedure_named(literal.text) is None:
            yield from _statements(literal)


def text_statements(texts: Iterable[ResolvedText]) -> Iterator[Statement]:
    """The SQL in `texts`."""
    for text in texts:
        if text.role in ("any", "procedure") and _procedure_named(text.text) is None:
            most = INHERITED_CONFIDENCE if text.is_inherited else 1.0
            for statement in _statements(StringLiteral(text.from_key, text.text, text.line)):
                yield replace(statement, most=most)


def text_edges(catalog: SqlCatalog, texts: Iterable[ResolvedText]) -> Iterator[SourceEdge]:
    """Edges from code to the procedures and tables of `catalog` that `texts` are the names of.

    Confidence is as in `ProcedureNames.edges`, and EXECUTED_PROCEDURE_CONFIDENCE or NAMED_TABLE_CONFIDENCE where the
    code says what the name is of; for a text in a base class it is at most INHERITED_CONFIDENCE.
    """
    for text in texts:
        most = INHERITED_CONFIDENCE if text.is_inherited else 1.0
        literal = StringLiteral(text.from_key, text.text, text.line)
        match text.role:
            case "read" | "written" as role:
                name = parse_name(_without_holes(text.text))
                relation = Relation.WRITES if role == "written" else Relation.READS
                references = [] if name is None else [(relation, name, NAMED_TABLE_CONFIDENCE)]
            case role:
                named = _procedure_named(text.text)
                references = [] if named is None else _procedure(catalog, named, is_executed=role == "procedure")
        yield from literal_edges(catalog, literal, references, most)


class ProcedureNames:
    """The procedures of a catalog that literals are the names of. Generated code has the same literals many times."""

    def __init__(self, catalog: SqlCatalog) -> None:
        """`catalog` is complete before the first literal is looked up."""
        self._catalog = catalog
        self._procedure = lru_cache(MOST_KEPT_NAMES)(partial(_procedure, catalog))

    def edges(self, literals: Iterable[StringLiteral]) -> Iterator[SourceEdge]:
        """Executes edges from the code that holds `literals` to the procedures that they are the names of.

        Confidence, lowered to that of the name's resolution: QUALIFIED_PROCEDURE_CONFIDENCE for a name with its schema,
        and BARE_PROCEDURE_CONFIDENCE for one without, of MINIMUM_BARE_NAME_CHARACTERS or more.
        """
        for literal in literals if not self._catalog.is_empty else ():
            named = None if literal.has_insertions else _procedure_named(literal.text)
            if named is not None:
                yield from literal_edges(self._catalog, literal, self._procedure(named))


def references_in(statement: Statement) -> tuple[FoundReference, ...]:
    """The objects that a statement depends on, by name.

    Confidence is PARSED_CONFIDENCE for SQL that parses, PIECE_CONFIDENCE for SQL that does not, such as the first half
    of a concatenation. Prose that contains a verb of SQL names nothing: only names in the places where the syntax of a
    statement has them count.
    """
    code = code_tokens(statement.sql, statement.dialect)[statement.first :]
    return tuple(
        (reference.relation, reference.name, PARSED_CONFIDENCE if is_certain else PIECE_CONFIDENCE)
        for reference in read_references(statement.sql, code, statement.dialect).references
        if (is_certain := reference.confidence == READ_WITH_CERTAINTY and not statement.is_piece)
        or statement.is_piece
        or statement.has_marks
    )


def literal_edges(
    catalog: SqlCatalog, literal: StringLiteral, references: Iterable[FoundReference], most: float = 1.0
) -> Iterator[SourceEdge]:
    """The edges from the code that holds `literal` to the objects of `catalog` among `references`.

    Their confidence is at `most` as great as given.
    """
    for relation, name, confidence in references:
        target = catalog.find(name, ADMITTED_TYPES[relation])
        if target is not None:
            key, named = literal.from_key, edge_type(relation, target.object)
            origin = f"{key}, line {literal.line}"
            yield from target.edges(path_in(key), key, named, origin, min(confidence, most))


def shared_table_uses(
    catalog: SqlCatalog,
    literal: StringLiteral,
    references: Iterable[FoundReference],
    demand: NodeAccess,
    most: float = 1.0,
) -> Iterator[TableUse]:
    """The tables among `references` that the tree does not define, for other trees; as `literal_edges`.

    `demand` are the access rules of the code that holds `literal`.
    """
    for relation, name, confidence in references:
        place = (demand, literal.from_key, 0)
        use = catalog.shared_use(name, relation, place, min(confidence, most))
        if use is not None:
            yield use


def _procedure_named(text: str) -> str | None:
    """The name that a text consists of, with or without parameters after it; None for any other text."""
    procedure = _PROCEDURE.fullmatch(_without_holes(text.strip()))
    return procedure.group("name") if procedure is not None else None


def _without_holes(text: str) -> str:
    """The text with HOLE for the parts of names that the code inserts, and ? for other values."""
    return _HOLE.sub(_filling, text)


def _filling(hole: re.Match[str]) -> str:
    around = hole.string[hole.start() - 1 : hole.start()], hole.string[hole.end() : hole.end() + 1]
    is_of_name = any(character in _BESIDE_NAME or character.isalnum() for character in around if character)
    return HOLE if is_of_name else " ? "


def _procedure(catalog: SqlCatalog, written: str, *, is_executed: bool = False) -> list[FoundReference]:
    """The execution of the procedure that `written` names; none when the name could mean another object as well.

    `is_executed`: the code says that the name is that of a procedure.
    """
    name = parse_name(written)
    allowed = frozenset({ObjectType.PROCEDURE}) if is_executed else frozenset(ObjectType)
    resolved = None if name is None else catalog.find(name, allowed)
    if name is None or resolved is None or resolved.object.object_type is not ObjectType.PROCEDURE:
        return []
    confidence = QUALIFIED_PROCEDURE_CONFIDENCE if name.schema else BARE_PROCEDURE_CONFIDENCE
    if is_executed:
        return [(Relation.EXECUTES, name, EXECUTED_PROCEDURE_CONFIDENCE)]
    is_telling = bool(name.schema) or len(name.name) >= MINIMUM_BARE_NAME_CHARACTERS
    return [(Relation.EXECUTES, name, confidence)] if is_telling else []


def _statements(literal: StringLiteral) -> Iterator[Statement]:
    """The SQL in a literal, if it holds any; also that which names nothing of the tree, for tables of other trees."""
    jdbc_call = _JDBC_CALL.fullmatch(literal.text.strip())
    text = literal.text.strip() if jdbc_call is None else jdbc_call.group("call")
    if _ANY_VERB.search(text) is None:
        return
    sql = _without_holes(text)
    dialect = evident_dialect(sql) or Dialect.GENERIC
    code = code_tokens(sql, dialect)
    if not code:
        return
    has_marks = _PUNCTUATION.search(text) is not None
    if code[0].keyword in _BEFORE_FRAGMENT and _written(sql, code[0]).isupper():
        yield Statement(literal, f"{_BEFORE_FRAGMENT[code[0].keyword]} {sql}", dialect, 0, True, has_marks)
        return
    first = _first_statement(sql, code, has_marks)
    if first < len(code):
        yield Statement(literal, sql, dialect, first, False, has_marks)


def _first_statement(sql: str, code: Sequence[Token], has_marks: bool) -> int:
    """The index of the first verb that opens a statement; the length of `code` when all of it is prose.

    A verb in capitals may be anywhere; one in small letters only where a statement can begin. One that begins like a
    sentence ("Update customer") counts only in a text with punctuation that prose does not have.
    """
    for index, token in enumerate(code):
        written = _written(sql, token)
        opens = index == 0 or code[index - 1].keyword in {";", "("}
        is_plausible = written.isupper() or (opens and (written.islower() or has_marks))
        if is_plausible and _has_companion(code, index):
            return index
    return len(code)


def _has_companion(code: Sequence[Token], index: int) -> bool:
    """True if the token at `index` is a verb, followed by what makes it a statement (UPDATE ... SET)."""
    keyword = code[index].keyword
    companions = _COMPANIONS.get(keyword, frozenset())
    return keyword in _CALLS or any(token.keyword in companions for token in code[index + 1 :])


def _written(sql: str, token: Token) -> str:
    return sql[token.start : token.end]


def is_perhaps_sql(literal: StringLiteral) -> bool:
    """True if a literal has a verb of SQL, or is the name of a procedure."""
    return _ANY_VERB.search(literal.text) is not None or _procedure_named(literal.text) is not None
