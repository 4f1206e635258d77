"""The stages between the candidates of a query and its matches; each reorders the result of the one before it.

Fusion, ranking by file and graph, rerank, freshness, boost, repetition, definitions, diversity. A candidate's `final`
score is that of the fusion or the reranker, in [0, 1], as the stages after it have changed it. `domain.ranking` has the
rules of those that rank a repository, and their parameters.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from groundwire_index.nodes.purposes import PROSE_PREFIX, Purpose, asked_purposes
from groundwire_server.backends.interface import Snapshot
from groundwire_server.domain.query.adaptive import adaptive_weights
from groundwire_server.domain.query.asked_definition import AskedDefinition
from groundwire_server.domain.query.corpus_boost import BoostRule, boost_of
from groundwire_server.domain.query.definitions import current_first
from groundwire_server.domain.query.diversity import cosines, diversify
from groundwire_server.domain.query.freshness import blend, decays
from groundwire_server.domain.query.neighbourhood import apart_from_own_parts, neighbour_gains
from groundwire_server.domain.query.query import Freshness, FusionMode, QueryClass
from groundwire_server.domain.query.query_parameters import EffectiveParameters
from groundwire_server.domain.query.ranking import (
    file_shares,
    fragment_factors,
    is_data,
    length_factors,
    purpose_factors,
    spread_out,
    within_file_factors,
)
from groundwire_server.domain.query.ranking_parameters import FILE_WEIGHT, GRAPH_WEIGHT
from groundwire_server.domain.search.candidates import Candidates, Floats, Positions
from groundwire_server.domain.search.fusion import (
    alpha_weights,
    best_first,
    highest_fused,
    reciprocal_rank_fusion,
    weighted_fusion,
)
from groundwire_server.domain.search.search import Retriever
from groundwire_server.engine.redefinitions import Redefinitions
from groundwire_server.engine.rerankers.rerank import Reranker, rerank_scores
from groundwire_server.execution.call import Checkpoint

SQL_KIND = "sql"
"""The kind of the nodes of SQL scripts."""
RERANK_WINDOW = 50
"""How many candidates a reranker reads, unless more are asked for."""


@dataclass(frozen=True, slots=True, eq=False)
class Ranked:
    """Candidates on their way through the stages: `order` has the positions of those that are left, best first.

    The other columns [n] have what each stage gave each candidate; None where a stage has not run. NaN in `rerank`,
    `freshness` and `best_older_definition` means a candidate that was not scored there.
    """

    candidates: Candidates
    order: Positions
    final: Floats
    fused: Floats
    file: Floats | None = None
    purpose_factor: Floats | None = None
    kind_factor: Floats | None = None
    length_factor: Floats | None = None
    within_file_factor: Floats | None = None
    graph: Floats | None = None
    rerank: Floats | None = None
    freshness: Floats | None = None
    boost: Floats | None = None
    repeat_factor: Floats | None = None
    older_definition_factor: Floats | None = None
    older_definitions: NDArray[np.int64] | None = None
    best_older_definition: Floats | None = None

    @property
    def rows(self) -> Positions:
        """The rows of those that are left, best first."""
        return self.candidates.rows[self.order]

    def column(self, positions: Positions, values: Floats | Sequence[float], default: float = 0.0) -> Floats:
        """A column [n] of values [m] at some positions [m]."""
        made = np.full(len(self.candidates), default)
        made[positions] = values
        return made


def purposes_asked_for(query: str, boosts: Sequence[BoostRule]) -> frozenset[Purpose]:
    """The purposes of the texts that a question asks for, by its words or by a corpus boost of prose."""
    calls_for_prose = any(corpus.startswith(PROSE_PREFIX) for rule in boosts for corpus in rule.corpus_types)
    return asked_purposes(query) | ({Purpose.DOCUMENTATION} if calls_for_prose else set())


def fusion_weights(
    mode: FusionMode, query_class: QueryClass, parameters: EffectiveParameters, retrievers: Sequence[Retriever]
) -> tuple[tuple[Retriever, float], ...]:
    """Each retriever's weight, in the order given; 1 for each under reciprocal rank fusion."""
    if mode is FusionMode.RRF:
        return tuple((retriever, 1.0) for retriever in retrievers)
    if mode is FusionMode.WEIGHTED:
        return alpha_weights(parameters.alpha, retrievers)
    return adaptive_weights(query_class, retrievers)


def fuse(
    candidates: Candidates,
    mode: FusionMode,
    weights: Sequence[tuple[Retriever, float]],
    parameters: EffectiveParameters,
) -> Ranked:
    """One list of all retrievers' candidates, at most `max_candidates` long."""
    if mode is FusionMode.RRF:
        ranks = [retriever_scores.ranks for retriever_scores in candidates.by_retriever.values()]
        fused = reciprocal_rank_fusion(ranks, parameters.rrf_k)
        positions = np.flatnonzero(fused)
        final = fused / highest_fused(len(ranks), parameters.rrf_k)
    else:
        positions, shares = weighted_fusion(candidates, dict(weights))
        fused = np.zeros(len(candidates))
        fused[positions] = shares
        final = fused
    return Ranked(candidates, best_first(positions, final)[: parameters.max_candidates], final, fused)


def ranked_in_repository(ranked: Ranked, wanted: Collection[Purpose], snapshot: Snapshot) -> Ranked:
    """Candidates with what their files give them, weighed by what their texts are, and with what neighbours give.

    In this order: what a neighbour gives is worth as much as it counts itself. Length and words within the file count
    where some candidate has a neighbour: they tell declarations of a program apart, not texts of a collection.
    """
    kept = np.sort(ranked.order)
    if not len(kept):
        return ranked
    candidates, columns = ranked.candidates, ranked.candidates.columns
    data = is_data(columns)[kept]
    neighbourhood = apart_from_own_parts(snapshot.neighbourhood(candidates.rows[kept]), columns.files[kept], data)
    files = file_shares(candidates.files.scores[kept], candidates.files.is_alone[kept])
    by_purpose, by_length, by_words = purpose_factors(columns, wanted), np.ones(len(kept)), np.ones(len(kept))
    by_kind = by_purpose[kept] * fragment_factors(columns.char_counts[kept])
    if neighbourhood.degrees.any():
        by_length = np.where(data, 1.0, length_factors(columns.char_counts[kept]))
        if Retriever.BM25_CODE in candidates.by_retriever:
            by_words = within_file_factors(
                candidates.by_retriever[Retriever.BM25_CODE].scores[kept], columns.files[kept]
            )
    scores = (ranked.final[kept] + FILE_WEIGHT * files) * by_kind * by_length * by_words
    gains = neighbour_gains(scores, neighbourhood)
    final = ranked.column(kept, scores + GRAPH_WEIGHT * gains)
    return replace(
        ranked,
        order=best_first(kept, final),
        final=final,
        file=ranked.column(kept, files),
        purpose_factor=by_purpose,
        kind_factor=ranked.column(kept, by_kind, 1.0),
        length_factor=ranked.column(kept, by_length, 1.0),
        within_file_factor=ranked.column(kept, by_words, 1.0),
        graph=ranked.column(kept, gains),
    )


def rerank(
    query: str, ranked: Ranked, top_k: int, snapshot: Snapshot, reranker: Reranker, checkpoint: Checkpoint
) -> Ranked:
    """The best candidates as the reranker orders them; what it has not read is left out."""
    window = ranked.order[: max(RERANK_WINDOW, top_k)]
    scores = rerank_scores(query, ranked.candidates, window, snapshot, reranker, checkpoint)
    final = ranked.column(window, scores, np.nan)
    return replace(ranked, order=best_first(window, final), final=final, rerank=final)


def freshen(ranked: Ranked, now: datetime, freshness: Freshness) -> Ranked:
    """Recent conversations gain; `freshness` stays None where none is left that has a date."""
    decay = decays(ranked.candidates.columns, now, freshness)
    if np.isnan(decay[ranked.order]).all():
        return ranked
    final = np.where(np.isnan(decay), ranked.final, blend(ranked.final, decay, freshness.weight))
    return replace(ranked, order=best_first(ranked.order, final), final=final, freshness=decay)


def boost(ranked: Ranked, rules: Sequence[BoostRule], definition: AskedDefinition | None, snapshot: Snapshot) -> Ranked:
    """Nodes of the corpora that the query calls for gain, and objects whose definition it asks for."""
    if not rules and definition is None:
        return ranked
    columns = ranked.candidates.columns
    multipliers = np.asarray([boost_of(rules, name) for name in columns.corpus_types], dtype=np.float64)
    boosts = multipliers[columns.corpus_codes]
    if definition is not None:
        labels, declarations = snapshot.labels(ranked.rows), snapshot.declarations(ranked.rows)
        boosts[ranked.order] *= [
            definition.factor(label.symbol, declaration.kind == SQL_KIND)
            for label, declaration in zip(labels, declarations, strict=True)
        ]
    final = ranked.final * boosts
    return replace(ranked, order=best_first(ranked.order, final), final=final, boost=boosts)


def spread_over_files(ranked: Ranked, factor: float, count: int) -> Ranked:
    """The best `count` when a candidate counts less for every better one of its file."""
    files = ranked.candidates.columns.files[ranked.order]
    places, repeats = spread_out(ranked.final[ranked.order], files, factor, count)
    order = ranked.order[places]
    factors = ranked.column(order, repeats, 1.0)
    return replace(ranked, order=order, final=ranked.final * factors, repeat_factor=factors)


def definitions_in_order(ranked: Ranked, redefined: Redefinitions, factor: float) -> Ranked:
    """The current definition of an object before the older ones, whose scores are multiplied by `factor`."""
    rows = ranked.candidates.rows
    older, newer = np.searchsorted(rows, redefined.older), np.searchsorted(rows, redefined.newer)
    scored = current_first(ranked.final, older, newer, factor)
    return replace(
        ranked,
        order=best_first(ranked.order, scored.final),
        final=scored.final,
        older_definition_factor=scored.factors,
        older_definitions=scored.older_counts,
        best_older_definition=scored.best_older,
    )


def diversified(ranked: Ranked, parameters: EffectiveParameters, snapshot: Snapshot, checkpoint: Checkpoint) -> Ranked:
    """The `top_k` matches, chosen so that they are less similar to each other."""
    vectors = snapshot.vectors(ranked.rows)

    def similarities(place: int) -> Floats:
        checkpoint()
        return cosines(vectors, vectors[place])

    scores = ranked.final[ranked.order]
    chosen = diversify(scores, similarities, parameters.diversify_strength, parameters.top_k)
    return replace(ranked, order=ranked.order[np.asarray(chosen, dtype=np.int64)])
