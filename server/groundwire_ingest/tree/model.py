"""What the readers of a source tree hand each other: a decoded file, and what one file says of itself."""

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
