"""The candidates of a query: the union of what its sources propose, each with its score in every source."""

import time
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import starmap
from math import isnan

import numpy as np
from numpy.typing import NDArray

from groundwire_index.nodes.node_table import NodeTable
from groundwire_index.nodes.reading_order import NO_DOCUMENT
from groundwire_server.backends.embedded.known_rows import KnownRows
from groundwire_server.backends.embedded.pool import View
from groundwire_server.backends.embedded.proposal import CandidateSource, Proposal
from groundwire_server.backends.embedded.sources import asked_sources
from groundwire_server.backends.embedded.visibility import Visibility
from groundwire_server.domain.candidates import Candidate, Candidates, CandidateSearch, SourceScore
from groundwire_server.domain.checkpoint import Checkpoint
from groundwire_server.domain.lifecycle import Lifecycle
from groundwire_server.domain.query import Source
from groundwire_server.domain.ranking import FRAGMENT_CHARS, PROSE_PREFIX, Traits
from groundwire_server.domain.search import Filter

Rows = NDArray[np.int64]


def find_candidates(view: View, search: CandidateSearch, known: KnownRows, checkpoint: Checkpoint) -> Candidates:
    """See `RetrievalSnapshot.find_candidates`; notes the rows of what is found as known.

    Raises as `asked_sources` does, and what the checkpoint raises.
    """
    sources = asked_sources(view.index, search, checkpoint)
    checkpoint()
    began = time.thread_time()
    proposals = _propose(sources, view.visibility, view.visibility.narrowed(search.filter), checkpoint)
    space = view.index.manifest.vector_space
    dense_space = space if Source.DENSE in (proposal.source for proposal in proposals) else None
    rows, items = _candidates(view, proposals)
    known.note([item.id for item in items], rows.tolist())
    deleted_blocked = _deleted_blocked(view, sources, search.filter, checkpoint)
    return Candidates(
        items=items,
        list_lengths=tuple((proposal.source, len(proposal.ranked)) for proposal in proposals),
        deleted_blocked=deleted_blocked,
        has_vectors=space is not None,
        embedder=dense_space.embedder if dense_space else "",
        vector_space_id=dense_space.fingerprint if dense_space else "",
        exact=all(proposal.exact for proposal in proposals),
        milliseconds=(time.thread_time() - began) * 1000.0,
    )


def _propose(
    sources: Iterable[CandidateSource], visibility: Visibility, allowed: NDArray[np.bool_], checkpoint: Checkpoint
) -> list[Proposal]:
    proposals: list[Proposal] = []
    for source in sources:
        proposals.append(source.propose(visibility, allowed))
        checkpoint()
    return proposals


def _candidates(view: View, proposals: Sequence[Proposal]) -> tuple[Rows, tuple[Candidate, ...]]:
    """The rows of the candidates, ascending, and the candidates."""
    rows = _union(proposals)
    columns = {proposal.source: _source_scores(proposal, rows) for proposal in proposals}
    unasked: list[SourceScore | None] = [None] * len(rows)
    dense, code, prose, trigram = (columns.get(source, unasked) for source in Source)
    nodes = view.index.nodes
    corpus_types = nodes.categories["corpus_type"].of_rows(rows)
    facts = zip(
        view.visibility.ids_of(rows.tolist()),
        corpus_types,
        map(nodes.timestamp, rows.tolist()),
        dense,
        code,
        prose,
        trigram,
        _traits(nodes, rows, corpus_types),
        _files(view.index.reading_order.document.take(rows)),
        _file_scores(proposals, rows),
        strict=True,
    )
    return rows, tuple(starmap(Candidate, facts))


def _traits(nodes: NodeTable, rows: Rows, corpus_types: Iterable[str]) -> Iterator[Traits]:
    return map(
        _trait_of,
        nodes.flags["is_test"].take(rows).tolist(),
        nodes.flags["is_generated"].take(rows).tolist(),
        (corpus_type.startswith(PROSE_PREFIX) for corpus_type in corpus_types),
        (nodes.numbers["char_count"].take(rows) < FRAGMENT_CHARS).tolist(),
    )


_trait_of = cache(Traits)
"""Candidates share the sixteen combinations of traits: an object for each candidate would take longer."""


def _files(documents: NDArray[np.int32]) -> list[int | None]:
    """The files' numbers among those of the candidates, so that they say nothing of others."""
    distinct, numbers = np.unique(documents, return_inverse=True)
    return [None if distinct[number] == NO_DOCUMENT else number for number in numbers.tolist()]


def _union(proposals: Iterable[Proposal]) -> Rows:
    """The rows that stand in a list, ascending, which is id order."""
    return np.asarray(sorted({hit.row for proposal in proposals for hit in proposal.ranked}), dtype=np.int64)


def _source_scores(proposal: Proposal, rows: Rows) -> list[SourceScore | None]:
    ranks = {hit.row: rank for rank, hit in enumerate(proposal.ranked, start=1)}
    return [
        _NOTHING if score == 0.0 and row not in ranks else None if isnan(score) else SourceScore(score, ranks.get(row))
        for row, score in zip(rows.tolist(), proposal.scores_of(rows).tolist(), strict=True)
    ]


_NOTHING = SourceScore(0.0, None)
"""Shared by the many candidates that a lexical source does not match, which saves the time of making one for each."""


def _file_scores(proposals: Iterable[Proposal], rows: Rows) -> list[float | None]:
    for proposal in proposals:
        if proposal.file_scores_of is not None:
            return [None if isnan(score) else score for score in proposal.file_scores_of(rows).tolist()]
    return [None] * len(rows)


def _deleted_blocked(view: View, sources: Iterable[CandidateSource], filter_: Filter, checkpoint: Checkpoint) -> int:
    """How many deleted rows would be candidates if the caller had asked for them as well."""
    whole, deleted = view.caller.of(Lifecycle.ALL), view.index.nodes.flags["deleted"]
    if view.lifecycle is not Lifecycle.ACTIVE or whole is view.visibility:
        return 0
    allowed = whole.narrowed(filter_)
    if not (allowed & deleted).any():
        return 0
    return int(np.count_nonzero(deleted[_union(_propose(sources, whole, allowed, checkpoint))]))
