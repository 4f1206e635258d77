"""The documents of a SCIP index, one at a time: who defines and names what on which line.

The format is https://github.com/sourcegraph/scip (scip.proto). An index may be far larger than memory, so its top-level
fields are found by hand, as the protocol asks readers to do, and only one document is parsed at a time.

Workers call these functions, because an index may be as hostile as any file. `root` and `path` name it as in
`files_below`.
"""

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import SEEK_CUR
from pathlib import Path, PurePosixPath
from typing import BinaryIO
from urllib.parse import unquote, urlsplit

from google.protobuf.message import DecodeError

from groundwire_ingest.files_below import open_below
from groundwire_ingest.ingest_errors import IngestError
from groundwire_ingest.tree.scip import scip_pb2
from groundwire_ingest.tree.scip.positions import Occurrence

MAX_DOCUMENTS = 200_000
MAX_DOCUMENT_BYTES = 32 << 20
"""The largest document that is parsed; it takes several times as much memory."""
MAX_OCCURRENCES = 500_000
"""How many places of symbols, and how many symbols, a document may have."""

MAX_RELATIONS = 100
"""How many relationships of one symbol count."""

_METADATA_TAG, _DOCUMENT = b"\x0a", 2
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
    columns count.
    """

    path: str
    unit: str
    occurrences: Sequence[Occurrence]
    relations: Mapping[str, Sequence[Relation]]


@dataclass(frozen=True, slots=True)
class DocumentPlace:
    """Where an index holds a document: its first byte and length, its path, and whether the file's text is with it."""

    start: int
    length: int
    path: str
    has_text: bool


@dataclass(frozen=True, slots=True)
class Outline:
    """What an index holds.

    `folders` lead down to the one that was indexed, as its machine called them. `documents` are in the order of the
    index. `skipped` says how many others cannot be used, and why.
    """

    folders: tuple[str, ...]
    documents: tuple[DocumentPlace, ...]
    skipped: tuple[str, ...]


def is_scip(path: Path) -> bool:
    """True if a file starts as an index does: with metadata that name an indexer or its folder. Raises OSError."""
    with path.open("rb") as stream:
        try:
            metadata = _metadata(stream, path)
        except IngestError:
            return False
    return bool(metadata.project_root or metadata.tool_info.name)


def outline(root: Path, path: str) -> Outline:
    """What an index holds. Raises IngestError where the file is no index, breaks off or holds too much, and OSError."""
    file = root / path
    listed: list[DocumentPlace] = []
    skipped: Counter[str] = Counter()
    with open_below(root, path) as stream:
        folders = unquote(urlsplit(_metadata(stream, file).project_root).path).split("/")
        for place, field, length in _fields(stream, file):
            if field != _DOCUMENT or length > MAX_DOCUMENT_BYTES:
                skipped[f"of more than {MAX_DOCUMENT_BYTES} bytes"] += field == _DOCUMENT
                stream.seek(length, SEEK_CUR)
                continue
            start = stream.tell()
            message = _parsed(stream.read(length), file, place)
            if not _is_inside(message.relative_path):
                skipped["with a path that is not relative, or has '.' or '..'"] += 1
            elif max(len(message.occurrences), len(message.symbols)) > MAX_OCCURRENCES:
                skipped[f"with more than {MAX_OCCURRENCES} occurrences or symbols"] += 1
            elif len(listed) == MAX_DOCUMENTS:
                raise IngestError(f"{file}: holds more than {MAX_DOCUMENTS} documents; index parts of the tree")
            else:
                listed.append(DocumentPlace(start, length, message.relative_path, bool(message.text)))
    reasons = (f"{count:,} documents {why}" for why, count in sorted(skipped.items()) if count)
    return Outline(tuple(filter(None, folders)), tuple(listed), tuple(reasons))


def document_at(root: Path, path: str, place: DocumentPlace) -> Document:
    """A document of an index. Raises IngestError where it cannot be used, and OSError."""
    return _document(_message(root, path, place), root / path)


def text_at(root: Path, path: str, place: DocumentPlace) -> str:
    """The text in a document of an index. Raises IngestError where it cannot be parsed, and OSError."""
    return _message(root, path, place).text


def _message(root: Path, path: str, place: DocumentPlace) -> scip_pb2.Document:
    with open_below(root, path) as stream:
        stream.seek(place.start)
        return _parsed(stream.read(place.length), root / path, place.start)


def _metadata(stream: BinaryIO, path: Path) -> scip_pb2.Metadata:
    """The first field, which must be the metadata."""
    starts_well = stream.read(1) == _METADATA_TAG
    stream.seek(0)
    place, _, length = next(_fields(stream, path)) if starts_well else (0, 0, 0)
    if not starts_well or length > _MAX_METADATA_BYTES:
        raise IngestError(f"{path}: is no SCIP index, for it does not start with metadata; {_ADVICE}")
    try:
        return scip_pb2.Metadata.FromString(stream.read(length))
    except DecodeError as error:
        raise _broken(path, place, "metadata that cannot be parsed") from error


def _fields(stream: BinaryIO, path: Path) -> Iterator[tuple[int, int, int]]:
    """Where each field of bytes starts, its number and its length; the caller reads it, or seeks past it."""
    size = os.fstat(stream.fileno()).st_size
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
            stream.seek(_FIXED_SIZES[kind], SEEK_CUR)
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


def _document(message: scip_pb2.Document, path: Path) -> Document:
    return Document(
        path=message.relative_path,
        unit=_UNITS.get(message.position_encoding, "utf-16-le"),
        occurrences=tuple(_occurrences(message, path)),
        relations={information.symbol: tuple(_relations(information)) for information in message.symbols},
    )


def _is_inside(path: str) -> bool:
    is_canonical = str(PurePosixPath(path)) == path and ".." not in path.split("/") and path != "."
    return is_canonical and "\0" not in path and not path.startswith("/")


def _occurrences(message: scip_pb2.Document, path: Path) -> Iterator[Occurrence]:
    symbols: dict[str, str] = {}
    for item in message.occurrences:
        symbol = symbols.setdefault(item.symbol, item.symbol)
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
