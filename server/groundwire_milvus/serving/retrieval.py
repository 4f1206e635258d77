"""The lists of a search's retrievers over a version, and what ranking asks about their rows."""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from groundwire_index.lexical.lexical import CODE, PROSE
from groundwire_index.nodes.purpose_columns import purposes_of
from groundwire_index.nodes.purposes import PROSE_PREFIX, purpose_of_path
from groundwire_index.text.code_tokenizer import tokenize
from groundwire_index.text.prose_tokenizer import tokenize_prose
from groundwire_index.text.trigram_names import trigrams
from groundwire_milvus.packing import unhexed, unpacked_names
from groundwire_milvus.serving.bm25 import Words, file_scores
from groundwire_milvus.serving.filter_expression import both
from groundwire_milvus.serving.node_rows import VECTOR, NodeRows
from groundwire_milvus.serving.version import OpenVersion
from groundwire_milvus.serving.visibility import Visibility
from groundwire_milvus.store import MOST_ROWS
from groundwire_server.backends.shared.candidates import CandidateList, RowFileScores, check_tokenizers, files_of
from groundwire_server.backends.shared.listing import EPSILON, POSITIVE, Listing, Proposal, rounding_error
from groundwire_server.backends.shared.scoring import RankedRows, name_similarity
from groundwire_server.domain.query.diversity import cosines
from groundwire_server.domain.search.candidates import Floats, NodeColumns, Positions, Retrieval
from groundwire_server.domain.search.search import Retriever
from groundwire_server.execution.call import Checkpoint
from groundwire_server.execution.observation import stage


class Trigrams:
    """The greatest similarity of a node's names to those of a query; `fields` and `least` as in `Words`."""

    def __init__(
        self, version: OpenVersion, nodes: NodeRows, allowed: str, wanted: Sequence[frozenset[str]], threshold: float
    ) -> None:
        """`wanted` are the trigrams of each name that the query mentions."""
        self._version = version
        self._nodes = nodes
        self._allowed = allowed
        self._wanted = wanted
        self.least = max(threshold, POSITIVE)
        self._similarities: dict[str, float] = {}
        numbers = [[version.trigram(trigram) for trigram in sorted(name)] for name in wanted]
        known = [{number: 1.0 for number in of_name if number is not None} for of_name in numbers]
        # Of each wanted name that shares a trigram with a name of the index: its size, and these trigrams.
        self._queries = [(len(name), query) for name, query in zip(wanted, known, strict=True) if query]
        # Where there is none, nothing is similar.
        self.fields = ("names",) if self._queries else ()

    def margin(self, count: int) -> int:
        """The number of rows requested on top of `count`, so that one request is usually enough."""
        return 32 + count

    def propose(self, first: int, end: int, limit: int) -> Proposal:
        """Of the `limit` rows of a range that Milvus scores highest for each name those that may be listed."""
        hits_of_queries = self._version.store.search(
            self._version.collections.nodes,
            "trigrams",
            [query for _, query in self._queries],
            limit,
            self._version.within(self._allowed, first, end),
        )
        rests: list[float] = []
        rows = [np.empty(0, dtype=np.int64)]
        for hits, (size, query) in zip(hits_of_queries, self._queries, strict=True):
            highest = _most_similar(size, len(query), hits.scores)
            rows.append(hits.rows[highest >= self.least])
            rests.append(float(highest[-1]) if hits.rest(limit, end - first) > -np.inf else -np.inf)
        return Proposal(np.concatenate(rows), max(rests, default=-np.inf))

    def scores(self, rows: Positions) -> Floats:
        """The exact scores of rows [m]."""
        if not self._queries:
            return np.zeros(len(rows))
        names = list(map(unpacked_names, self._nodes.read(rows, self.fields).strings("names")))
        self._compare({name for of_node in names for name in of_node} - self._similarities.keys())
        best = (max((self._similarities[name] for name in of_node), default=0.0) for of_node in names)
        return np.fromiter(best, dtype=np.float64, count=len(names))

    def _compare(self, names: set[str]) -> None:
        held = {name: trigrams(name) for name in names}
        sizes = np.asarray([len(of_name) for of_name in held.values()], dtype=np.int64)
        best = np.zeros(len(held))
        for wanted in self._wanted:
            common = np.asarray([len(wanted & of_name) for of_name in held.values()], dtype=np.int64)
            np.maximum(best, name_similarity(len(wanted), common, sizes), out=best)
        self._similarities.update(zip(held, best.tolist(), strict=True))


def _most_similar(size: int, terms: int, proposed: Floats) -> Floats:
    """How similar a name may be to one of `size` trigrams when its node scores no higher than `proposed` [m].

    A trigram weighs 1 / sqrt(n) of the smallest name, of n trigrams, that holds it. So for every name of a node, its
    score over sqrt(size) is at least the cosine c / sqrt(size * n), where c trigrams are shared. Since size + n is at
    least 2 * sqrt(size * n), the similarity c / (size + n - c) is at most cosine / (2 - cosine).
    """
    cosine = np.minimum(1.0, proposed * (1.0 + (terms + 16) * EPSILON) / math.sqrt(size))
    similar: Floats = cosine / (2.0 - cosine) * (1.0 + 4 * EPSILON)
    return similar


class Dense:
    """Cosine similarity to a unit query [dimension]; `fields` and `least` as in `Words`."""

    fields = (VECTOR, "has_vector")

    def __init__(
        self,
        version: OpenVersion,
        nodes: NodeRows,
        allowed: str,
        count: int,
        query: NDArray[np.float64],
        min_similarity: float | None,
    ) -> None:
        """`allowed` is the expression of the rows that may be listed, `count` how many are."""
        self._index = version.document.dense_index
        self._version = version
        self._nodes = nodes
        self._count = count
        self._allowed = both("has_vector == true", allowed)
        self._query = query
        self.least = -np.inf if min_similarity is None else min_similarity

    def margin(self, count: int) -> int:
        """The number of rows requested on top of `count`, so that one request is usually enough."""
        return 16 + count // 8

    def propose(self, first: int, end: int, limit: int) -> Proposal:
        """Of the `limit` rows of a range that Milvus scores highest those that may be listed.

        An index that is not exact proposes once: more may be missed, and stays so.
        """
        (hits,) = self._version.store.search(
            self._version.collections.nodes,
            VECTOR,
            self._query.astype(np.float32)[np.newaxis],
            limit,
            self._version.within(self._allowed, first, end),
            self._index.of_search(limit),
        )
        error = rounding_error(len(self._query))
        rest = hits.rest(limit, end - first) + error if self._index.is_exact else -np.inf
        return Proposal(hits.contenders(self._count, 1.0, 2.0 * error), rest)

    def scores(self, rows: Positions) -> Floats:
        """The exact scores of rows [m]; NaN for one that has no vector."""
        if not len(rows):
            return np.empty(0)
        nodes = self._nodes.read(rows, self.fields)
        vectors = nodes.dense(VECTOR, len(self._query)).astype(np.float64)
        return np.where(nodes.flags("has_vector"), cosines(vectors, self._query), np.nan)


MilvusRetriever: TypeAlias = Dense | Words | Trigrams
TABLES = {Retriever.BM25_CODE: CODE, Retriever.BM25_PROSE: PROSE}
TOKENIZERS: Mapping[str, Callable[[str], list[str]]] = {CODE: tokenize, PROSE: tokenize_prose}
_COLUMNS = ("class", "corpus_type", "path", "timestamp", "is_test", "is_generated", "char_count", "document")


class Retrievers:
    """The retrievers of a version with what one search asks of them."""

    def __init__(self, version: OpenVersion, nodes: NodeRows, search: Retrieval, checkpoint: Checkpoint) -> None:
        """Raises PreconditionError when another tokeniser made the words of a retriever that is asked."""
        check_tokenizers(version.manifest, search)
        self._version = version
        self._nodes = nodes
        self._search = search
        self._checkpoint = checkpoint
        self._tokens = {
            table: TOKENIZERS[table](search.query) for retriever, table in TABLES.items() if retriever in search.limits
        }
        named = search.compared_names if Retriever.TRIGRAM in search.limits else ()
        self._wanted = list(map(trigrams, named))

    def read_words(self) -> None:
        """Reads what is known of the words of the search, in one request."""
        self._version.read_words(self._tokens, frozenset().union(*self._wanted))

    def lists(self, visibility: Visibility, allowed: str) -> dict[Retriever, CandidateList]:
        """The lists of the asked retrievers among the rows that meet `allowed`, which lies within what is visible."""
        retrievers = {
            kind: self._retriever(kind, visibility, allowed) for kind in Retriever if kind in self._search.limits
        }
        ranked = self._ranked(retrievers)
        return {
            kind: CandidateList(
                ranked[kind],
                retriever.scores,
                exact=kind is not Retriever.DENSE or self._version.document.dense_index.is_exact,
                file_scores=self._file_scores(retriever, visibility),
            )
            for kind, retriever in retrievers.items()
        }

    def _ranked(self, retrievers: Mapping[Retriever, MilvusRetriever]) -> dict[Retriever, RankedRows]:
        """The list of each retriever.

        They search side by side. The first proposals of all are read together, with all facts that ranking needs. For
        later proposals only what their scores need is read.
        """
        listings = {kind: self._listing(retriever, self._search.limits[kind]) for kind, retriever in retrievers.items()}
        others = self._other_fields
        while waiting := [kind for kind, listing in listings.items() if not listing.is_done]:
            with stage("search"):
                proposals = self._version.store.together([listings[kind].proposed for kind in waiting])
            self._checkpoint()
            proposed = dict(zip(waiting, proposals, strict=True))
            self._read([retrievers[kind] for kind in waiting], proposed.values(), others)
            for kind, rows in proposed.items():
                with stage(kind.value):
                    listings[kind].settle(rows, retrievers[kind].scores(rows))
            self._checkpoint()
            others = set[str]()
        ranked = {kind: listing.ranked for kind, listing in listings.items()}
        self._read(retrievers.values(), [ranked_rows.rows for ranked_rows in ranked.values()], self._other_fields)
        return ranked

    def _read(self, retrievers: Collection[MilvusRetriever], lists: Iterable[Positions], others: set[str]) -> None:
        """Reads what the scores of several retrievers need for the rows of all lists, and other fields."""
        rows = np.unique(np.concatenate(list(lists)))
        fields = {*others, *(field for retriever in retrievers for field in retriever.fields)}
        parts: list[Callable[[], object]] = [partial(self._nodes.read, rows, fields)]
        parts += [partial(retriever.look_up, rows) for retriever in retrievers if isinstance(retriever, Words)]
        self._version.store.together(parts)

    @property
    def _other_fields(self) -> set[str]:
        """The fields of candidates that are read in addition to those of their scores."""
        files = {"document"} if self._search.scores_files else set[str]()
        return {"class", *(_COLUMNS if self._search.with_columns else ()), *files}

    def _retriever(self, retriever: Retriever, visibility: Visibility, allowed: str) -> MilvusRetriever:
        version, search, count = self._version, self._search, self._search.limits[retriever]
        match retriever:
            case Retriever.DENSE:
                if search.query_vector is None:
                    raise AssertionError("bug: dense retrieval without vectors or a query vector")
                return Dense(version, self._nodes, allowed, count, search.query_vector, search.min_similarity)
            case Retriever.BM25_CODE | Retriever.BM25_PROSE:
                table = TABLES[retriever]
                read_statistics = partial(visibility.words, table, self._tokens[table])
                return Words(
                    version,
                    self._nodes,
                    allowed,
                    count,
                    table,
                    self._tokens[table],
                    partial(search.words.__getitem__, retriever) if search.words else read_statistics,
                )
            case Retriever.TRIGRAM:
                return Trigrams(version, self._nodes, allowed, self._wanted, search.trigram_threshold)

    def _listing(self, retriever: MilvusRetriever, count: int) -> Listing:
        node_count = self._version.manifest.node_count
        return Listing(retriever.propose, count, retriever.least, node_count, retriever.margin(count), MOST_ROWS)

    def _file_scores(self, retriever: MilvusRetriever, visibility: Visibility) -> RowFileScores | None:
        if not (self._search.scores_files and isinstance(retriever, Words) and retriever.table == CODE):
            return None
        return partial(file_scores, retriever, self._version, self._nodes, visibility, self._checkpoint)


def columns_of(version: OpenVersion, nodes: NodeRows, rows: Positions) -> NodeColumns:
    """The facts that ranking needs about candidates [m]."""
    deleted = np.asarray([node_class.deleted for node_class in version.document.classes], dtype=np.bool_)
    node_rows = nodes.read(rows, _COLUMNS)
    corpus_types = list(map(unhexed, node_rows.strings("corpus_type")))
    distinct = sorted(set(corpus_types))
    places = {corpus_type: place for place, corpus_type in enumerate(distinct)}
    return NodeColumns(
        corpus_types=tuple(distinct),
        corpus_codes=np.fromiter(map(places.__getitem__, corpus_types), dtype=np.int64, count=len(rows)),
        timestamps=node_rows.integers("timestamp"),
        purposes=purposes_of(
            np.fromiter(map(purpose_of_path, map(unhexed, node_rows.strings("path"))), dtype=np.int8, count=len(rows)),
            np.fromiter((name.startswith(PROSE_PREFIX) for name in corpus_types), dtype=np.bool_, count=len(rows)),
            node_rows.flags("is_test"),
            node_rows.flags("is_generated"),
        ),
        is_deleted=deleted.take(node_rows.integers("class")),
        char_counts=node_rows.integers("char_count"),
        files=files_of(node_rows.integers("document")),
    )
