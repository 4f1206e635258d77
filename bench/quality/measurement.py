"""A whole measurement: index, serve, run queries, report."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import TypeAlias

from rich.progress import track

from bench.quality.metrics import DEPTH, measure
from bench.quality.report import ModeRun, grids, summarise
from bench.quality.sets import Document, JudgedQuery, write_nodes
from bench.shared.programs import build_index, running, serve_command
from bench.shared.results import write_results
from bench.shared.statistics import RESAMPLES, SEED
from groundwire_client import FusionMode, GroundwireClient, HybridParameters, IndexScope, Retriever, SearchType, ids

LIST_LIMIT = 100
"""The default for every `top_k` up to 33, so that the first ten of a ranking are what `top_k` 10 gives."""

Mode: TypeAlias = Callable[[GroundwireClient, IndexScope, JudgedQuery], Sequence[str]]
"""A way to search; returns the canonical ids of the first hundred, best first."""


def _query(
    *retrievers: Retriever.ValueType,
    fusion: FusionMode.ValueType = FusionMode.FUSION_MODE_ADAPTIVE,
    rerank: bool = False,
    diversify_strength: float = 0.0,
) -> Mode:
    """QueryService.Query over some of its retrievers; none named means all."""
    hybrid = HybridParameters(
        top_k=DEPTH, vec_limit=LIST_LIMIT, lex_limit=LIST_LIMIT, diversify_strength=diversify_strength
    )
    asks_dense = not retrievers or Retriever.RETRIEVER_DENSE in retrievers

    def node_ids(client: GroundwireClient, scope: IndexScope, query: JudgedQuery) -> Sequence[str]:
        result = client.query(
            scope,
            query.query,
            hybrid=hybrid,
            retrievers=retrievers,
            fusion=fusion,
            rerank=rerank,
            query_vector=query.vector if asks_dense else (),
        )
        return [match.id for match in result.matches]

    return node_ids


def _search(search_type: SearchType.ValueType) -> Mode:
    """RetrievalService.SearchNodes."""

    def node_ids(client: GroundwireClient, scope: IndexScope, query: JudgedQuery) -> Sequence[str]:
        vector = () if search_type == SearchType.SEARCH_TYPE_BM25 else query.vector
        return ids(client.search(scope, query.query, search_type=search_type, top_k=DEPTH, query_vector=vector))

    return node_ids


RERANKED = "adaptive+rerank"
"""The mode that needs a reranker."""
MODES: Mapping[str, Mode] = {
    "dense": _query(Retriever.RETRIEVER_DENSE),
    "bm25_code": _query(Retriever.RETRIEVER_BM25_CODE),
    "bm25_prose": _query(Retriever.RETRIEVER_BM25_PROSE),
    "trigram": _query(Retriever.RETRIEVER_TRIGRAM),
    "rrf": _query(fusion=FusionMode.FUSION_MODE_RRF),
    "weighted": _query(fusion=FusionMode.FUSION_MODE_WEIGHTED),
    "adaptive": _query(),
    "adaptive+mmr": _query(diversify_strength=0.3),
    RERANKED: _query(rerank=True),
    "search_semantic": _search(SearchType.SEARCH_TYPE_SEMANTIC),
    "search_bm25": _search(SearchType.SEARCH_TYPE_BM25),
    "search_hybrid": _search(SearchType.SEARCH_TYPE_HYBRID),
}
"""The modes, by their names in tables."""


CALL_SECONDS = 60.0


class UnknownModeError(Exception):
    """There is no such mode, or it needs an option that was not given."""


@dataclass(frozen=True, slots=True)
class Setup:
    """The modes by name, the baseline's name, and the models by name or path ("" for none)."""

    modes: Mapping[str, Mode]
    baseline: str
    embedder: str
    reranker: str


def chosen_modes(names: Sequence[str] | None, baseline: str, reranker: str) -> Mapping[str, Mode]:
    """The named modes, or all that can run, in the order of the table; the baseline is among them.

    Raises UnknownModeError.
    """
    possible = [name for name in MODES if reranker or name != RERANKED]
    wanted = {*(names or possible), baseline}
    unknown = sorted(wanted.difference(possible))
    if unknown:
        raise UnknownModeError(
            f"mode {', '.join(unknown)}: must be among {', '.join(possible)}; reranking needs --reranker"
        )
    return {name: MODES[name] for name in possible if name in wanted}


def measure_set(
    name: str, corpus: Sequence[Document], queries: Sequence[JudgedQuery], measure: str, setup: Setup, out: Path
) -> None:
    """Indexes a corpus, runs its queries over the wire, and writes `NAME.md` and `NAME.json`.

    Raises GroundwireError, RuntimeError.
    """
    nodes, data = out / name / "nodes.jsonl", out / "data"
    write_nodes(nodes, corpus)
    scope = build_index(nodes, name, data, setup.embedder)
    prefix = f"{scope.repository}::{scope.branch}"
    ids = {item.id: f"{prefix}::{item.kind}::{item.id}" for item in corpus}
    relevant = [{ids[id_] for id_ in query.relevant} for query in queries]
    reranker = ("--reranker", setup.reranker) if setup.reranker else ()
    with (
        running(serve_command(data, reranker, setup.embedder), out / f"{name}.log") as server,
        GroundwireClient(server.address, timeout=CALL_SECONDS) as client,
    ):
        runs = {item: _run(client, scope, item, mode, queries, relevant) for item, mode in setup.modes.items()}
    parts = summarise(queries, runs, setup.baseline)
    parameters = {"embedder": setup.embedder, "reranker": setup.reranker, "resamples": RESAMPLES, "seed": SEED}
    content = {"documents": len(corpus), "baseline": setup.baseline, "parts": list(map(asdict, parts))}
    tables = grids(f"{name}, {len(corpus):,} documents", parts, setup.baseline, measure)
    write_results(out, name, tables, {**content, "parameters": parameters})


def _run(
    client: GroundwireClient,
    scope: IndexScope,
    name: str,
    mode: Mode,
    queries: Sequence[JudgedQuery],
    relevant: Sequence[set[str]],
) -> ModeRun:
    """Runs one mode, one call at a time."""
    measures, times = [], []
    for query, wanted in track(list(zip(queries, relevant, strict=True)), name, transient=True):
        started = time.perf_counter()
        ranking = mode(client, scope, query)
        times.append(time.perf_counter() - started)
        measures.append(measure(ranking, wanted))
    return ModeRun(measures, 1_000.0 * median(times))
