"""`python -m bench.load`: latency against offered load. See `bench/README.md`."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress

from bench.load.ceiling import Ceiling, measure_ceiling
from bench.load.generator import Plan, offer
from bench.load.mix import MIX, offered_calls
from bench.load.mixed import agents_grid, install_locust, run_agents
from bench.load.offered import write_offered
from bench.load.report import Point, ceiling_grid, closed_grid, open_grid, plot_latency, point
from bench.load.routes import DIRECT, ROUTES, Route, running_routes
from bench.speed.index import ensure_index
from bench.speed.output import console, explained
from bench.speed.peers import InstallError
from bench.speed.programs import running, serve_command
from bench.speed.report import Grid, markdown, print_grid, write_json
from bench.speed.synthesis import Shape, write_corpus

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
    """Closed loops find each route's peak; open loops then offer every route shares of the lowest one."""
    with explained(), Progress(console=console, transient=True) as progress:
        corpus = write_corpus(out / f"corpus-{nodes}", Shape(nodes))
        data, calls = ensure_index(corpus), out / "calls.jsonl"
        write_offered(calls, offered_calls(corpus))
        with running_routes(_chosen(route), data, _folder(out)) as routes:
            closed = _closed_loops(routes, calls, callers or CALLERS, seconds, progress)
            peak = min(max(one.answered for one in closed if one.route == each.name) for each in routes)
            rates = [round(part * peak) or 1 for part in share or SHARES]
            opened = _open_loops(routes, calls, rates, seconds, progress)
        progress.stop()
        where = f"{nodes:,} nodes"
        tables = [closed_grid(closed, f"Closed loops: {where}"), open_grid(opened, f"Open loops: {where}")]
        content = {"closed": list(map(asdict, closed)), "open": list(map(asdict, opened)), "mix": MIX}
        _write(out, "load", tables, content)
        plot_latency(out / "load.png", f"Latency against offered load, {where}", opened)


@app.command()
def ceiling(
    out: Out,
    nodes: Nodes = 20_000,
    seconds: Annotated[int, typer.Option(min=1, help="How long each call is asked.")] = 5,
) -> None:
    """What a server in the clear answers at most, asked one call again and again by h2load."""
    with explained():
        corpus = write_corpus(out / f"corpus-{nodes}", Shape(nodes))
        data, work = ensure_index(corpus), _folder(out)
        found: list[Ceiling] = []
        with running(serve_command(data), work / "server.log") as server:
            for kind, streams in product(CEILING_KINDS, STREAMS):
                call = offered_calls(corpus, (kind,))[0]
                found.append(measure_ceiling(kind, call, server.address, server.process, streams, seconds, work))
        grid = ceiling_grid(found, f"Ceiling, {DIRECT}: {nodes:,} nodes")
        _write(out, "ceiling", [grid], {"ceilings": list(map(asdict, found))})


@app.command()
def agents(
    out: Out,
    environments: Annotated[Path, typer.Option(help="Where `install` put Locust.")],
    nodes: Nodes = 20_000,
    seconds: Seconds = 10.0,
    route: RouteNames = None,
    count: Annotated[int, typer.Option(min=1, help="How many agents there are.")] = 50,
) -> None:
    """Agents of Locust, each of whose questions is a search, a walk from what it found and a fetch of the texts."""
    with explained():
        corpus = write_corpus(out / f"corpus-{nodes}", Shape(nodes))
        data, work, calls = ensure_index(corpus), _folder(out), out / "calls.jsonl"
        write_offered(calls, offered_calls(corpus))
        with running_routes(_chosen(route), data, work) as routes:
            rows = [row for each in routes for row in run_agents(environments, each, calls, count, seconds, work)]
        _write(out, "agents", [agents_grid(rows, f"Agents: {nodes:,} nodes")], {"rows": list(map(asdict, rows))})


@app.command()
def install(
    folder: Annotated[Path, typer.Argument(help="Where Locust gets an environment of its own.")],
) -> None:
    """Install Locust, by exact version."""
    try:
        install_locust(folder)
    except InstallError as error:
        console.print(str(error), style="red", markup=False)
        raise typer.Exit(1) from None


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


def _write(out: Path, name: str, tables: Sequence[Grid], content: Mapping[str, object]) -> None:
    for table in tables:
        print_grid(console, table)
    (out / f"{name}.md").write_text(markdown(tables), encoding="utf-8")
    write_json(out / f"{name}.json", content)


if __name__ == "__main__":
    app()
