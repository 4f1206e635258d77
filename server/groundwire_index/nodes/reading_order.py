"""Reading order: which chunk comes before and after another in its document."""

from array import array
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groundwire_index.files.durable_files import map_array, write_array
from groundwire_index.files.spans import positions_of
from groundwire_index.index_errors import IndexDamagedError
from groundwire_index.lexical.term_runs import merged_terms
from groundwire_index.nodes.categories import Category
from groundwire_index.nodes.node_table import NodeTable

NO_DOCUMENT = -1
_ORDER_FILE = "reading_order.bin"
_STARTS_FILE = "reading_order.starts.bin"


def write_reading_order(directory: Path, nodes: NodeTable) -> None:
    """Writes the reading order of the rows of a node table."""
    document, count = _documents(nodes.categories)
    # Rows without a document come last, so that the documents' spans start at 0.
    key = np.where(document == NO_DOCUMENT, count, document)
    order = np.lexsort((nodes.numbers["start_line"], nodes.numbers["chunk_index"], key)).astype(np.int32)
    place = np.empty_like(order)
    place[order] = np.arange(len(order), dtype=np.int32)
    starts = np.zeros(count + 1, dtype=np.int64)
    np.cumsum(np.bincount(document[document != NO_DOCUMENT], minlength=count), out=starts[1:])
    write_array(directory / _ORDER_FILE, np.stack((order, place, document)))
    write_array(directory / _STARTS_FILE, starts)


class ReadingOrder:
    """The mapped reading order of an index; all arrays [n].

    `order` are the rows by (document, chunk index, start line, row), those without a document last; `place` is its
    inverse. `document` is the number of each row's document, NO_DOCUMENT for a node with neither document id nor path.
    """

    def __init__(self, directory: Path, count: int) -> None:
        """Maps the order of `count` rows. Raises IndexDamagedError."""
        columns = map_array(directory / _ORDER_FILE, np.int32, (3, count))
        self.order: NDArray[np.int32] = columns[0]
        self.place: NDArray[np.int32] = columns[1]
        self.document: NDArray[np.int32] = columns[2]
        self._starts = map_array(directory / _STARTS_FILE, np.int64, (None,))
        for values, least, end in (
            (self.order, 0, count),
            (self.place, 0, count),
            (self.document, NO_DOCUMENT, len(self._starts) - 1),
        ):
            if count and not least <= int(values.min()) <= int(values.max()) < end:
                raise IndexDamagedError(f"{_ORDER_FILE}: names rows or documents that do not exist")

    def members(self, documents: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The rows of several documents [m], one document after the other, and for each row the document's place."""
        positions, counts = positions_of(self._starts, documents)
        return self.order.take(positions).astype(np.int64), np.repeat(np.arange(len(documents)), counts)

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


def _documents(categories: Mapping[str, Category]) -> tuple[NDArray[np.int32], int]:
    """Each row's document number, in the order of the documents' keys, and how many there are.

    A document's key is its id, or the path of rows that state none, with the repository and the version of it.
    """
    ids, paths = categories["document_id"], categories["path"]
    places = array("i"), array("i")
    named = [name != b"" for name in merged_terms([ids.values.encoded(), paths.values.encoded()], places)]
    id_places, path_places = (np.asarray(place_list, dtype=np.int32) for place_list in places)
    stated = np.asarray(named, dtype=np.bool_)[id_places[ids.codes]]
    name = np.where(stated, id_places[ids.codes], path_places[paths.codes])
    versions = categories["document_version_id"].codes
    rows = np.flatnonzero(np.asarray(named, dtype=np.bool_)[name])
    keys = np.stack((versions[rows], categories["repo_name"].codes[rows], name[rows]))
    order = np.lexsort(keys)
    firsts = np.any(keys[:, order[1:]] != keys[:, order[:-1]], axis=0)
    document = np.full(len(name), NO_DOCUMENT, dtype=np.int32)
    document[rows[order]] = np.concatenate((np.zeros(min(1, len(rows)), dtype=np.int32), np.cumsum(firsts)))
    return document, int(document.max()) + 1
