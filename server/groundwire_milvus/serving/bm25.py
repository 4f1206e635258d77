"""The BM25 retrievers: Milvus weighs terms by the mean length of the index, exact scores by that of what is visible.

Whole files are scored too, by all that the caller sees of each. A file is the document that nodes were ingested under.
The totals of each visibility class over a file's nodes are stored in the index. For a caller with bounds, the visible
nodes are read.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from groundwire_index.lexical.lexical import CODE, K1, B
from groundwire_index.nodes.reading_order import NO_DOCUMENT
from groundwire_milvus.facts import DOCUMENT, fact_key, read_facts
from groundwire_milvus.packing import TermCounts, TermFact, unpacked_document, unpacked_terms
from groundwire_milvus.serving.filter_expression import both
from groundwire_milvus.serving.node_rows import ROWS_AT_A_TIME, NodeRows
from groundwire_milvus.serving.statistics import BoundRows
from groundwire_milvus.serving.version import OpenVersion
from groundwire_milvus.serving.visibility import Visibility
from groundwire_milvus.store import among
from groundwire_server.backends.shared.candidates import scores_of_rows
from groundwire_server.backends.shared.listing import EPSILON, POSITIVE, Proposal
from groundwire_server.backends.shared.scoring import MAX_FILE_NODES, inverse_document_frequency, term_scores
from groundwire_server.domain.search.candidates import FileScores, Floats, Positions, WordStatistics
from groundwire_server.execution.call import Checkpoint

_MOST_TERMS_LOOKED_UP = 64


@dataclass(frozen=True, slots=True)
class WeightedTerm:
    """A term of a query: its number in the sparse vectors, and its weight, above 0."""

    number: int
    weight: float


class Words:
    """BM25 over one lexical table; at most `count` rows are listed. A repeated token counts each time.

    `counted` gives the statistics of what the caller sees; for a caller with bounds it takes requests.
    `fields` are those of a node that its score is computed from, `least` is the least score of a listed row.
    """

    least = POSITIVE

    def __init__(
        self,
        version: OpenVersion,
        nodes: NodeRows,
        allowed: str,
        count: int,
        table: str,
        tokens: Sequence[str],
        counted: Callable[[], WordStatistics],
    ) -> None:
        self._version = version
        self._nodes = nodes
        self._allowed = allowed
        self._count = count
        self.table = table
        self._length_field = f"{table}_length"
        self.fields = (self._length_field,)
        self._tokens = tokens
        self._counted = counted
        self._words: WordStatistics | None = None
        self._weights: dict[int, Floats] = {}
        document = version.document
        self._reference = document.code_reference_length if table == CODE else document.prose_reference_length

    @property
    def words(self) -> WordStatistics:
        """The statistics, counted when they are first needed."""
        # A `cached_property` would block another retriever in the meantime.
        if self._words is None:
            self._words = self._counted()
        return self._words

    @property
    def terms(self) -> list[WeightedTerm]:
        """The terms of this version that some node has, by the statistics; sorted as tokens are."""
        words = self.words
        known = (
            (repeats, holders, fact)
            for token, repeats in sorted(Counter(self._tokens).items())
            if (holders := words.holders[token]) and (fact := self._version.term(self.table, token)) is not None
        )
        return [
            WeightedTerm(fact.number, repeats * inverse_document_frequency(words.nodes, holders))
            for repeats, holders, fact in known
        ]

    def margin(self, count: int) -> int:
        """The number of rows requested on top of `count`, so that one request is usually enough."""
        return 16 + count // 4

    def propose(self, first: int, end: int, limit: int) -> Proposal:
        """Of the `limit` rows of a range that Milvus scores highest those that may be listed."""
        terms = self.terms
        if not terms:
            return Proposal(np.empty(0, dtype=np.int64), -np.inf)
        (hits,) = self._version.store.search(
            self._version.collections.nodes,
            self.table,
            [{term.number: term.weight for term in terms}],
            limit,
            self._version.within(self._allowed, first, end),
        )
        # The length counts by the index's mean there and by the caller's here; products and sums are rounded.
        ratio, rounding = self.words.mean_length / self._reference, (len(terms) + 16) * EPSILON
        rest = hits.rest(limit, end - first) * max(1.0, ratio) * (1.0 + rounding)
        return Proposal(hits.contenders(self._count, max(ratio, 1.0 / ratio) * (1.0 + 3.0 * rounding), 0.0), rest)

    def look_up(self, rows: Positions) -> None:
        """Asks what each term weighs in the sparse vectors of rows [m], for `scores`; nothing for a long query."""
        queries = [{term.number: 1.0} for term in self.terms]
        fresh = [row for row in rows.tolist() if row not in self._weights]
        if len(queries) > _MOST_TERMS_LOOKED_UP:
            return
        for first in range(0, len(fresh), ROWS_AT_A_TIME):
            some = fresh[first : first + ROWS_AT_A_TIME]
            expression = both(among("row", some), self._allowed)
            nodes = self._version.collections.nodes
            hits_of_terms = self._version.store.search(nodes, self.table, queries, len(some), expression)
            self._weights |= {row: np.zeros(len(queries)) for row in some}
            for place, hits in enumerate(hits_of_terms):
                for row, weight in zip(hits.rows.tolist(), hits.scores.tolist(), strict=True):
                    self._weights[row][place] = weight

    def scores(self, rows: Positions) -> Floats:
        """The exact scores of rows [m]."""
        lengths, held = self.counts(rows)
        relative_lengths = lengths / self.words.mean_length
        scores = np.zeros(len(rows), dtype=np.float64)
        # Terms are summed in their own order, so that the sum does not depend on how an index numbers them.
        for term, of_term in zip(self.terms, held, strict=True):
            scores += term_scores(term.weight, of_term, relative_lengths)
        return scores

    def counts(self, rows: Positions) -> tuple[NDArray[np.int64], Floats]:
        """The length of rows [m] in tokens, and how often the terms [t] are in them, an array [t, m]."""
        lengths = self._nodes.read(rows, self.fields).integers(self._length_field)
        return lengths, self._frequencies(rows, lengths)

    def _frequencies(self, rows: Positions, lengths: NDArray[np.int64]) -> Floats:
        """How often the terms [t] are in rows [m], an array [t, m].

        A weight w is f / (f + s) in single precision, so that f is w * s / (1 - w) but for an error that grows with f.
        Where that is too large, and for rows that were not looked up, the terms of the row are read.
        """
        numbers = [term.number for term in self.terms]
        unknown = np.full(len(numbers), np.nan)
        weights = (
            np.asarray([self._weights.get(row, unknown) for row in rows.tolist()]).reshape(len(rows), len(numbers)).T
        )
        saturations = K1 * (1.0 - B + B * lengths / self._reference)
        with np.errstate(divide="ignore", invalid="ignore"):
            unrounded = weights * saturations / (1.0 - weights)
            counted = np.rint(unrounded)
            doubt = np.abs(unrounded - counted) + 8.0 * EPSILON * counted * (1.0 + counted / saturations)
        unsure = np.flatnonzero(~(doubt < 0.25).all(axis=0))
        if len(unsure):
            field = f"{self.table}_terms"
            counted[:, unsure] = frequencies(self._nodes.read(rows[unsure], (field,)).strings(field), numbers)
        return np.asarray(counted, dtype=np.float64)


def frequencies(packed: Sequence[str], terms: Sequence[int]) -> Floats:
    """The frequency of terms [t] in the packed terms of nodes [m], as an array [t, m]."""
    frequencies_by_term = np.zeros((len(terms), len(packed)), dtype=np.float64)
    for place, content in enumerate(packed):
        frequencies_by_term[:, place] = frequencies_of(unpacked_terms(content), terms)
    return frequencies_by_term


def frequencies_of(counts: TermCounts, terms: Sequence[int]) -> Floats:
    """How often each of some terms [t] occurs."""
    if not len(counts.terms):
        return np.zeros(len(terms), dtype=np.float64)
    sought = np.asarray(terms, dtype=np.uint32)
    places = np.minimum(np.searchsorted(counts.terms, sought), len(counts.terms) - 1)
    return np.where(counts.terms.take(places) == sought, counts.frequencies.take(places), 0).astype(np.float64)


def tokens_held(packed: Sequence[str], facts: Sequence[tuple[str, TermFact]]) -> list[tuple[str, ...]]:
    """The tokens, which are sorted, that each of several nodes holds by its packed terms."""
    held = frequencies(packed, [fact.number for _, fact in facts]).astype(np.bool_)
    tokens = [token for token, _ in facts]
    return [tuple(compress(tokens, of_node)) for of_node in held.T.tolist()]


_FILES_AT_A_TIME = 512
_NODES_AT_A_TIME = 2_048


class _Files(NamedTuple):
    """The totals of files [f] for a caller: nodes and tokens, and the frequency of some terms [t, f]."""

    nodes: NDArray[np.int64]
    lengths: NDArray[np.int64]
    frequencies: Floats


def file_scores(
    words: Words, version: OpenVersion, nodes: NodeRows, visibility: Visibility, checkpoint: Checkpoint, rows: Positions
) -> FileScores:
    """The score of each row's file [m]; NaN for a row of none, or of one with more than `MAX_FILE_NODES`.

    Raises what the checkpoint raises.
    """
    of_rows = nodes.read(rows, ("document",)).integers("document")
    documents, holders = np.unique(of_rows, return_index=True)
    documents, holders = documents[documents != NO_DOCUMENT], holders[documents != NO_DOCUMENT]
    terms = words.terms
    numbers = [term.number for term in terms]
    if visibility.rows is None:
        files = _by_class(version, visibility.classes, documents, numbers, checkpoint)
        _add_files_of_one_node(files, words, rows.take(holders))
    else:
        files = _by_row(nodes, visibility.rows, documents, numbers, checkpoint)
    relative = files.lengths / words.words.mean_file_length
    scores = np.zeros(len(documents), dtype=np.float64)
    for term, of_term in zip(terms, files.frequencies, strict=True):
        scores += term_scores(term.weight, of_term, relative)
    scores[files.nodes > MAX_FILE_NODES] = np.nan
    return scores_of_rows(of_rows, documents, files.nodes, scores)


def _by_class(
    version: OpenVersion,
    classes: NDArray[np.bool_],
    documents: NDArray[np.int64],
    terms: Sequence[int],
    checkpoint: Checkpoint,
) -> _Files:
    files = _nothing(len(documents), len(terms))
    for first in range(0, len(documents), _FILES_AT_A_TIME):
        checkpoint()
        keys = [fact_key(DOCUMENT, str(number)) for number in documents[first : first + _FILES_AT_A_TIME].tolist()]
        contents = read_facts(version.store, version.collections.facts, keys)
        for place, key in enumerate(keys, start=first):
            for part in unpacked_document(contents[key]) if key in contents else ():
                if classes[part.class_]:
                    files.nodes[place] += part.nodes
                    files.lengths[place] += part.length
                    files.frequencies[:, place] += frequencies_of(part.counts, terms)
    return files


def _add_files_of_one_node(files: _Files, words: Words, holders: Positions) -> None:
    """Adds the totals of files that have one node in the index: no fact is stored of them, since it is their node's.

    `holders` [f] has a visible row of each file.
    """
    places = np.flatnonzero(files.nodes == 0)
    if len(places):
        files.nodes[places] = 1
        files.lengths[places], files.frequencies[:, places] = words.counts(holders.take(places))


def _by_row(
    nodes: NodeRows, seen: BoundRows, documents: NDArray[np.int64], terms: Sequence[int], checkpoint: Checkpoint
) -> _Files:
    files = _nothing(len(documents), len(terms))
    members = np.flatnonzero(np.isin(seen.documents, documents))
    places = np.searchsorted(documents, seen.documents.take(members))
    np.add.at(files.nodes, places, 1)
    np.add.at(files.lengths, places, seen.code_lengths.take(members))
    kept = files.nodes.take(places) <= MAX_FILE_NODES
    members, places = members[kept], places[kept]
    for first in range(0, len(members), _NODES_AT_A_TIME):
        checkpoint()
        piece = slice(first, first + _NODES_AT_A_TIME)
        packed = nodes.read(seen.rows.take(members[piece]), ("code_terms",)).strings("code_terms")
        np.add.at(files.frequencies.T, places[piece], frequencies(packed, terms).T)
    return files


def _nothing(files: int, terms: int) -> _Files:
    numbers = np.zeros((2, files), dtype=np.int64)
    return _Files(numbers[0], numbers[1], np.zeros((terms, files), dtype=np.float64))
