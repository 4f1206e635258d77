"""Edges from code to SQL objects: by SQL and procedure names in string literals, and by ORM entities."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from operator import attrgetter, itemgetter
from typing import TypeAlias

from groundwire_ingest.records import SourceEdge
from groundwire_ingest.tree.facts import CodeFacts, TableChange
from groundwire_ingest.tree.folders import nearest, path_in
from groundwire_ingest.tree.model import EntityMapping, StringLiteral
from groundwire_ingest.tree.names.runtime.entities import EntityUse
from groundwire_ingest.tree.names.runtime.texts import ResolvedText
from groundwire_ingest.tree.sql.catalog import SqlCatalog, unique_edges
from groundwire_ingest.tree.sql.definitions import ObjectType
from groundwire_ingest.tree.sql.dialect import evident_dialect
from groundwire_ingest.tree.sql.lexer import Dialect, Kind, Token
from groundwire_ingest.tree.sql.object_names import HOLE, Relation, SqlName, identifier, parse_name
from groundwire_ingest.tree.sql.objects import ADMITTED_TYPES, ONE_OF_SEVERAL_CONFIDENCE, SqlObject, edge_type
from groundwire_ingest.tree.sql.reader import PARSED_CONFIDENCE as READ_WITH_CERTAINTY
from groundwire_ingest.tree.sql.reader import read_references
from groundwire_ingest.tree.sql.standing import standing
from groundwire_ingest.tree.sql.tokens import code_tokens, keyword_set

PARSED_CONFIDENCE = 0.9
EXECUTED_PROCEDURE_CONFIDENCE = 0.9
"""The code passes the name as that of a procedure to execute."""
NAMED_TABLE_CONFIDENCE = 0.9
MAX_TABLES = 3
INHERITED_CONFIDENCE = 0.8
"""The text is in a member of a base class, with what a class gives for the values in it."""
QUALIFIED_PROCEDURE_CONFIDENCE = 0.8
PIECE_CONFIDENCE = 0.6
BARE_PROCEDURE_CONFIDENCE = 0.6
MINIMUM_BARE_NAME_CHARACTERS = 6

FoundReference: TypeAlias = tuple[Relation, SqlName, float]
"""An object that SQL names, what is done to it, and how sure that is."""

ALTERED = 0.8
"""A step of a migration in code names the table of an SQL file."""
_UNDOES = re.compile(r"[.#](?:Down|down|downgrade|[Dd]own(?=[A-Z_\d])\w*)(?:~\d+)?(?:@\d+)?$")
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
    """SQL of a string literal that names an object of the catalogue, not yet parsed; tokens before `first` are prose.

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


def statements(catalog: SqlCatalog, literals: Iterable[StringLiteral]) -> Iterator[Statement]:
    """The SQL in `literals` that may name an object of `catalog`; `references_in` reads it."""
    for literal in literals:
        if not literal.has_insertions and _procedure_named(literal.text) is None:
            yield from _statements(catalog, literal)


def text_statements(catalog: SqlCatalog, texts: Iterable[ResolvedText]) -> Iterator[Statement]:
    """The SQL in `texts` that may name an object of `catalog`."""
    for text in texts:
        if text.role in ("any", "procedure") and _procedure_named(text.text) is None:
            most = INHERITED_CONFIDENCE if text.is_inherited else 1.0
            for statement in _statements(catalog, StringLiteral(text.from_key, text.text, text.line)):
                yield replace(statement, most=most)


def text_edges(catalog: SqlCatalog, texts: Iterable[ResolvedText]) -> Iterator[SourceEdge]:
    """Edges from code to the procedures and tables of `catalog` that `texts` are the names of.

    Confidence is as in `procedure_edges`, and EXECUTED_PROCEDURE_CONFIDENCE or NAMED_TABLE_CONFIDENCE where the code
    says what the name is of; for a text in a base class it is at most INHERITED_CONFIDENCE.
    """
    for text in texts:
        most = INHERITED_CONFIDENCE if text.is_inherited else 1.0
        literal = StringLiteral(text.from_key, text.text, text.line)
        match text.role:
            case "read" | "written" as role:
                name = parse_name(_without_holes(text.text))
                relation = Relation.WRITES if role == "written" else Relation.READS
                found = [] if name is None else [(relation, name, NAMED_TABLE_CONFIDENCE)]
            case role:
                named = _procedure_named(text.text)
                found = [] if named is None else _procedure(catalog, named, is_executed=role == "procedure")
        yield from literal_edges(catalog, literal, found, most)


def procedure_edges(catalog: SqlCatalog, literals: Iterable[StringLiteral]) -> Iterator[SourceEdge]:
    """Executes edges from the code that holds `literals` to the procedures of `catalog` that they are the names of.

    Confidence, lowered to that of the name's resolution: QUALIFIED_PROCEDURE_CONFIDENCE for a name with its schema, and
    BARE_PROCEDURE_CONFIDENCE for one without, of MINIMUM_BARE_NAME_CHARACTERS or more.
    """
    for literal in literals:
        named = None if literal.has_insertions else _procedure_named(literal.text)
        if named is not None:
            yield from literal_edges(catalog, literal, _procedure(catalog, named))


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
    catalog: SqlCatalog, literal: StringLiteral, found: Iterable[FoundReference], most: float = 1.0
) -> Iterator[SourceEdge]:
    """The edges from the code that holds `literal` to the objects of `catalog` among those that were `found` in it.

    Their confidence is at `most` as great as given.
    """
    for relation, name, confidence in found:
        target = catalog.find(name, ADMITTED_TYPES[relation])
        if target is not None:
            key, named = literal.from_key, edge_type(relation, target.object)
            origin = f"{key}, line {literal.line}"
            yield from target.edges(path_in(key), key, named, origin, min(confidence, most))


def entity_edges(catalog: SqlCatalog, mappings: Iterable[EntityMapping]) -> tuple[SourceEdge, ...]:
    """MapsTo edges from entities to the tables or views of `catalog` that they map to.

    Confidence is the mapping's, lowered to that of the name's resolution. A table that no SQL file defines
    makes no edge.
    """
    return unique_edges(edge for mapping in mappings for edge in _mapping_edges(catalog, mapping))


def entity_use_edges(
    catalog: SqlCatalog, mappings: Iterable[EntityMapping], uses: Iterable[EntityUse]
) -> Iterator[SourceEdge]:
    """ReadsFrom and WritesTo edges from code to the tables or views of `catalog` that the entities it uses map to.

    The surest mapping of an entity counts. Confidence is that of the use, lowered to those of the mapping and of the
    name's resolution, and ONE_OF_SEVERAL_CONFIDENCE where an entity maps to several tables.
    """
    tables: defaultdict[str, list[EntityMapping]] = defaultdict(list)
    for mapping in mappings:
        tables[mapping.from_key].append(mapping)
    for use in uses:
        known = tables.get(use.entity_key, [])
        most = max((mapping.confidence for mapping in known), default=0.0)
        surest = sorted({mapping.table for mapping in known if mapping.confidence == most})
        confidence = min(use.confidence, most if len(surest) == 1 else ONE_OF_SEVERAL_CONFIDENCE)
        relation = Relation.WRITES if use.writes else Relation.READS
        for table in surest if len(surest) <= MAX_TABLES else ():
            name = parse_name(table)
            if name is not None:
                literal = StringLiteral(use.from_key, table, use.line)
                yield from literal_edges(catalog, literal, [(relation, name, confidence)])


def _mapping_edges(catalog: SqlCatalog, mapping: EntityMapping) -> Iterator[SourceEdge]:
    name = parse_name(mapping.table)
    found = None if name is None else catalog.find(name, frozenset({ObjectType.TABLE, ObjectType.VIEW}))
    if found is not None:
        key = mapping.from_key
        yield from found.edges(path_in(key), key, "MapsTo", key, mapping.confidence)


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
    found = None if name is None else catalog.find(name, allowed)
    if name is None or found is None or found.object.object_type is not ObjectType.PROCEDURE:
        return []
    confidence = QUALIFIED_PROCEDURE_CONFIDENCE if name.schema else BARE_PROCEDURE_CONFIDENCE
    if is_executed:
        return [(Relation.EXECUTES, name, EXECUTED_PROCEDURE_CONFIDENCE)]
    is_telling = bool(name.schema) or len(name.name) >= MINIMUM_BARE_NAME_CHARACTERS
    return [(Relation.EXECUTES, name, confidence)] if is_telling else []


def _statements(catalog: SqlCatalog, literal: StringLiteral) -> Iterator[Statement]:
    """The SQL in a literal, if it holds any and names something in `catalog`."""
    jdbc_call = _JDBC_CALL.fullmatch(literal.text.strip())
    text = literal.text.strip() if jdbc_call is None else jdbc_call.group("call")
    if _ANY_VERB.search(text) is None:
        return
    sql = _without_holes(text)
    dialect = evident_dialect(sql) or Dialect.GENERIC
    code = code_tokens(sql, dialect)
    if not any(catalog.knows(identifier(sql, token)) for token in code if token.kind in {Kind.WORD, Kind.QUOTED}):
        return
    has_marks = _PUNCTUATION.search(text) is not None
    if code[0].keyword in _BEFORE_FRAGMENT and _written(sql, code[0]).isupper():
        yield Statement(literal, f"{_BEFORE_FRAGMENT[code[0].keyword]} {sql}", dialect, 0, True, has_marks)
    else:
        yield Statement(literal, sql, dialect, _first_statement(sql, code, has_marks), False, has_marks)


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


CREATED = 0.9
CHANGED = 0.7
MAX_CHANGES = 16
"""With more changes of a table than this, only those that create it get edges."""


def migration_edges(files: Iterable[CodeFacts], mappings: Iterable[EntityMapping]) -> Iterator[SourceEdge]:
    """MapsTo edges from what maps to a table to the nodes that create or change a table of that name.

    Names are compared without case, quotes and schema. If several projects of a tree have a table of the
    name, only the nearest changes count, which share the most folders with the entity.
    """
    changes: defaultdict[str, list[tuple[str, TableChange]]] = defaultdict(list)
    for facts in files:
        for change in facts.table_changes:
            changes[_plain(change.table)].append((facts.path, change))
    for of_table in changes.values():
        of_table.sort(key=itemgetter(0))
    for mapping in mappings:
        near = nearest(path_in(mapping.from_key), changes.get(_plain(mapping.table), []), itemgetter(0))
        created = (item for item in near if item[1].creates)
        for path, change in near if len(near) <= MAX_CHANGES else islice(created, MAX_CHANGES):
            confidence = min(mapping.confidence, CREATED if change.creates else CHANGED)
            yield SourceEdge(mapping.from_key, change.from_key, "MapsTo", f"{path}:{change.line}", confidence, 0)


def define_created_tables(files: Iterable[CodeFacts], catalog: SqlCatalog) -> None:
    """Makes the tables known to `catalog` that no SQL file defines and that migrations in Go create with SQL.

    The node of the function that creates a table stands for it.
    """
    for facts in sorted(files, key=attrgetter("path")):
        for change in facts.table_changes if facts.language == "go" and not facts.is_test else ():
            name = parse_name(change.table) if change.creates and not _UNDOES.search(change.from_key) else None
            if name is not None:
                place = standing(facts.path, name.folded[1])
                origin = f"{facts.path}:{change.line}"
                table = SqlObject(change.from_key, ObjectType.TABLE, "", True, place, origin)
                catalog.define_in_code(name, table)


def is_perhaps_sql(literal: StringLiteral) -> bool:
    """True if a literal has a verb of SQL, or is the name of a procedure."""
    return _ANY_VERB.search(literal.text) is not None or _procedure_named(literal.text) is not None


def altering_edges(files: Iterable[CodeFacts], catalog: SqlCatalog) -> Iterator[SourceEdge]:
    """Alters edges from the steps of migrations to the tables of SQL files, those that undo a step aside."""
    for facts in files:
        for change in facts.table_changes:
            name = None if _UNDOES.search(change.from_key) else parse_name(change.table)
            found = None if name is None else catalog.find(name, frozenset({ObjectType.TABLE}))
            if found is not None:
                origin = f"{facts.path}:{change.line}"
                yield from found.edges(facts.path, change.from_key, Relation.ALTERS.value, origin, ALTERED)


def _plain(table: str) -> str:
    return table.replace("[", "").replace("]", "").replace('"', "").rpartition(".")[2].lower()
