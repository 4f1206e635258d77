"""How the weights of adaptive fusion were chosen: fuses the scores of every candidate with many weights.

The server returns each match's score of every retriever, so one call per query is enough to try any weights.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from statistics import fmean

import numpy as np
from rich.progress import track

from bench.quality.evaluation import canonical_ids
from bench.quality.metrics import measure
from bench.quality.modes import LIST_LIMIT
from bench.quality.sets import HELD_OUT, Document, JudgedQuery
from groundwire_client import (
    FusionMode,
    GroundwireClient,
    HybridParameters,
    IndexScope,
    QueryClass,
    Retriever,
    StageScores,
    choice,
)
from groundwire_server.domain.query.query_parameters import QueryDefaults
from groundwire_server.domain.search.candidates import Floats
from groundwire_server.domain.search.fusion import by_lead, by_range

Normaliser = Callable[[Floats], Floats]

RETRIEVERS = (Retriever.RETRIEVER_DENSE, Retriever.RETRIEVER_BM25_CODE, Retriever.RETRIEVER_BM25_PROSE)
DENSE_WEIGHTS = tuple(step / 20 for step in range(8, 21))
CODE_SHARE = 0.6
"""The share of BM25 over code in the weight that the dense retriever leaves; the rest is that of BM25 over prose."""


def by_maximum(scores: Floats) -> Floats:
    """`score / highest`: the simple normalisation, for comparison."""
    highest = scores.max(initial=0.0)
    return scores / highest if highest > 0.0 else np.zeros(len(scores))


LEXICAL: Mapping[str, Normaliser] = {"by lead": by_lead, "by maximum": by_maximum}
"""The normalisations of BM25 scores that are compared."""


@dataclass(frozen=True, slots=True)
class Pool:
    """A query's candidates by id: one column of scores for each of RETRIEVERS, and the relevant ids."""

    is_held_out: bool
    ids: tuple[str, ...]
    columns: tuple[tuple[float | None, ...], ...]
    relevant: frozenset[str]


@dataclass(frozen=True, slots=True)
class Curve:
    """The mean nDCG@10 at each of DENSE_WEIGHTS, under one normalisation of the other retrievers."""

    normalisation: str
    ndcg_10: tuple[float, ...]


def gather(
    client: GroundwireClient, scope: IndexScope, corpus: Sequence[Document], queries: Sequence[JudgedQuery]
) -> list[Pool]:
    """The candidates of the natural-language queries. Raises GroundwireError."""
    node_ids = canonical_ids(scope, corpus)
    limits = HybridParameters(top_k=4 * LIST_LIMIT, vec_limit=LIST_LIMIT, lex_limit=LIST_LIMIT)
    pools = []
    for query in track(queries, "sweep", transient=True):
        result = client.query(
            scope, query.query, hybrid=limits, fusion=FusionMode.FUSION_MODE_WEIGHTED, query_vector=query.vector
        )
        if result.meta.query_class == QueryClass.QUERY_CLASS_NATURAL_LANGUAGE:
            relevant = frozenset(node_ids[id_] for id_ in query.relevant)
            scores = {match.id: match.scores for match in result.matches if match.HasField("scores")}
            pools.append(pool_of(scores, relevant, is_held_out=HELD_OUT in query.parts))
    return pools


def pool_of(scores: Mapping[str, StageScores], relevant: frozenset[str], *, is_held_out: bool) -> Pool:
    """The candidates that at least one of RETRIEVERS lists, by id; each lists its LIST_LIMIT best."""
    listed: set[str] = set()
    for retriever in RETRIEVERS:
        floor = QueryDefaults().min_sim if retriever == Retriever.RETRIEVER_DENSE else sys.float_info.min
        own = ((id_, _score(stages, retriever)) for id_, stages in scores.items())
        above = sorted((-score, id_) for id_, score in own if score is not None and score >= floor)
        listed.update(id_ for _, id_ in above[:LIST_LIMIT])
    ids = tuple(sorted(listed))
    columns = tuple(tuple(_score(scores[id_], retriever) for id_ in ids) for retriever in RETRIEVERS)
    return Pool(is_held_out, ids, columns, relevant)


def sweep(pools: Sequence[Pool]) -> list[Curve]:
    """A curve over DENSE_WEIGHTS for every normalisation of LEXICAL."""
    curves = []
    for name, lexical in LEXICAL.items():
        normalised = [_normalised(pool, lexical) for pool in pools]
        means = [
            fmean(_ndcg(pool, columns, weight) for pool, columns in zip(pools, normalised, strict=True))
            for weight in DENSE_WEIGHTS
        ]
        curves.append(Curve(name, tuple(means)))
    return curves


def _score(stages: StageScores, retriever: Retriever.ValueType) -> float | None:
    scored: dict[str, float] = {field.name: score for field, score in stages.ListFields()}
    return scored.get(choice(Retriever, retriever))


def _normalised(pool: Pool, lexical: Normaliser) -> list[list[float]]:
    dense, *others = pool.columns
    # NaN means a candidate without a vector.
    found = [by_range(np.asarray(dense, dtype=np.float64))]
    found += [lexical(np.asarray(column, dtype=np.float64)) for column in others]
    return [column.tolist() for column in found]


def _ndcg(pool: Pool, columns: Sequence[Sequence[float]], dense_weight: float) -> float:
    rest = 1.0 - dense_weight
    weights = (dense_weight, rest * CODE_SHARE, rest * (1.0 - CODE_SHARE))
    fused = (
        fsum(weight * share for weight, share in zip(weights, row, strict=True)) for row in zip(*columns, strict=True)
    )
    best_first = sorted(zip(fused, pool.ids, strict=True), key=lambda entry: (-entry[0], entry[1]))
    return measure([id_ for _, id_ in best_first], pool.relevant).ndcg_10
