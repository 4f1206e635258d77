"""Candidates told one by one, which is easier to write down than columns, and searches with their filter."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from groundwire_index.nodes.node_table import NO_TIMESTAMP
from groundwire_index.nodes.purposes import Purpose
from groundwire_index.scope import Scope
from groundwire_server.backends.embedded.backend import EmbeddedBackend
from groundwire_server.backends.interface import Snapshot
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.access.lifecycle import Lifecycle
from groundwire_server.domain.query.query import Freshness, FusionMode
from groundwire_server.domain.query.query_parameters import EffectiveParameters
from groundwire_server.domain.search.candidates import (
    Candidates,
    NodeColumns,
    Retrieval,
    RetrieverScores,
    no_file_scores,
)
from groundwire_server.domain.search.search import Filter, Retriever
from groundwire_server.domain.texts.texts import StoredText
from groundwire_server.engine.stages import fuse
from groundwire_server.execution.call import Checkpoint
from support.calls import never_stop

PUBLIC = AccessContext()
SCOPE = Scope("shop", "main", "v1")


@dataclass(frozen=True, slots=True)
class Asked:
    """A search with its filter; `retrievers` empty means all, `query_vector` is of unit length."""

    query: str
    query_vector: NDArray[np.float64] | None
    retrievers: frozenset[Retriever]
    dense_limit: int
    lexical_limit: int
    min_similarity: float | None
    trigram_threshold: float
    filter: Filter
    scores_files: bool = False

    @property
    def retrieval(self) -> Retrieval:
        """The same for a snapshot that was opened with the filter."""
        limits = {
            retriever: self.dense_limit if retriever is Retriever.DENSE else self.lexical_limit
            for retriever in self.retrievers or frozenset(Retriever)
        }
        return Retrieval(
            query=self.query,
            query_vector=self.query_vector,
            limits=limits,
            min_similarity=self.min_similarity,
            trigram_threshold=self.trigram_threshold,
            with_columns=True,
            scores_files=self.scores_files,
        )


@dataclass(frozen=True, slots=True)
class Place:
    """A candidate by one retriever; no rank beyond the retriever's list."""

    score: float
    rank: int | None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A candidate; None for a retriever that was not asked or cannot score it, for no file and for no file's score."""

    id: str
    corpus_type: str
    timestamp: int | None
    dense: Place | None
    bm25_code: Place | None
    bm25_prose: Place | None
    trigram: Place | None
    purpose: Purpose = Purpose.PRODUCT
    chars: int = 0
    file: int | None = None
    file_score: float | None = None
    is_alone: bool = False


@dataclass(frozen=True, slots=True)
class Told:
    """What was found, and how long each list is."""

    items: tuple[Candidate, ...]
    list_lengths: tuple[tuple[Retriever, int], ...]
    deleted_blocked: int
    exact: bool = True


def find(
    backend: EmbeddedBackend,
    search: Asked,
    caller: AccessContext = PUBLIC,
    lifecycle: Lifecycle = Lifecycle.ACTIVE,
    checkpoint: Checkpoint = never_stop,
) -> Told:
    """What the caller finds in the one version of SCOPE."""
    snapshot = backend.open(SCOPE, caller, lifecycle, search.filter)
    candidates = snapshot.retrieve(search.retrieval, checkpoint)
    columns, ids = candidates.columns, snapshot.ids(candidates.rows)
    items = [
        Candidate(
            id=id_,
            corpus_type=columns.corpus_types[columns.corpus_codes[position]],
            timestamp=None if columns.timestamps[position] == NO_TIMESTAMP else int(columns.timestamps[position]),
            **{retriever.value: _place(candidates, retriever, position) for retriever in Retriever},
            purpose=Purpose(int(columns.purposes[position])),
            chars=int(columns.char_counts[position]),
            file=None if columns.files[position] < 0 else int(columns.files[position]),
            file_score=_number(candidates.files.scores[position]),
            is_alone=bool(candidates.files.is_alone[position]),
        )
        for position, id_ in enumerate(ids)
    ]
    lengths = tuple((retriever, scores.length) for retriever, scores in candidates.by_retriever.items())
    whole = snapshot.with_deleted()
    deleted = 0 if whole is None else whole.retrieve(search.retrieval, checkpoint).columns.is_deleted.sum()
    return Told(tuple(items), lengths, int(deleted), candidates.exact)


def texts_of(snapshot: Snapshot, ids: Sequence[str]) -> list[StoredText]:
    """The texts of those ids that are there."""
    return snapshot.texts(np.fromiter(snapshot.rows(ids).values(), dtype=np.int64))


def microseconds(time: datetime | None) -> int | None:
    """A time as candidates tell it."""
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    return None if time is None else (time - epoch) // timedelta(microseconds=1)


def _place(candidates: Candidates, retriever: Retriever, position: int) -> Place | None:
    scores = candidates.by_retriever.get(retriever)
    score = None if scores is None else _number(scores.scores[position])
    return None if scores is None or score is None else Place(score, int(scores.ranks[position]) or None)


def _number(score: float) -> float | None:
    return None if np.isnan(score) else float(score)


def candidates_of(columns: Mapping[Retriever, Sequence[Place | None]], corpus_types: Sequence[str] = ()) -> Candidates:
    """One candidate a row of the columns; a retriever without a column was not asked."""
    count = len(next(iter(columns.values()), ()))
    distinct, codes = np.unique(np.asarray([*corpus_types, *[""] * (count - len(corpus_types))]), return_inverse=True)
    nothing = np.zeros(count, dtype=np.int64)
    return Candidates(
        rows=np.arange(count),
        by_retriever={
            retriever: RetrieverScores(
                np.asarray([np.nan if place is None else place.score for place in columns[retriever]], np.float64),
                np.asarray([place.rank or 0 if place else 0 for place in columns[retriever]], np.int64),
            )
            for retriever in Retriever
            if retriever in columns
        },
        columns=NodeColumns(
            corpus_types=tuple(distinct.tolist()),
            corpus_codes=codes,
            timestamps=np.full(count, NO_TIMESTAMP),
            purposes=np.zeros(count, dtype=np.int8),
            is_deleted=nothing > 0,
            char_counts=nothing + 1_000,
            files=nothing - 1,
        ),
        files=no_file_scores(count),
    )


@dataclass(frozen=True, slots=True)
class FusedCandidate:
    """A candidate's position in the fused list's candidates, and what the fusion gives it."""

    position: int
    fused: float
    relevance: float


def fuse_by_rank(candidates: Candidates, rrf_k: int) -> list[FusedCandidate]:
    """Reciprocal rank fusion, best first."""
    return _fused(candidates, FusionMode.RRF, {}, rrf_k)


def fuse_by_weight(candidates: Candidates, weights: Mapping[Retriever, float]) -> list[FusedCandidate]:
    """The weighted sum, best first."""
    return _fused(candidates, FusionMode.WEIGHTED, weights, 60)


def _fused(
    candidates: Candidates, mode: FusionMode, weights: Mapping[Retriever, float], rrf_k: int
) -> list[FusedCandidate]:
    parameters = EffectiveParameters(
        alpha=0.5,
        min_sim=None,
        top_k=10,
        vec_limit=10,
        lex_limit=10,
        trgm_limit=0.0,
        max_candidates=None,
        diversify_strength=0.0,
        rrf_k=rrf_k,
        freshness=Freshness(),
    )
    ranked = fuse(candidates, mode, tuple(weights.items()), parameters)
    return [
        FusedCandidate(position, float(ranked.fused[position]), float(ranked.final[position]))
        for position in ranked.order.tolist()
    ]
