"""SCIP indexes as an indexer would write them, from marks in the texts of files."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from groundwire_ingest.records import SkippedFile, SourceEdge
from groundwire_ingest.tree.scip import scip_pb2
from groundwire_ingest.tree.source import TreeSource

UTF8 = scip_pb2.PositionEncoding.UTF8CodeUnitOffsetFromLineStart


@dataclass(frozen=True, slots=True)
class Mark:
    """A symbol where `name` stands on the 1-based `line`, at its n-th place there; `rows` are the lines around it.

    It is defined there when `rows` or `defines` say so.
    """

    line: int
    name: str
    symbol: str
    rows: tuple[int, int] | None = None
    defines: bool = False
    nth: int = 1


@dataclass(frozen=True, slots=True)
class Entry:
    """What an index says of a file: its marks, and by symbol the symbols that it implements."""

    text: str
    marks: Sequence[Mark]
    implements: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])


def document(path: str, entry: Entry, *, holds_text: bool = False) -> scip_pb2.Document:
    """The document of a file, its columns in UTF-8."""
    lines = entry.text.split("\n")
    made = scip_pb2.Document(relative_path=path, position_encoding=UTF8, text=entry.text if holds_text else "")
    for mark in entry.marks:
        occurrence = made.occurrences.add(symbol=mark.symbol)
        start = _column(lines[mark.line - 1], mark)
        occurrence.range.extend((mark.line - 1, start, start + len(mark.name.encode())))
        if mark.rows:
            occurrence.enclosing_range.extend((mark.rows[0] - 1, 0, mark.rows[1] - 1, 1))
        if mark.rows or mark.defines:
            occurrence.symbol_roles = scip_pb2.SymbolRole.Definition
    for symbol, bases in entry.implements.items():
        information = made.symbols.add(symbol=symbol)
        for base in bases:
            information.relationships.add(symbol=base, is_implementation=True)
    return made


def encoded_varint(value: int) -> bytes:
    """A number as protobuf writes it."""
    varint = b""
    while value > 0x7F:
        varint += bytes([value & 0x7F | 0x80])
        value >>= 7
    return varint + bytes([value])


def index(documents: Iterable[scip_pb2.Document], project_root: str = "file:///build") -> bytes:
    """A whole index."""
    metadata = scip_pb2.Metadata(project_root=project_root, tool_info=scip_pb2.ToolInfo(name="test"))
    return scip_pb2.Index(metadata=metadata, documents=documents).SerializeToString(deterministic=True)


def write_tree(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """Writes files by path and returns their folder."""
    for path, content in files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


def edges_of(root: Path) -> dict[tuple[str, str, str], SourceEdge]:
    """The edges of a tree, Contains aside, by start, type and end without kinds: `a.py#f`."""
    edges = (record for record in TreeSource(root).read() if isinstance(record, SourceEdge))
    return {
        (_plain(edge.from_key), edge.edge_type, _plain(edge.to_key)): edge
        for edge in edges
        if edge.edge_type != "Contains"
    }


def notes_of(root: Path) -> dict[str, str]:
    """What of a tree could not be used, by path."""
    return {record.path: record.why for record in TreeSource(root).read() if isinstance(record, SkippedFile)}


def _column(line: str, mark: Mark) -> int:
    """The column of the n-th place of the name, in bytes."""
    *before, _ = line.split(mark.name, mark.nth)
    assert len(before) == mark.nth, f"{mark} is not in {line!r}"
    return len(mark.name.join(before).encode())


def _plain(key: str) -> str:
    return key.partition("::")[2]
