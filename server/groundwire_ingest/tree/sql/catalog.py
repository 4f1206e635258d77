"""The SQL half of a source tree: every SQL file's objects, and the edges between them."""

from collections.abc import Iterable

from groundwire_ingest.records import SourceEdge
from groundwire_ingest.tree.model import FileAnalysis, SourceFile
from groundwire_ingest.tree.sql.definitions import ObjectType
from groundwire_ingest.tree.sql.file import Mention, read_sql_file
from groundwire_ingest.tree.sql.object_names import SqlName, parse_name
from groundwire_ingest.tree.sql.objects import (
    ADMITTED_TYPES,
    ObjectIndex,
    Resolved,
    edge_type,
)
from groundwire_ingest.tree.sql.tree import Relation


class SqlCatalog:
    """The objects that the SQL files of a tree define, by name.

    Add every file first, always in the same order; then ask for the edges and resolve names.
    """

    def __init__(self) -> None:
        self._objects = ObjectIndex()
        self._mentions: list[Mention] = []
        self._taken: dict[str, int] = {}

    def add(self, file: SourceFile) -> FileAnalysis:
        """The nodes of one SQL file, the edges between the parts of its long chunks, and what was not parsed.

        Never raises for what the file holds: a statement that no parser accepts is named in `skipped`, its
        text is in a node all the same, with the references that could be made out.
        """
        read = read_sql_file(file, self._taken)
        for name, defined in read.objects:
            self._objects.add(name, defined)
        self._mentions.extend(read.mentions)
        return FileAnalysis(tuple(read.nodes), tuple(read.edges), tuple(read.skipped))

    def edges(self) -> tuple[SourceEdge, ...]:
        """The edges between objects of all added files, in the order of the files, each (from, to, type) once.

        Confidence is 1 where a parsed statement names the object with its schema, or without one and the
        object is in the schema that the file defaults to; 0.9 where the schema or database had to be
        assumed; 0.7 where the parser passed over errors in the statement, or the SQL is in a string.
        Of several mentions the surest counts. Names that no file defines, and an object's mentions of
        itself, make no edge.
        """
        return unique_edges(edge for mention in self._mentions for edge in self._edges_of(mention))

    def resolve(self, name: str) -> str | None:
        """The node key of the object that `name` means, such as `dbo.Invoice`, `[dbo].[Invoice]` or `invoice`.

        Case does not matter. Without a schema the name means the object in dbo, public or no schema, else
        the only one of that name. None when nothing, or more than one object, has the name.
        """
        parsed = parse_name(name)
        found = None if parsed is None else self._objects.find(parsed)
        return None if found is None else found.object.key

    def find(self, name: SqlName, allowed: frozenset[ObjectType], home_schema: str | None = None) -> Resolved | None:
        """The object of an allowed type that `name` means; see `ObjectIndex.find`."""
        return self._objects.find(name, allowed, home_schema)

    def knows(self, bare_name: str) -> bool:
        """Whether an object of any schema has this name, given without quotes; case does not matter."""
        return self._objects.knows(bare_name)

    def _edges_of(self, mention: Mention) -> Iterable[SourceEdge]:
        target = self.find(mention.name, ADMITTED_TYPES[mention.relation], mention.home_schema)
        from_key, confidence = mention.owner, mention.confidence
        if isinstance(from_key, SqlName):
            owner = self.find(from_key, ADMITTED_TYPES[Relation.FOREIGN_KEY], mention.home_schema)
            if owner is None:
                return
            from_key, confidence = owner.object.key, min(confidence, owner.confidence)
        if target is not None and target.object.key != from_key:
            yield SourceEdge(
                from_key,
                target.object.key,
                edge_type(mention.relation, target.object),
                mention.origin,
                min(confidence, target.confidence),
            )


def unique_edges(edges: Iterable[SourceEdge]) -> tuple[SourceEdge, ...]:
    """`edges` in their order, of those with the same ends and type only the surest, the first among equals."""
    surest: dict[tuple[str, str, str], SourceEdge] = {}
    for edge in edges:
        identity = (edge.from_key, edge.to_key, edge.edge_type)
        known = surest.get(identity)
        if known is None or edge.confidence > known.confidence:
            surest[identity] = edge
    return tuple(surest.values())
