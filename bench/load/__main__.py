"""`python -m bench.load`: latency against offered load. See `bench/README.md`."""

from collections.abc import Sequence
from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress

from bench.load.ceiling import Ceiling, measure_ceiling
from bench.load.generator import Plan, offer
from bench.load.mix import MIX, offered_calls
from bench.load.offered import write_offered
from bench.load.report import Point, ceiling_grid, closed_grid, open_grid, plot_latency, point
from bench.load.routes import DIRECT, ROUTES, Route, running_routes
from bench.shared.programs import running, serve_command
from bench.shared.results import console, explained, write_results
from bench.speed.index import ensure_index
from bench.speed.synthesis import Shape, write_corpus
from groundwire_ingest.errors import IngestError

SHARES = (0.1, 0.25, 0.5, 0.75, 0.9, 1.1)
CALLERS = (1, 8, 32)
CEILING_KINDS = ("bm25", "expand", "fetch")
STREAMS = (4, 32)

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None)

Out = Annotated[Path, typer.Option(help="The folder for the corpus, its index and the results.")]
Nodes = Annotated[int, typer.Option(min=100, help="How many nodes the synthetic corpus has.")]
Seconds = Annotated[float, typer.Option(min=0.5, help="How long each load lasts.")]
RouteNames = Annotated[
    list[str] | None, typer.Option("--route", help=f"{'; '.join(ROUTES)}. Repeat it for more; all unless given.")
]


@app.command()
def latency(
    out: Out,
    nodes: Nodes = 20_000,
    seconds: Seconds = 10.0,
    route: RouteNames = None,
    callers: Annotated[list[int] | None, typer.Option(min=1, help="Callers of closed loops; repeat it.")] = None,
    share: Annotated[
        list[float] | None, typer.Option(min=0.01, max=20.0, help="Loads offered, in shares of the peak; repeat it.")
    ] = None,
) -> None:
    """Find each route's peak by closed loops, then offer every route shares of the lowest peak in open loops."""
    with explained(IngestError), Progress(console=console, transient=True) as progress:
        corpus = write_corpus(out / f"corpus-{nodes}", Shape(nodes))
        data, calls = ensure_index(corpus), out / "calls.jsonl"
        write_offered(calls, offered_calls(corpus))
        with running_routes(_chosen(route), data, _folder(out)) as routes:
            closed = _closed_loops(routes, calls, callers or CALLERS, seconds, progress)
            peak = min(max(one.answered for one in closed if one.route == each.name) for each in routes)
            rates = [round(part * peak) or 1 for part in share or SHARES]
            opened = _open_loops(routes, calls, rates, seconds, progress)
        where = f"{nodes:,} nodes"
        tables = [closed_grid(closed, f"Closed loops: {where}"), open_grid(opened, f"Open loops: {where}")]
        content = {"closed": list(map(asdict, closed)), "open": list(map(asdict, opened)), "mix": MIX}
        write_results(out, "load", tables, content)
        plot_latency(out / "load.png", f"Latency against offered load, {where}", opened)


@app.command()
def ceiling(
    out: Out,
    nodes: Nodes = 20_000,
    seconds: Annotated[int, typer.Option(min=1, help="How long each call is asked.")] = 5,
) -> None:
    """Measure the highest throughput of a server without TLS: h2load repeats one call."""
    with explained(IngestError):
        corpus = write_corpus(out / f"corpus-{nodes}", Shape(nodes))
        data, work = ensure_index(corpus), _folder(out)
        found: list[Ceiling] = []
        with running(serve_command(data), work / "server.log") as server:
            for kind, streams in product(CEILING_KINDS, STREAMS):
                call = offered_calls(corpus, (kind,))[0]
                found.append(measure_ceiling(kind, call, server.address, server.process, streams, seconds, work))
        grid = ceiling_grid(found, f"Ceiling, {DIRECT}: {nodes:,} nodes")
        write_results(out, "ceiling", [grid], {"ceilings": list(map(asdict, found))})


def _closed_loops(
    routes: Sequence[Route], calls: Path, callers: Sequence[int], seconds: float, progress: Progress
) -> list[Point]:
    points = []
    for number, route in progress.track(list(product(callers, routes)), description="closed loops"):
        outcome = offer(Plan(route.address, str(calls.resolve()), seconds, callers=number, tls=route.tls))
        points.append(point(route.name, 0.0, number, outcome))
    return points


def _open_loops(
    routes: Sequence[Route], calls: Path, rates: Sequence[float], seconds: float, progress: Progress
) -> list[Point]:
    points = []
    for rate, route in progress.track(list(product(rates, routes)), description="open loops"):
        outcome = offer(Plan(route.address, str(calls.resolve()), seconds, rate=rate, tls=route.tls))
        points.append(point(route.name, rate, 0, outcome))
    return points


def _chosen(names: Sequence[str] | None) -> Sequence[str]:
    unknown = [name for name in names or () if name not in ROUTES]
    if unknown:
        raise typer.BadParameter(f"{', '.join(unknown)}: must be among {'; '.join(ROUTES)}", param_hint="--route")
    return names or ROUTES


def _folder(out: Path) -> Path:
    work = out / "run"
    work.mkdir(parents=True, exist_ok=True)
    return work


if __name__ == "__main__":
    app()
