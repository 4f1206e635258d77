"""Reading order: which chunks stand before and after each other in one document."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groundwire_server.domain.nodes import Node
from groundwire_server.index.errors import IndexDamagedError
from groundwire_server.index.files import map_array, map_bytes, write_array

NO_DOCUMENT = -1
_ORDER_FILE = "reading_order.bin"
_STARTS_FILE = "reading_order.starts.bin"


def write_reading_order(directory: Path, nodes: Sequence[Node]) -> None:
    """Writes the reading order of nodes that are sorted by id."""
    document, count = _documents(nodes)
    # Rows without a document stand last, so that the documents' spans start at 0.
    key = np.where(document == NO_DOCUMENT, count, document)
    lines = np.asarray([node.location.start_line for node in nodes], dtype=np.int32)
    chunks = np.asarray([node.chunk_index for node in nodes], dtype=np.int32)
    order = np.lexsort((lines, chunks, key)).astype(np.int32)
    place = np.empty_like(order)
    place[order] = np.arange(len(order), dtype=np.int32)
    starts = np.zeros(count + 1, dtype=np.int64)
    np.cumsum(np.bincount(document[document != NO_DOCUMENT], minlength=count), out=starts[1:])
    write_array(directory / _ORDER_FILE, np.stack((order, place, document)))
    write_array(directory / _STARTS_FILE, starts)


class ReadingOrder:
    """The mapped reading order of an index; all arrays [n].

    `order` are the rows by (document, chunk index, start line, row), those without a document last; `place` is its
    inverse; `document` is the number of each row's document, NO_DOCUMENT for a node with neither document id nor path.
    """

    def __init__(self, directory: Path, count: int) -> None:
        """Maps the order of `count` rows. Raises IndexDamagedError."""
        columns = map_array(directory / _ORDER_FILE, np.int32, (3, count))
        self.order: NDArray[np.int32] = columns[0]
        self.place: NDArray[np.int32] = columns[1]
        self.document: NDArray[np.int32] = columns[2]
        documents = len(map_bytes(directory / _STARTS_FILE)) // 8 - 1
        self._starts = map_array(directory / _STARTS_FILE, np.int64, (documents + 1,))
        for values, least, end in (
            (self.order, 0, count),
            (self.place, 0, count),
            (self.document, NO_DOCUMENT, documents),
        ):
            if count and not least <= int(values.min()) <= int(values.max()) < end:
                raise IndexDamagedError(f"{_ORDER_FILE}: names rows or documents that there are not")

    def before(self, row: int) -> NDArray[np.int32]:
        """The rows before this one in its document, the nearest first."""
        document = int(self.document[row])
        if document == NO_DOCUMENT:
            return self.order[:0]
        return self.order[int(self._starts[document]) : int(self.place[row])][::-1]

    def after(self, row: int) -> NDArray[np.int32]:
        """The rows after this one in its document, the nearest first."""
        document = int(self.document[row])
        if document == NO_DOCUMENT:
            return self.order[:0]
        return self.order[int(self.place[row]) + 1 : int(self._starts[document + 1])]


def _documents(nodes: Sequence[Node]) -> tuple[NDArray[np.int32], int]:
    """Each row's document number, in the order of the documents' keys, and how many there are."""
    keys = [(node.document_id or node.location.path, node.repo_name, node.document_version_id) for node in nodes]
    distinct = sorted({key for key in keys if key[0]})
    numbers = {key: number for number, key in enumerate(distinct)}
    return np.asarray([numbers.get(key, NO_DOCUMENT) for key in keys], dtype=np.int32), len(distinct)
