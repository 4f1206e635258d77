"""The facts of an index: what is known of its terms, trigrams, documents and services."""

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from groundwire_index.lexical.lexical import LexicalTable
from groundwire_index.nodes.reading_order import NO_DOCUMENT
from groundwire_index.store.loaded import LoadedIndex
from groundwire_milvus.facts import CODE_TERM, DOCUMENT, PROSE_TERM, SERVICE, TRIGRAM, fact_key
from groundwire_milvus.packing import (
    SERVICE_EDGE,
    DocumentPart,
    TermCounts,
    TermFact,
    packed_document,
    packed_service_edges,
    packed_term,
)

TERMS_A_BLOCK = 1 << 14
DOCUMENTS_A_BLOCK = 1 << 14
"""Documents whose terms are gathered at once, for which all postings are read."""


Fact: TypeAlias = tuple[str, str]
"""The key of a fact, and its content."""


def facts(index: LoadedIndex, classes: NDArray[np.int32]) -> Iterator[Fact]:
    """All facts; `classes` [n] is the class of each node."""
    for kind, table in ((CODE_TERM, index.lexical), (PROSE_TERM, index.prose)):
        if table is not None:
            yield from _term_facts(kind, table, classes)
    for number in range(len(index.names.trigrams)):
        yield (fact_key(TRIGRAM, index.names.trigrams[number]), str(number))
    if index.lexical is not None:
        yield from _document_facts(index, index.lexical, classes)
    yield from _service_facts(index, classes)


def _term_facts(kind: str, table: LexicalTable, classes: NDArray[np.int32]) -> Iterator[Fact]:
    postings = table.by_term
    class_count = int(classes.max(initial=0)) + 1
    for first in range(0, len(postings.terms), TERMS_A_BLOCK):
        end = min(first + TERMS_A_BLOCK, len(postings.terms))
        starts = postings.starts[first : end + 1]
        of_pairs = classes.take(postings.rows[int(starts[0]) : int(starts[-1])])
        keys = np.repeat(np.arange(end - first), np.diff(starts)) * class_count + of_pairs
        distinct_keys, counts = np.unique(keys, return_counts=True)
        terms, of_classes = np.divmod(distinct_keys, class_count)
        cuts = np.searchsorted(terms, np.arange(end - first + 1)).tolist()
        for place in range(end - first):
            term_slice = slice(cuts[place], cuts[place + 1])
            holders = dict(zip(of_classes[term_slice].tolist(), counts[term_slice].tolist(), strict=True))
            yield (fact_key(kind, postings.terms[first + place]), packed_term(TermFact(first + place, holders)))


def _document_facts(index: LoadedIndex, table: LexicalTable, classes: NDArray[np.int32]) -> Iterator[Fact]:
    document = index.reading_order.document
    class_count = int(classes.max(initial=0)) + 1
    # A document's nodes of one class are a group; NO_DOCUMENT makes negative groups.
    groups = document.astype(np.int64) * class_count + classes
    documents = int(document.max(initial=NO_DOCUMENT)) + 1
    for first in range(0, documents, DOCUMENTS_A_BLOCK):
        end = min(first + DOCUMENTS_A_BLOCK, documents)
        parts = _document_parts(table, groups, first * class_count, end * class_count)
        of_document: dict[int, list[DocumentPart]] = {}
        for group, nodes, length, counts in parts:
            number, class_ = divmod(group, class_count)
            of_document.setdefault(number, []).append(DocumentPart(class_, nodes, length, counts))
        for number, document_parts in of_document.items():
            if sum(part.nodes for part in document_parts) == 1:
                continue  # its totals are those of the node
            yield (fact_key(DOCUMENT, str(number)), packed_document(document_parts))


def _document_parts(
    table: LexicalTable, groups: NDArray[np.int64], first: int, end: int
) -> Iterator[tuple[int, int, int, TermCounts]]:
    """Of each group that has a node, ascending: its number, how many nodes and tokens it has, and its terms."""
    members = np.flatnonzero((groups >= first) & (groups < end))
    numbers, places, nodes = np.unique(groups.take(members), return_inverse=True, return_counts=True)
    lengths = np.bincount(places, table.lengths.take(members), minlength=len(numbers)).astype(np.int64)
    rows, terms, pairs = table.by_term.terms_of(groups, first, end)
    keys = np.searchsorted(numbers, groups.take(rows)) * len(table.by_term.terms) + terms
    distinct_keys, of_keys = np.unique(keys, return_inverse=True)
    frequencies = np.bincount(of_keys, table.frequencies.take(pairs), minlength=len(distinct_keys)).astype(np.int64)
    of_groups, of_terms = np.divmod(distinct_keys, max(1, len(table.by_term.terms)))
    cuts = np.searchsorted(of_groups, np.arange(len(numbers) + 1)).tolist()
    for place, number in enumerate(numbers.tolist()):
        group_slice = slice(cuts[place], cuts[place + 1])
        counts = TermCounts(of_terms[group_slice], frequencies[group_slice])
        yield number, int(nodes[place]), int(lengths[place]), counts


def _service_facts(index: LoadedIndex, classes: NDArray[np.int32]) -> Iterator[Fact]:
    edges, services = index.service_edges, index.nodes.categories["service_name"]
    for service in range(len(services.values)):
        positions = edges.touching([service])
        if not len(positions):
            continue
        packed = np.empty(len(positions), dtype=SERVICE_EDGE)
        packed["position"] = positions
        packed["from_row"], packed["to_row"] = edges.from_rows.take(positions), edges.to_rows.take(positions)
        packed["type"] = edges.types.take(positions)
        ends = services.codes.take(np.stack((packed["from_row"], packed["to_row"])))
        names, places = np.unique(ends, return_inverse=True)
        packed["from_service"], packed["to_service"] = places.reshape(ends.shape)
        for end in ("from", "to"):
            packed[f"{end}_class"] = classes.take(packed[f"{end}_row"])
        content = packed_service_edges([services.values[name] for name in names.tolist()], packed)
        yield (fact_key(SERVICE, services.values[service]), content)
