"""The documents of a SCIP index, one at a time: who defines and names what on which line.

The format is https://github.com/sourcegraph/scip (scip.proto). An index may be far larger than memory, so its top-level
fields are found by hand, as the protocol asks readers to do, and only one document is parsed at a time.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO
from urllib.parse import unquote, urlsplit

from google.protobuf.message import DecodeError

from groundwire_ingest.errors import IngestError
from groundwire_ingest.records import SkippedFile
from groundwire_ingest.scip import scip_pb2
from groundwire_ingest.scip.positions import Occurrence

MAX_DOCUMENT_BYTES = 128 << 20
"""The largest document that is parsed; it takes a few times as much memory."""

MAX_RELATIONS = 100
"""How many relationships of one symbol count."""

_METADATA, _DOCUMENT = 1, 2
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_FIXED_SIZES = {_FIXED64: 8, _FIXED32: 4}
_UNITS = {
    scip_pb2.PositionEncoding.UTF8CodeUnitOffsetFromLineStart: "utf-8",
    scip_pb2.PositionEncoding.UTF32CodeUnitOffsetFromLineStart: "utf-32-le",
}
"""The codecs whose code units columns count.

Indexers that do not say are older than the question; they run on Node or a JVM, whose strings are UTF-16.
"""
_MAX_VARINT_BYTES = 10
_MAX_METADATA_BYTES = 1 << 20
_LOCAL = "local "
_ADVICE = "make the index anew with its indexer"


@dataclass(frozen=True, slots=True)
class Relation:
    """A symbol's statement about another one; `is_implementation` of a base type or of a member that it implements."""

    symbol: str
    is_implementation: bool


@dataclass(frozen=True, slots=True)
class Document:
    """The content of an index about one file, without symbols that are local to it.

    `path` is relative to the folder that was indexed, with forward slashes. `unit` is the codec whose code units the
    columns count. `text` is the file's text where the index holds it, else empty.
    """

    path: str
    unit: str
    text: str
    occurrences: Sequence[Occurrence]
    relations: Mapping[str, Sequence[Relation]]


def is_scip(path: Path) -> bool:
    """True if a file starts as an index does: with metadata that name an indexer or its folder. Raises OSError."""
    with path.open("rb") as stream:
        try:
            metadata = _metadata(stream, path)
        except IngestError:
            return False
    return bool(metadata.project_root or metadata.tool_info.name)


def project_folders(path: Path) -> tuple[str, ...]:
    """The folders down to the one that was indexed, as its machine called them. Raises IngestError, OSError."""
    with path.open("rb") as stream:
        root = urlsplit(_metadata(stream, path).project_root)
    return tuple(part for part in unquote(root.path).split("/") if part)


def documents(path: Path) -> Iterator[Document | SkippedFile]:
    """The documents in the order of the index.

    A document that is too large, or whose path leads out of the indexed folder, is a SkippedFile.
    Raises IngestError where the file is no index or breaks off, and OSError.
    """
    with path.open("rb") as stream:
        size = path.stat().st_size
        for place, field, length in _fields(stream, size, path):
            if field != _DOCUMENT:
                stream.seek(length, 1)
            elif length > MAX_DOCUMENT_BYTES:
                stream.seek(length, 1)
                why = f"a document of {length} bytes at byte {place}; more than {MAX_DOCUMENT_BYTES} are not read"
                yield SkippedFile(path.name, why)
            else:
                yield _document(_parsed(stream.read(length), path, place), path)


def _metadata(stream: BinaryIO, path: Path) -> scip_pb2.Metadata:
    place, field, length = next(_fields(stream, path.stat().st_size, path), (0, 0, 0))
    if field != _METADATA or length > _MAX_METADATA_BYTES:
        raise IngestError(f"{path}: is no SCIP index, for it does not start with metadata; {_ADVICE}")
    try:
        return scip_pb2.Metadata.FromString(stream.read(length))
    except DecodeError as error:
        raise _broken(path, place, "metadata that cannot be parsed") from error


def _fields(stream: BinaryIO, size: int, path: Path) -> Iterator[tuple[int, int, int]]:
    """Where each field of bytes starts, its number and its length; the caller reads it, or seeks past it."""
    while (place := stream.tell()) < size:
        tag = _varint(stream, path, place)
        kind = tag & 7
        if kind == _BYTES:
            length = _varint(stream, path, place)
            if length > size - stream.tell():
                raise _broken(path, place, f"a field of {length} bytes, more than the file holds")
            yield place, tag >> 3, length
        elif kind == _VARINT:
            _varint(stream, path, place)
        elif kind in _FIXED_SIZES:
            stream.seek(_FIXED_SIZES[kind], 1)
        else:
            raise _broken(path, place, f"a field of type {kind}, which protobuf does not have")


def _varint(stream: BinaryIO, path: Path, place: int) -> int:
    value = 0
    for index in range(_MAX_VARINT_BYTES):
        byte = stream.read(1)
        if not byte:
            break
        value |= (byte[0] & 0x7F) << (7 * index)
        if byte[0] < 0x80:
            return value
    raise _broken(path, place, "a number that does not end")


def _parsed(content: bytes, path: Path, place: int) -> scip_pb2.Document:
    try:
        return scip_pb2.Document.FromString(content)
    except DecodeError as error:
        raise _broken(path, place, "a document that cannot be parsed") from error


def _document(message: scip_pb2.Document, path: Path) -> Document | SkippedFile:
    if not _is_inside(message.relative_path):
        why = f"a document at {message.relative_path[:200]!r}; a path must be relative, without '.' and '..'"
        return SkippedFile(path.name, why)
    return Document(
        path=message.relative_path,
        unit=_UNITS.get(message.position_encoding, "utf-16-le"),
        text=message.text,
        occurrences=tuple(_occurrences(message, path)),
        relations={information.symbol: tuple(_relations(information)) for information in message.symbols},
    )


def _is_inside(path: str) -> bool:
    is_canonical = str(PurePosixPath(path)) == path and ".." not in path.split("/") and path != "."
    return is_canonical and "\0" not in path and not path.startswith("/")


def _occurrences(message: scip_pb2.Document, path: Path) -> Iterator[Occurrence]:
    for item in message.occurrences:
        symbol = item.symbol
        if not symbol or symbol.startswith(_LOCAL):
            continue
        row, start, end_row, end = _range(item.range, message, path)
        around = _range(item.enclosing_range, message, path) if item.enclosing_range else None
        yield Occurrence(
            symbol=symbol,
            row=row,
            start=start,
            end=end if end_row == row else -1,
            is_definition=bool(item.symbol_roles & scip_pb2.SymbolRole.Definition),
            is_import=bool(item.symbol_roles & scip_pb2.SymbolRole.Import),
            first_row=around[0] if around else -1,
            last_row=around[2] if around else -1,
        )


def _range(numbers: Sequence[int], message: scip_pb2.Document, path: Path) -> tuple[int, int, int, int]:
    """Row and column of the start, row and column of the end."""
    match tuple(numbers):
        case (row, start, end):
            return row, start, row, end
        case (row, start, end_row, end):
            return row, start, end_row, end
    raise IngestError(
        f"{path}: document {message.relative_path!r} has a range of {len(numbers)} numbers; "
        f"a range has three or four: {_ADVICE}"
    )


def _relations(information: scip_pb2.SymbolInformation) -> Iterator[Relation]:
    for relation in information.relationships[:MAX_RELATIONS]:
        if relation.is_implementation or relation.is_reference or relation.is_type_definition:
            yield Relation(relation.symbol, relation.is_implementation)


def _broken(path: Path, place: int, what: str) -> IngestError:
    return IngestError(f"{path}: is no SCIP index or breaks off: {what} at byte {place}; {_ADVICE}")
