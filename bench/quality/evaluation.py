"""Runs every query in every mode over the wire, and measures the results."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from rich.progress import track

from bench.quality.metrics import Measures, measure
from bench.quality.modes import Mode
from bench.quality.sets import Document, JudgedQuery
from groundwire_client import GroundwireClient, IndexScope


@dataclass(frozen=True, slots=True)
class ModeRun:
    """One mode's measures, one per query in their order, and the milliseconds of each call at the client."""

    mode: str
    measures: tuple[Measures, ...]
    median_ms: float


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The results of all modes on one set."""

    name: str
    documents: int
    queries: tuple[JudgedQuery, ...]
    runs: tuple[ModeRun, ...]


def canonical_ids(scope: IndexScope, corpus: Sequence[Document]) -> dict[str, str]:
    """The canonical ids of the documents in an index, by document id."""
    return {one.id: f"{scope.repository}::{scope.branch}::{one.kind}::{one.id}" for one in corpus}


def evaluate(
    client: GroundwireClient,
    scope: IndexScope,
    name: str,
    corpus: Sequence[Document],
    queries: Sequence[JudgedQuery],
    modes: Mapping[str, Mode],
) -> Evaluation:
    """Runs the modes over an index of the corpus, one call at a time. Raises GroundwireError."""
    node_ids = canonical_ids(scope, corpus)
    relevant = [frozenset(node_ids[id_] for id_ in query.relevant) for query in queries]
    runs = []
    for mode_name, mode in modes.items():
        measures, times = [], []
        for query, wanted in track(list(zip(queries, relevant, strict=True)), f"{name}: {mode_name}", transient=True):
            started = time.perf_counter()
            ranking = mode.ids(client, scope, query)
            times.append(time.perf_counter() - started)
            measures.append(measure(ranking, wanted))
        runs.append(ModeRun(mode_name, tuple(measures), 1_000.0 * median(times)))
    return Evaluation(name, len(corpus), tuple(queries), tuple(runs))
