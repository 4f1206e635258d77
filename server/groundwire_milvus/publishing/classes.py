"""The visibility classes of an index, and what is counted over the nodes of each."""

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from groundwire_index.index_errors import IndexDamagedError
from groundwire_index.lexical.lexical import LexicalTable
from groundwire_index.nodes.reading_order import NO_DOCUMENT
from groundwire_index.store.loaded import LoadedIndex
from groundwire_milvus.document import ClassCounts, DocumentCount, EdgeCount


class Classes:
    """The class of each row, `of_rows` [n], a place among the distinct (policy, deleted) in their order."""

    def __init__(self, index: LoadedIndex) -> None:
        """Raises IndexDamagedError when a row is of no policy class."""
        codes = index.policies.codes.astype(np.int64)
        if len(codes) and not codes.min():
            raise IndexDamagedError(f"row {int(codes.argmin())} has no policy class: no caller may see it")
        pairs = (codes - 1) * 2 + index.nodes.flags["deleted"]
        distinct, places = np.unique(pairs, return_inverse=True)
        self._index = index
        self._pairs: list[tuple[int, bool]] = [(pair // 2, bool(pair % 2)) for pair in distinct.tolist()]
        self.of_rows = places.astype(np.int32)

    def __len__(self) -> int:
        return len(self._pairs)

    def counts(self) -> tuple[ClassCounts, ...]:
        """Counts over the nodes of each class."""
        index = self._index
        in_documents = index.reading_order.document != NO_DOCUMENT
        code, prose = lengths_of(index.lexical, len(self.of_rows)), lengths_of(index.prose, len(self.of_rows))
        columns = zip(
            self._sums(np.ones_like(self.of_rows)),
            self._sums(code),
            self._sums(prose),
            self._sums(code * in_documents),
            strict=True,
        )
        return tuple(ClassCounts(*pair, *class_counts) for pair, class_counts in zip(self._pairs, columns, strict=True))

    def edges(self) -> tuple[EdgeCount, ...]:
        """The numbers of edges from class to class, and their types."""
        edges, count = self._index.edges, len(self)
        pairs = self.of_rows.take(edges.from_rows).astype(np.int64) * count + self.of_rows.take(edges.to_rows)
        distinct_pairs, counts = np.unique(pairs, return_counts=True)
        type_count = len(self._index.manifest.edge_types)
        types: dict[int, list[int]] = {}
        for pair_and_type in np.unique(pairs * type_count + edges.types).tolist():
            types.setdefault(pair_and_type // type_count, []).append(pair_and_type % type_count)
        return tuple(
            EdgeCount(pair // count, pair % count, number, tuple(types[pair]))
            for pair, number in zip(distinct_pairs.tolist(), counts.tolist(), strict=True)
        )

    def documents(self) -> tuple[DocumentCount, ...]:
        """How many documents have nodes of the same classes."""
        document = self._index.reading_order.document
        rows = np.flatnonzero(document != NO_DOCUMENT)
        pairs = np.unique(document.take(rows).astype(np.int64) * len(self) + self.of_rows.take(rows))
        documents, classes = np.divmod(pairs, max(1, len(self)))
        cuts = np.flatnonzero(np.diff(documents)) + 1
        document_counts = Counter(
            tuple(document_classes.tolist()) for document_classes in np.split(classes, cuts) if len(document_classes)
        )
        return tuple(
            DocumentCount(document_classes, count) for document_classes, count in sorted(document_counts.items())
        )

    def _sums(self, values: NDArray[np.integer] | NDArray[np.bool_]) -> list[int]:
        """The sum of one value a row [n] over the rows of each class."""
        sums = np.zeros(len(self), dtype=np.int64)
        np.add.at(sums, self.of_rows, values.astype(np.int64))
        return sums.tolist()


def lengths_of(table: LexicalTable | None, count: int) -> NDArray[np.int64]:
    """The lengths of all documents [n] in tokens; zeros for an index without the table."""
    return np.zeros(count, dtype=np.int64) if table is None else table.lengths.astype(np.int64)


def reference_length(lengths: NDArray[np.int64]) -> float:
    """The mean of lengths [n], 1 instead of 0."""
    return float(lengths.mean()) or 1.0 if len(lengths) else 1.0
