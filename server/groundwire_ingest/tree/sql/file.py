"""One SQL file: its nodes, what it defines, and the names that it mentions, not yet resolved."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from groundwire_index.scope import node_key
from groundwire_ingest.records import SkippedFile, SourceEdge, SourceNode
from groundwire_ingest.tree.chunking import Span, split_lines
from groundwire_ingest.tree.file_analysis import SourceFile
from groundwire_ingest.tree.sql.definitions import Definition, ObjectType, altered_object, foreign_keys, signature
from groundwire_ingest.tree.sql.dialect import detect_dialect
from groundwire_ingest.tree.sql.lexer import Dialect
from groundwire_ingest.tree.sql.object_names import DEFAULT_SCHEMAS, Relation, SqlName
from groundwire_ingest.tree.sql.objects import SqlObject
from groundwire_ingest.tree.sql.standing import standing
from groundwire_ingest.tree.sql.statement_references import (
    PARSED_CONFIDENCE,
    Reading,
    read_option_references,
    read_references,
)
from groundwire_ingest.tree.sql.statements import body_statements
from groundwire_ingest.tree.sql.tokens import closing_parenthesis
from groundwire_ingest.tree.sql.units import Statement, Unit, sql_units

KIND = "sql"
DATA_TYPE = "db_code"
CORPUS_TYPE = "CODE_LOGIC"

_OVERLOADED = frozenset({ObjectType.FUNCTION, ObjectType.PROCEDURE})
_TRIGGER_TABLES = frozenset({"inserted", "deleted"})


@dataclass(frozen=True, slots=True)
class Mention:
    """A name that a node depends on. `owner` is the node's key, or the table whose foreign key it is.

    `home_schema` is the schema of unqualified names in the file, "" where it is unknown.
    """

    owner: str | SqlName
    relation: Relation
    name: SqlName
    confidence: float
    home_schema: str
    origin: str


@dataclass(slots=True)
class SqlFile:
    """The results of one file, each in the file's order; `edges` join a long chunk's parts to its first."""

    nodes: list[SourceNode]
    edges: list[SourceEdge]
    skipped: list[SkippedFile]
    objects: list[tuple[SqlName, SqlObject]]
    mentions: list[Mention]

    def renamed(self, taken: dict[str, int]) -> "SqlFile":
        """The file with local ids that no other file has used; see `_free_id` for `taken`."""
        ids: dict[str, str] = {}
        for name, defined in self.objects:
            wanted = f"{name}|{defined.object_type}"
            ids[defined.key] = node_key(KIND, _free_id(wanted, taken))
        if all(old == new for old, new in ids.items()):
            return self

        def key(old: str) -> str:
            whole, at, part = old.rpartition("@")
            return ids.get(old) or (f"{ids[whole]}@{part}" if at and whole in ids else old)

        return SqlFile(
            [replace(node, local_id=key(node.key).removeprefix(node_key(KIND, ""))) for node in self.nodes],
            [replace(edge, from_key=key(edge.from_key), to_key=key(edge.to_key)) for edge in self.edges],
            self.skipped,
            [
                (name, replace(defined, key=key(defined.key), parts=tuple(map(key, defined.parts))))
                for name, defined in self.objects
            ],
            [
                replace(mention, owner=key(mention.owner)) if isinstance(mention.owner, str) else mention
                for mention in self.mentions
            ],
        )


def read_sql_file(file: SourceFile) -> SqlFile:
    """Reads `file`. An object that it defines again has the local id of the first with `~2`, `~3` ...

    Never raises for the content of the file: a statement that no parser accepts is named in `skipped`. Its text is in a
    node nevertheless, with the references that could be found.
    """
    return _FileReader(file).run()


def _free_id(wanted: str, taken: dict[str, int]) -> str:
    """`wanted`, or with the first suffix `~2`, `~3` ... that makes it new.

    `taken` holds the folded local ids used so far, each with the last suffix given to it.
    """
    folded, local_id = wanted.casefold(), wanted
    while local_id.casefold() in taken:
        taken[folded] += 1
        local_id = f"{wanted}~{taken[folded]}"
    taken[local_id.casefold()] = 1
    return local_id


class _FileReader:
    """Walks the units of one file and fills its SqlFile."""

    def __init__(self, file: SourceFile) -> None:
        self._path = file.path
        self._text = file.text
        self._dialect = detect_dialect(file.text)
        self._home_schema = DEFAULT_SCHEMAS[self._dialect]
        self._taken: dict[str, int] = {}
        self._line_starts = [0]
        while (line_end := self._text.find("\n", self._line_starts[-1])) >= 0:
            self._line_starts.append(line_end + 1)
        self._scripts: list[SourceNode] = []
        self._result = SqlFile([], [], [], [], [])

    def run(self) -> SqlFile:
        for unit in sql_units(self._text, self._dialect):
            spans = split_lines(self._text[unit.start : unit.end], self._line(unit.start), self._boundaries(unit))
            if unit.definition is None:
                nodes = self._script_nodes(spans)
            else:
                nodes = self._object_nodes(unit.definition, spans)[:1]
            for statement in unit.statements:
                self._read(statement, nodes)
        return self._result

    def _line(self, offset: int) -> int:
        return bisect_right(self._line_starts, offset)

    def _boundaries(self, unit: Unit) -> list[int]:
        """Lines where a statement begins, of the unit or of its object's body: good places to cut."""
        offsets = [statement.start for statement in unit.statements]
        if unit.definition is not None:
            body = unit.definition.body
            offsets.extend(body[first].start for first, _ in body_statements(body, self._dialect))
        return [self._line(offset) for offset in offsets]

    def _script_nodes(self, spans: Sequence[Span]) -> list[SourceNode]:
        first = len(self._scripts)
        for span in spans:
            local_id = f"{self._path}@{len(self._scripts) + 1}" if self._scripts else self._path
            self._scripts.append(self._node(local_id, span, self._path.rpartition("/")[2], ""))
        for node in self._scripts[max(first, 1) :]:
            self._contains(self._scripts[0], node)
        return self._scripts[first:]

    def _object_nodes(self, definition: Definition, spans: Sequence[Span]) -> list[SourceNode]:
        name = SqlName(definition.name.name, definition.name.schema or self._home_schema)
        base = _free_id(f"{name}|{definition.object_type}", self._taken)
        head = signature(self._text, definition.head)
        nodes = [
            self._node(f"{base}@{number}" if number > 1 else base, span, str(name), head)
            for number, span in enumerate(spans, start=1)
        ]
        for node in nodes[1:]:
            self._contains(nodes[0], node)
        has_no_schema = self._dialect is Dialect.MYSQL
        schema, bare = name.folded
        defined = SqlObject(
            nodes[0].key,
            definition.object_type,
            schema,
            has_no_schema,
            standing(self._path, bare),
            nodes[0].origin,
            self._variant(definition),
            tuple(node.key for node in nodes[1:]),
        )
        self._result.objects.append((name, defined))
        return nodes

    def _variant(self, definition: Definition) -> str:
        options = definition.options
        if definition.on is not None:
            return definition.on.folded[1]
        has_overloads = self._dialect is Dialect.POSTGRES and definition.object_type in _OVERLOADED
        return signature(self._text, options[: closing_parenthesis(options, 0) + 1]).casefold() if has_overloads else ""

    def _node(self, local_id: str, span: Span, symbol: str, head: str) -> SourceNode:
        node = SourceNode(
            KIND,
            local_id,
            span.text,
            f"{self._path}:{span.start_line}",
            path=self._path,
            start_line=span.start_line,
            end_line=span.end_line,
            symbol=symbol,
            signature=head,
            language=self._dialect.value,
            data_type=DATA_TYPE,
            corpus_type=CORPUS_TYPE,
        )
        self._result.nodes.append(node)
        return node

    def _contains(self, whole: SourceNode, part: SourceNode) -> None:
        self._result.edges.append(SourceEdge(whole.key, part.key, "Contains", part.origin))

    def _read(self, statement: Statement, nodes: Sequence[SourceNode]) -> None:
        """Notes what `statement` mentions; a mention belongs to the one of `nodes` whose lines contain it."""
        first_lines = [node.start_line for node in nodes]

        def owner(offset: int) -> str:
            return nodes[max(0, bisect_right(first_lines, self._line(offset)) - 1)].key

        definition = statement.definition
        if definition is None:
            self._note_altered(statement, owner)
            self._note(read_references(self._text, statement.code, self._dialect), owner)
            return
        start = statement.code[0].start
        for relation, name in _stated_relations(self._text, definition):
            self._mention(owner(start), relation, name, PARSED_CONFIDENCE, start)
        self._note(read_option_references(self._text, definition.options, self._dialect), owner)
        self._note(read_references(self._text, definition.body, self._dialect), owner)

    def _note_altered(self, statement: Statement, owner: Callable[[int], str]) -> None:
        """Notes what ALTER changes; the foreign keys that it adds to a table are those of the table."""
        altered = altered_object(self._text, statement.code)
        if altered is None:
            return
        object_type, name = altered
        start = statement.code[0].start
        self._mention(owner(start), Relation.ALTERS, name, PARSED_CONFIDENCE, start)
        for other in foreign_keys(self._text, statement.code) if object_type is ObjectType.TABLE else ():
            self._mention(name, Relation.FOREIGN_KEY, other, PARSED_CONFIDENCE, start)

    def _note(self, reading: Reading, owner: Callable[[int], str]) -> None:
        for reference in reading.references:
            offset = reference.offset
            self._mention(owner(offset), reference.relation, reference.name, reference.confidence, offset)
        for offset, reason in reading.unparsed:
            why = (
                f"statement at line {self._line(offset)} not parsed ({reason}); "
                "its references are those that were made out"
            )
            self._result.skipped.append(SkippedFile(self._path, why))

    def _mention(self, owner: str | SqlName, relation: Relation, name: SqlName, confidence: float, offset: int) -> None:
        if self._dialect is Dialect.TSQL and not name.schema and name.folded[1] in _TRIGGER_TABLES:
            return
        origin = f"{self._path}:{self._line(offset)}"
        self._result.mentions.append(Mention(owner, relation, name, confidence, self._home_schema, origin))


def _stated_relations(text: str, definition: Definition) -> list[tuple[Relation, SqlName]]:
    """The relations that a definition states outright: its foreign keys, its table, what it is a synonym for."""
    relations: list[tuple[Relation, SqlName]] = []
    if definition.object_type is ObjectType.TABLE:
        relations.extend((Relation.FOREIGN_KEY, name) for name in foreign_keys(text, definition.head))
    if definition.on is not None:
        relations.append((Relation.ON, definition.on))
    if definition.target is not None:
        relations.append((Relation.SYNONYM_FOR, definition.target))
    return relations
