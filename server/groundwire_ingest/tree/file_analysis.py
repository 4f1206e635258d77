"""The data that the readers of a tree share: a decoded file, what one file yields, and a set of edges."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from groundwire_ingest.records import SkippedFile, SourceEdge, SourceNode


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A decoded text file; `path` is relative to the tree with forward slashes, `language` a name such as `python`.

    `note` says what is to be told of how it was decoded; empty if that was as it should be.
    """

    path: str
    text: str
    language: str
    note: str = ""

    @property
    def notes(self) -> tuple[SkippedFile, ...]:
        """The `note`, if there is one, for the report of a build."""
        return (SkippedFile(self.path, self.note),) if self.note else ()


@dataclass(frozen=True, slots=True)
class StringLiteral:
    """A string literal's value inside a code node, which is searched for SQL, settings and paths.

    `has_insertions`: values are inserted into it, and the facts of the file say which.
    """

    from_key: str
    text: str
    line: int
    has_insertions: bool = False


@dataclass(frozen=True, slots=True)
class EntityMapping:
    """A code node that an ORM maps to a table (`[Table("x")]`, `DbSet<Invoice> Invoices`, `__tablename__ = "x"`).

    `confidence` is 1 for an explicit table name, less for one derived by the ORM's convention.
    """

    from_key: str
    table: str
    confidence: float


@dataclass(frozen=True, slots=True)
class FileAnalysis:
    """The nodes of one file, the edges that follow from it alone, what could not be used of it, and its text."""

    nodes: tuple[SourceNode, ...] = ()
    edges: tuple[SourceEdge, ...] = ()
    skipped: tuple[SkippedFile, ...] = ()
    text: str = ""

    def noted(self, notes: tuple[SkippedFile, ...]) -> "FileAnalysis":
        """The same with further notes in front."""
        return replace(self, skipped=(*notes, *self.skipped)) if notes else self


class TreeEdges:
    """Edges, one for each pair of ends and type: the most confident, then that of the first line; none to itself."""

    def __init__(self) -> None:
        self._edges: dict[tuple[str, str, str], SourceEdge] = {}

    def add(self, edges: Iterable[SourceEdge]) -> None:
        """Adds edges."""
        for edge in edges:
            place = (edge.from_key, edge.to_key, edge.edge_type)
            known = self._edges.get(place)
            if edge.from_key != edge.to_key and (known is None or _rank(edge) < _rank(known)):
                self._edges[place] = edge

    def sorted(self) -> Iterator[SourceEdge]:
        """The edges, sorted by their ends and type."""
        for place in sorted(self._edges):
            yield self._edges[place]


class FileEdges(TreeEdges):
    """Edges from the nodes of the file at `path`."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self._path = path

    def note(self, from_key: str, to_key: str, edge_type: str, line: int, confidence: float) -> None:
        """Adds an edge that is written on a line of the file."""
        self.add((SourceEdge(from_key, to_key, edge_type, f"{self._path}:{line}", confidence, line),))


def _rank(edge: SourceEdge) -> tuple[float, int]:
    return -edge.confidence, edge.line
