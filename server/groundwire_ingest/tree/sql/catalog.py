"""The SQL half of a source tree: every SQL file's objects, and the edges between them."""

from collections.abc import Callable, Iterable, Iterator

from groundwire_index.nodes.node import NodeAccess
from groundwire_index.repository_edges.tables import TableUse
from groundwire_ingest.records import SourceEdge
from groundwire_ingest.tree.file_analysis import FileAnalysis
from groundwire_ingest.tree.sql.file import Mention, SqlFile
from groundwire_ingest.tree.sql.object_names import Relation, SqlName
from groundwire_ingest.tree.sql.objects import ADMITTED_TYPES, ObjectIndex, edge_type

REDEFINED_CONFIDENCE = 0.9
REDEFINED_ELSEWHERE_CONFIDENCE = 0.8


class SqlCatalog(ObjectIndex):
    """The objects that the SQL files of a tree define, by name.

    Add every file first, in the order of their paths; then ask for the edges and find objects.
    """

    def __init__(self, demand_of: Callable[[str], NodeAccess] = lambda _: NodeAccess()) -> None:
        super().__init__(demand_of)
        self._mentions: list[Mention] = []
        self._taken: dict[str, int] = {}

    def add(self, read: SqlFile) -> FileAnalysis:
        """The nodes of one SQL file, the edges between the parts of its long chunks, and what was not parsed.

        An object that an earlier file defines as well has the local id of the first with `~2`, `~3` ...
        """
        read = read.renamed(self._taken)
        for name, defined in read.objects:
            self.define(name, defined)
        self._mentions.extend(read.mentions)
        return FileAnalysis(tuple(read.nodes), tuple(read.edges), tuple(read.skipped))

    def edges(self) -> tuple[SourceEdge, ...]:
        """The edges between objects of all added files, in the order of the files, each (from, to, type) once.

        Confidence is 1 where a parsed statement names the object with its schema, or without one and the object is in
        the schema that the file defaults to. It is 0.9 where the schema or database had to be assumed. It is 0.7 where
        the parser passed over errors in the statement, or the SQL is in a string. Of several mentions the surest
        counts. Names that no file defines, and an object's mentions of itself, make no edge.

        `RedefinedBy` leads from all nodes of each older definition of an object to the first node of the current one.
        `ObjectIndex.redefinitions` has the pairs. The confidence is REDEFINED_CONFIDENCE if both are in the same
        schema, else REDEFINED_ELSEWHERE_CONFIDENCE.
        """
        mentioned = (edge for mention in self._mentions for edge in self._edges_of(mention))
        return unique_edges((*mentioned, *self._redefinitions()))

    def _edges_of(self, mention: Mention) -> Iterator[SourceEdge]:
        target = self.find(mention.name, ADMITTED_TYPES[mention.relation], mention.home_schema)
        if target is None:
            return
        path = mention.origin.rpartition(":")[0]
        for from_key, confidence in self._owners(mention, path):
            if from_key not in target.keys:
                named = edge_type(mention.relation, target.object)
                yield from target.edges(path, from_key, named, mention.origin, confidence)

    def shared_uses(self) -> Iterator[TableUse]:
        """The tables that statements name and no file defines, for other trees."""
        for mention in self._mentions:
            path = mention.origin.rpartition(":")[0]
            for from_key, confidence in self._owners(mention, path):
                place = (self.demand_of(path), from_key, 0)
                use = self.shared_use(mention.name, mention.relation, place, confidence, mention.home_schema)
                if use is not None:
                    yield use

    def _owners(self, mention: Mention, path: str) -> Iterator[tuple[str, float]]:
        """The nodes that a mention is of, and how sure that is."""
        if not isinstance(mention.owner, SqlName):
            yield mention.owner, mention.confidence
            return
        owner = self.find(mention.owner, ADMITTED_TYPES[Relation.FOREIGN_KEY], mention.home_schema)
        for key in owner.near(path) if owner is not None else ():
            yield key, min(mention.confidence, owner.confidence if owner is not None else 1.0)

    def _redefinitions(self) -> Iterator[SourceEdge]:
        for older, current in self.redefinitions():
            is_sure = older.schema == current.schema
            confidence = REDEFINED_CONFIDENCE if is_sure else REDEFINED_ELSEWHERE_CONFIDENCE
            for key in (older.key, *older.parts):
                yield SourceEdge(key, current.key, "RedefinedBy", current.origin, confidence)


def unique_edges(edges: Iterable[SourceEdge]) -> tuple[SourceEdge, ...]:
    """`edges` in their order, of those with the same ends and type only the surest, the first among equals."""
    surest: dict[tuple[str, str, str], SourceEdge] = {}
    for edge in edges:
        identity = (edge.from_key, edge.to_key, edge.edge_type)
        known = surest.get(identity)
        if known is None or edge.confidence > known.confidence:
            surest[identity] = edge
    return tuple(surest.values())
