"""Files that a server reads whole: source texts, ends of edges to other repositories, and the classes of all nodes.

A file is cut into pieces of PIECE_BYTES. Each piece is a fact of its own, compressed.
"""

import base64
import hashlib
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from groundwire_index.index_errors import IndexDamagedError
from groundwire_index.store.manifest import FileEntry
from groundwire_milvus.facts import FILE_PIECE, fact_key, read_facts
from groundwire_milvus.store import MilvusStore

PIECE_BYTES: Final = 1 << 20
_PIECES_AT_A_TIME = 8
CLASSES_FILE: Final = "classes.bin"
"""The visibility class of each node, a column of 32-bit integers."""
ENDS_ROWS_FILE: Final = "ends.rows.bin"
"""The row of each node that the ends name, in the order of their keys, -1 for one that the index lacks; 64 bits."""
CLASS_NUMBER: Final = np.dtype("<i4")
ROW_NUMBER: Final = np.dtype("<i8")


def file_facts(name: str, file: BinaryIO) -> Iterator[tuple[str, str]]:
    """The facts of a file: the key and the content of each."""
    number = 0
    while piece := file.read(PIECE_BYTES):
        # At the fastest level code takes a third of its size, before base64.
        yield _piece_key(name, number), base64.b64encode(zlib.compress(piece, zlib.Z_BEST_SPEED)).decode("ascii")
        number += 1


def column_entry(name: str, column: NDArray[np.integer]) -> FileEntry:
    """The entry of a column that is stored as a file."""
    content = column.tobytes()
    return FileEntry(name, len(content), hashlib.sha256(content).hexdigest())


def file_pieces(store: MilvusStore, facts: str, entry: FileEntry) -> Iterator[bytes]:
    """The pieces of a file, in order; a few are read at a time.

    Args:
        store: Where the file is.
        facts: The name of the collection of facts.
        entry: The name, size and checksum of the file.

    Raises:
        IndexDamagedError: A piece is missing or damaged, or all together are not what the entry says. The latter is
            known behind the last piece, so nothing may be used before.
        StorageUnavailableError: Milvus does not answer.
        CollectionMissingError: The version was deleted.
    """
    count = -(-entry.bytes // PIECE_BYTES)
    checksum = hashlib.sha256()
    for first in range(0, count, _PIECES_AT_A_TIME):
        keys = [_piece_key(entry.name, number) for number in range(first, min(first + _PIECES_AT_A_TIME, count))]
        contents = read_facts(store, facts, keys)
        if len(contents) < len(keys):
            raise IndexDamagedError(f"{facts}: lacks {len(keys) - len(contents)} pieces of {entry.name}")
        for key in keys:
            piece = _unpacked(entry.name, contents[key])
            checksum.update(piece)
            yield piece
    if checksum.hexdigest() != entry.sha256:
        raise IndexDamagedError(f"{facts}: {entry.name} does not match its checksum in the catalogue")


def copy_file(store: MilvusStore, facts: str, entry: FileEntry, directory: Path) -> None:
    """Writes a file into a directory. Raises as `file_pieces`, and OSError."""
    with (directory / entry.name).open("xb") as file:
        for piece in file_pieces(store, facts, entry):
            file.write(piece)


def _piece_key(name: str, number: int) -> str:
    return fact_key(FILE_PIECE, f"{name}/{number}")


def _unpacked(name: str, packed: str) -> bytes:
    decompressor = zlib.decompressobj()
    try:
        piece = decompressor.decompress(base64.b64decode(packed), PIECE_BYTES)
    except (ValueError, zlib.error) as error:
        raise IndexDamagedError(f"a piece of {name} cannot be decompressed: {error}") from error
    if not decompressor.eof:
        raise IndexDamagedError(f"a piece of {name} is longer than {PIECE_BYTES} bytes, or was cut off")
    return piece
