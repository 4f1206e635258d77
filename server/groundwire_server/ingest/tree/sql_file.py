"""One SQL file: its nodes, what it defines, and the names that it mentions, not yet resolved."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from groundwire_server.ingest.records import SkippedFile, SourceEdge, SourceNode
from groundwire_server.ingest.tree.chunking import Span, split_lines
from groundwire_server.ingest.tree.model import SourceFile
from groundwire_server.ingest.tree.sql_definitions import (
    Definition,
    ObjectType,
    altered_table,
    foreign_keys,
    signature,
)
from groundwire_server.ingest.tree.sql_dialect import detect_dialect
from groundwire_server.ingest.tree.sql_lexer import Dialect, Kind, Token
from groundwire_server.ingest.tree.sql_names import DEFAULT_SCHEMAS, SqlName
from groundwire_server.ingest.tree.sql_objects import SqlObject
from groundwire_server.ingest.tree.sql_reader import (
    PARSED_CONFIDENCE,
    Reading,
    dollar_body_tokens,
    read_definition_references,
    read_references,
)
from groundwire_server.ingest.tree.sql_statements import body_statements
from groundwire_server.ingest.tree.sql_tree import Relation
from groundwire_server.ingest.tree.sql_units import Statement, Unit, sql_units

KIND = "sql"
DATA_TYPE = "db_code"
CORPUS_TYPE = "CODE_LOGIC"

_TRIGGER_TABLES = frozenset({"inserted", "deleted"})


@dataclass(frozen=True, slots=True)
class Mention:
    """A name that a node depends on. `owner` is the node's key, or the table whose foreign key it is."""

    owner: str | SqlName
    relation: Relation
    name: SqlName
    confidence: float
    home_schema: str
    origin: str


@dataclass(slots=True)
class SqlFile:
    """What one file gives: `objects` pairs each name with the object it defines, in the file's order."""

    nodes: list[SourceNode]
    edges: list[SourceEdge]
    skipped: list[SkippedFile]
    objects: list[tuple[SqlName, SqlObject]]
    mentions: list[Mention]


def read_sql_file(file: SourceFile, taken: set[str]) -> SqlFile:
    """Reads `file`; `taken` holds the folded local ids used so far and receives those of this file.

    An object defined again, here or in another file, has the local id of the first with `~2`, `~3` ...
    """
    return _FileReader(file, taken).run()


class _FileReader:
    """Walks the units of one file and fills its SqlFile."""

    def __init__(self, file: SourceFile, taken: set[str]) -> None:
        self._path = file.path
        self._text = file.text
        self._dialect = detect_dialect(file.text)
        self._home_schema = DEFAULT_SCHEMAS[self._dialect]
        self._taken = taken
        self._line_starts = [0]
        while (line_end := self._text.find("\n", self._line_starts[-1])) >= 0:
            self._line_starts.append(line_end + 1)
        self._script_spans = 0
        self._result = SqlFile([], [], [], [], [])

    def run(self) -> SqlFile:
        for unit in sql_units(self._text, self._dialect):
            spans = split_lines(self._text[unit.start : unit.end], self._line(unit.start), self._boundaries(unit))
            nodes = self._script_nodes(spans) if unit.definition is None else self._object_nodes(unit, spans)
            self._result.nodes.extend(nodes)
            for statement in unit.statements:
                self._mentions(statement, nodes if unit.definition is None else nodes[:1])
        return self._result

    def _line(self, offset: int) -> int:
        return bisect_right(self._line_starts, offset)

    def _origin(self, line: int) -> str:
        return f"{self._path}:{line}"

    def _boundaries(self, unit: Unit) -> list[int]:
        """Lines where a statement begins, of the unit or of its object's body: good places to cut."""
        offsets = [statement.start for statement in unit.statements]
        for statement in unit.statements:
            if statement.definition is not None:
                body = self._body(statement, statement.definition)
                offsets.extend(body[first].start for first, _ in body_statements(body, self._dialect))
        return [self._line(offset) for offset in offsets]

    def _body(self, statement: Statement, definition: Definition) -> Sequence[Token]:
        first, end = definition.body
        code = statement.code[first:end]
        if len(code) == 1 and code[0].kind is Kind.BODY:
            return dollar_body_tokens(self._text, code[0], self._dialect)
        return code

    def _script_nodes(self, spans: Sequence[Span]) -> list[SourceNode]:
        nodes: list[SourceNode] = []
        for span in spans:
            self._script_spans += 1
            local_id = self._path if self._script_spans == 1 else f"{self._path}@{self._script_spans}"
            nodes.append(self._node(local_id, span, self._path.rpartition("/")[2], ""))
            self._contains(f"{KIND}::{self._path}", nodes[-1])
        return nodes

    def _object_nodes(self, unit: Unit, spans: Sequence[Span]) -> list[SourceNode]:
        definition = unit.definition
        assert definition is not None
        name = SqlName(definition.name.name, definition.name.schema or self._home_schema)
        base = self._free_id(f"{name}|{definition.object_type}")
        defining = next(statement for statement in unit.statements if statement.definition is definition)
        head = signature(self._text, defining.code[slice(*definition.head)])
        nodes: list[SourceNode] = []
        for number, span in enumerate(spans, start=1):
            nodes.append(self._node(base if number == 1 else f"{base}@{number}", span, str(name), head))
            self._contains(nodes[0].key, nodes[-1])
        self._result.objects.append(
            (name, SqlObject(nodes[0].key, definition.object_type, name.folded[0]))
        )
        return nodes

    def _free_id(self, wanted: str) -> str:
        local_id, number = wanted, 1
        while local_id.casefold() in self._taken:
            number += 1
            local_id = f"{wanted}~{number}"
        self._taken.add(local_id.casefold())
        return local_id
