"""What readers of a tree hand each other: a decoded file, what one file says of itself, and edges, each kept once."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from groundwire_ingest.records import SkippedFile, SourceEdge, SourceNode


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A decoded text file; `path` is relative to the tree with forward slashes, `language` a name such as `python`."""

    path: str
    text: str
    language: str


@dataclass(frozen=True, slots=True)
class StringLiteral:
    """A string literal's value inside a code node; the raw material for SQL named in code."""

    from_key: str
    text: str
    line: int


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
    """The nodes of one file, the edges that need no other file to resolve, and the parts that could not be used."""

    nodes: tuple[SourceNode, ...] = ()
    edges: tuple[SourceEdge, ...] = ()
    skipped: tuple[SkippedFile, ...] = ()


class TreeEdges:
    """Edges by their ends and type, none from a node to itself; of several alike the surest, then the first line."""

    def __init__(self) -> None:
        self._edges: dict[tuple[str, str, str], SourceEdge] = {}

    def add(self, edges: Iterable[SourceEdge]) -> None:
        """Notes edges."""
        for edge in edges:
            place = (edge.from_key, edge.to_key, edge.edge_type)
            known = self._edges.get(place)
            if edge.from_key != edge.to_key and (known is None or _rank(edge) < _rank(known)):
                self._edges[place] = edge

    def sorted(self) -> Iterator[SourceEdge]:
        """The edges by their ends and type."""
        for place in sorted(self._edges):
            yield self._edges[place]


class FileEdges(TreeEdges):
    """Edges from the nodes of the file at `path`."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self._path = path

    def note(self, from_key: str, to_key: str, edge_type: str, line: int, confidence: float) -> None:
        """Notes an edge that stands on a line of the file."""
        self.add((SourceEdge(from_key, to_key, edge_type, f"{self._path}:{line}", confidence, line),))


def _rank(edge: SourceEdge) -> tuple[float, int]:
    return -edge.confidence, edge.line
