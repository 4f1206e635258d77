"""The nodes of an index as rows of Milvus."""

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from groundwire_index.index_errors import BuildRefusedError
from groundwire_index.lexical.lexical import K1, B, LexicalTable
from groundwire_index.nodes.metadata_terms import metadata_terms
from groundwire_index.nodes.node import WORKFLOW_KEY, Node
from groundwire_index.store.loaded import LoadedIndex
from groundwire_index.text.trigram_names import trigrams
from groundwire_milvus.facts import spill_key
from groundwire_milvus.packing import (
    MOST_BYTES,
    SPARSE_ENTRY,
    SPILL_MARK,
    TermCounts,
    digest,
    hexed,
    packed_label,
    packed_names,
    packed_rest,
    packed_sparse,
    packed_terms,
    packed_text,
    packed_workflows,
    pieces,
)
from groundwire_milvus.publishing.classes import Classes, lengths_of, reference_length
from groundwire_milvus.schema import (
    FILTERED_STRINGS,
    MOST_METADATA_TERMS,
    MOST_STRING_BYTES,
    NO_DIMENSION,
    PACKED,
    UNUSED,
    UNUSED_VECTOR,
)

ROWS_A_BLOCK = 1 << 15
"""Rows whose terms are gathered at once, for which all postings are read."""

Row = dict[str, object]
Spill = Callable[[str, str], None]
"""Takes the key and the content of a fact."""


class NodeRows:
    """Makes the row of each node; what is too long for a field goes to `spill`."""

    def __init__(self, index: LoadedIndex, classes: Classes, spill: Spill) -> None:
        self._index = index
        self._classes = classes
        self._spill = spill
        count = index.manifest.node_count
        self._code_lengths, self._prose_lengths = lengths_of(index.lexical, count), lengths_of(index.prose, count)
        self._trigrams = {index.names.trigrams[place]: place for place in range(len(index.names.trigrams))}

    def __iter__(self) -> Iterator[Row]:
        """The rows in order. Raises BuildRefusedError for a node that no row can hold."""
        count = self._index.manifest.node_count
        code_reference, prose_reference = map(reference_length, (self._code_lengths, self._prose_lengths))
        for first in range(0, count, ROWS_A_BLOCK):
            rows = range(first, min(first + ROWS_A_BLOCK, count))
            for row, code, prose in zip(
                rows, _terms(self._index.lexical, rows), _terms(self._index.prose, rows), strict=True
            ):
                yield self._row(
                    row,
                    {"code_terms": code, "prose_terms": prose},
                    _weights(code, int(self._code_lengths[row]), code_reference),
                    _weights(prose, int(self._prose_lengths[row]), prose_reference),
                )

    def _row(self, row: int, terms: dict[str, TermCounts], code: bytes, prose: bytes) -> Row:
        index = self._index
        node = index.nodes.node(row, index.policies.of(row))
        names = self._names(row)
        packed = {
            **{field: packed_terms(field_terms) for field, field_terms in terms.items()},
            "names": packed_names(names),
            "label": packed_label(node),
            "rest": packed_rest(node),
            "text": packed_text(node.text),
        }
        return {
            "row": row,
            **self._compared(row, node),
            **{field: self._fitted(row, field, packed[field]) for field in PACKED},
            **self._vector(row),
            "code": code,
            "prose": prose,
            "trigrams": self._trigram_vector(names),
        }

    def _compared(self, row: int, node: Node) -> Row:
        """The fields that expressions compare, and the columns."""
        order, vectors = self._index.reading_order, self._index.vectors
        sizes = (self._index.nodes.texts, self._index.nodes.symbols)
        return {
            "id": _hexed(node, "id", node.id),
            "class": int(self._classes.of_rows[row]),
            "document": int(order.document[row]),
            "place": int(order.place[row]),
            **{name: _hexed(node, name, self._index.nodes.categories[name][row]) for name in FILTERED_STRINGS},
            "is_latest": node.is_latest,
            "is_test": node.is_test,
            "is_generated": node.is_generated,
            "has_vector": vectors is not None and bool(vectors.present[row]),
            "token_count": node.token_count,
            "char_count": int(self._index.nodes.numbers["char_count"][row]),
            "text_bytes": sum(column.byte_length(row) for column in sizes) + len(node.location.path.encode()),
            "timestamp": int(self._index.nodes.timestamps[row]),
            "code_length": int(self._code_lengths[row]),
            "prose_length": int(self._prose_lengths[row]),
            "metadata": _metadata(node),
            "workflows": _checked(node, "workflows", packed_workflows(_workflows(node))),
        }

    def _names(self, row: int) -> list[str]:
        positions, _ = self._index.names.of_rows(np.asarray([row]))
        return [self._index.names.names[position] for position in positions.tolist()]

    def _trigram_vector(self, names: Sequence[str]) -> bytes:
        """The weight of each trigram: by the shortest name that holds it, so that a long path counts for little."""
        weights: dict[int, float] = {}
        for of_name in sorted(map(trigrams, names), key=len, reverse=True):
            weights.update(dict.fromkeys(map(self._trigrams.__getitem__, of_name), 1.0 / math.sqrt(len(of_name))))
        return packed_sparse(weights or {NO_DIMENSION: 1.0})

    def _vector(self, row: int) -> Row:
        vectors = self._index.vectors
        if vectors is None:
            return {UNUSED: list(UNUSED_VECTOR)}
        vector = vectors.rows[row] if vectors.present[row] else np.zeros(vectors.rows.shape[1], dtype=np.float32)
        return {"vector": vector}

    def _fitted(self, row: int, field: str, packed: str) -> str:
        if len(packed.encode()) <= MOST_BYTES:
            return packed
        self._spill(spill_key(row, field), packed)
        return f"{SPILL_MARK}{len(pieces(packed))}"


def _terms(table: LexicalTable | None, rows: range) -> Iterator[TermCounts]:
    """The terms of each of some rows; none of an index without the table."""
    if table is None:
        nothing = TermCounts(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int32))
        yield from (nothing for _ in rows)
        return
    own_rows = np.arange(len(table.lengths), dtype=np.int32)
    holders, terms, places = table.by_term.terms_of(own_rows, rows.start, rows.stop)
    frequencies = table.frequencies.take(places)
    starts = np.searchsorted(holders, np.arange(rows.start, rows.stop + 1))
    for start, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        yield TermCounts(terms[start:end], frequencies[start:end])


def _weights(terms: TermCounts, length: int, reference: float) -> bytes:
    """The sparse vector of a document: what each term weighs in it, up to its idf, in single precision."""
    if not len(terms.terms):
        return packed_sparse({NO_DIMENSION: 1.0})
    frequencies = terms.frequencies.astype(np.float64)
    entries = np.empty(len(frequencies), dtype=SPARSE_ENTRY)
    entries["dimension"] = terms.terms
    entries["value"] = frequencies / (frequencies + K1 * (1.0 - B + B * length / reference))
    return entries.tobytes()


def _workflows(node: Node) -> list[str]:
    value = node.metadata.get(WORKFLOW_KEY)
    names = value if isinstance(value, list) else [value]
    return sorted({name for name in names if isinstance(name, str) and name})


def _metadata(node: Node) -> list[str]:
    digests = sorted(map(digest, metadata_terms(node.metadata)))
    if len(digests) > MOST_METADATA_TERMS:
        raise BuildRefusedError(
            f"node {node.id}: its metadata has {len(digests):,} values; Milvus holds at most {MOST_METADATA_TERMS:,} "
            "for a node: give it fewer, or use the embedded backend"
        )
    return digests


def _hexed(node: Node, field: str, value: str) -> str:
    return _checked(node, field, hexed(value))


def _checked(node: Node, field: str, value: str) -> str:
    if len(value) > MOST_STRING_BYTES:
        raise BuildRefusedError(
            f"node {node.id[:200]}: its {field} takes {len(value):,} bytes in Milvus, at most {MOST_STRING_BYTES:,} "
            "are allowed: shorten it, or use the embedded backend"
        )
    return value
