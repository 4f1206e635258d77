"""A whole measurement: index, serve, run queries, report."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.quality.evaluation import evaluate
from bench.quality.modes import MODES, NEEDS_RERANKER, Mode
from bench.quality.plot import write_plot
from bench.quality.report import grids, summarise
from bench.quality.sets import Document, JudgedQuery, write_nodes
from bench.shared.programs import build_index, running, serve_command
from bench.shared.results import write_results
from bench.shared.statistics import RESAMPLES, SEED
from groundwire_client import GroundwireClient, IndexScope

CALL_SECONDS = 60.0


class UnknownModeError(Exception):
    """There is no such mode, or it needs an option that was not given."""


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """Queries of one kind, and the measure that is compared over them."""

    name: str
    queries: Sequence[JudgedQuery]
    measure: str


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
    possible = [name for name in MODES if reranker or name not in NEEDS_RERANKER]
    wanted = {*(names or possible), baseline}
    unknown = sorted(wanted.difference(possible))
    if unknown:
        raise UnknownModeError(
            f"mode {', '.join(unknown)}: must be among {', '.join(possible)}; reranking needs --reranker"
        )
    return {name: MODES[name] for name in possible if name in wanted}


@dataclass(frozen=True, slots=True)
class Served:
    """An index of documents, and a client of the server that serves it."""

    client: GroundwireClient
    scope: IndexScope
    documents: Sequence[Document]


@contextmanager
def serving(repository: str, documents: Sequence[Document], setup: Setup, out: Path) -> Iterator[Served]:
    """Indexes documents, and serves them for as long as the context lasts. Raises GroundwireError, RuntimeError."""
    nodes, data = out / repository / "nodes.jsonl", out / "data"
    write_nodes(nodes, documents)
    scope = build_index(nodes, repository, data, setup.embedder)
    reranker = ("--reranker", setup.reranker) if setup.reranker else ()
    with (
        running(serve_command(data, reranker, setup.embedder), out / f"{repository}.log") as server,
        GroundwireClient(server.address, timeout=CALL_SECONDS) as client,
    ):
        yield Served(client, scope, documents)


def measure_sets(served: Served, sets: Sequence[QuestionSet], setup: Setup, out: Path) -> None:
    """Runs every set over the wire; writes `NAME.md`, `NAME.json` and `NAME.png`. Raises GroundwireError."""
    parameters = {"embedder": setup.embedder, "reranker": setup.reranker, "resamples": RESAMPLES, "seed": SEED}
    for asked in sets:
        evaluation = evaluate(served.client, served.scope, asked.name, served.documents, asked.queries, setup.modes)
        summary = summarise(evaluation, setup.baseline)
        content = {**asdict(summary), "parameters": parameters}
        write_results(out, summary.name, grids(summary, asked.measure), content)
        write_plot(out / f"{summary.name}.png", summary, asked.measure)
