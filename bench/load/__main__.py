"""`python -m bench.load`: latency against offered load, and the speed of single calls. See `bench/README.md`."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress

from bench.load.calls import MIX, offered_calls
from bench.load.generator import Load, Point, grid, offer, point
from bench.load.h2load import h2load_grid, repeat_calls
from bench.shared.programs import RunningProgram, python_path, run, running, serve_command, trees
from bench.shared.results import console, explained, write_results
from bench.speed.synthesis import Shape, write_corpus

SHARES = (0.1, 0.25, 0.5, 0.75, 0.9, 1.1)
CALLERS = (1, 8, 32)
STREAMS = (1, 8)
SIZES = (5_000, 20_000)
_BUILD = Path(__file__).with_name("build_corpus.py")

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None)

Out = Annotated[Path, typer.Option(help="The folder for the corpus, its indexes and the results.")]
Tree = Annotated[Path | None, typer.Option(help="Another source tree to compare with.", exists=True, file_okay=False)]


@app.command()
def latency(
    out: Out,
    nodes: Annotated[int, typer.Option(min=100, help="How many nodes the synthetic corpus has.")] = 20_000,
    seconds: Annotated[float, typer.Option(min=0.5, help="How long each load lasts.")] = 10.0,
    tree: Tree = None,
    callers: Annotated[list[int] | None, typer.Option(min=1, help="Callers of closed loops; repeat it.")] = None,
    share: Annotated[
        list[float] | None, typer.Option(min=0.01, max=20.0, help="Loads offered, in shares of the peak; repeat it.")
    ] = None,
) -> None:
    """Find each tree's peak by closed loops, then offer shares of the lowest peak in open loops."""
    with explained(), Progress(console=console, transient=True) as progress:
        calls = offered_calls(write_corpus(out / f"corpus-{nodes}", Shape(nodes)))
        with running_servers(tree, nodes, out) as servers:

            def points(loads: Sequence[Load]) -> list[Point]:
                cases = progress.track(list(product(loads, servers)), description="loads")
                return [point(name, load, offer(servers[name].address, load, calls)) for load, name in cases]

            closed = points([Load(seconds, callers=number) for number in callers or CALLERS])
            peak = min(max(result.answered for result in closed if result.server == name) for name in servers)
            opened = points([Load(seconds, rate=round(part * peak) or 1) for part in share or SHARES])
        tables = [grid(closed, f"Closed loops: {nodes:,} nodes"), grid(opened, f"Open loops: {nodes:,} nodes")]
        content = {"closed": list(map(asdict, closed)), "open": list(map(asdict, opened)), "mix": MIX}
        write_results(out, "load", tables, content)


@app.command()
def h2load(
    out: Out,
    nodes: Annotated[list[int] | None, typer.Option(min=100, help="Sizes of corpora; repeat it for more.")] = None,
    seconds: Annotated[int, typer.Option(min=1, help="How long each call is asked in a round.")] = 3,
    rounds: Annotated[int, typer.Option(min=1, help="How often each server has its turn.")] = 3,
    streams: Annotated[list[int] | None, typer.Option(min=1, help="Calls at a time; repeat it for more.")] = None,
    tree: Tree = None,
) -> None:
    """Repeat each kind of call by h2load: its speed and the server's CPU, compared with another tree."""
    with explained(), Progress(console=console, transient=True) as progress:
        tables, repeated = [], {}
        for size in nodes or SIZES:
            corpus = write_corpus(out / f"corpus-{size}", Shape(size))
            calls = {kind: offered_calls(corpus, (kind,))[0] for kind in MIX}
            with running_servers(tree, size, out) as servers:
                repeated[size] = repeat_calls(servers, calls, streams or STREAMS, rounds, seconds, out, progress)
            tables.append(h2load_grid(repeated[size], f"Single calls: {size:,} nodes"))
        write_results(
            out, "h2load", tables, {"nodes": {n: list(map(asdict, results)) for n, results in repeated.items()}}
        )


@contextmanager
def running_servers(other: Path | None, nodes: int, out: Path) -> Iterator[dict[str, RunningProgram]]:
    """A server for each tree by its name, over an index of the same corpus that the tree has built itself.

    Both run on the packages of this environment. Raises RuntimeError.
    """
    with ExitStack() as stack:
        servers = {}
        for name, tree in trees(other).items():
            folder = out / f"corpus-{nodes}-{name.replace(' ', '-')}"
            # -P: not the modules beside the program, which are those of this tree.
            build: list[str | Path] = [sys.executable, "-P", "-W", "error", _BUILD, folder.resolve(), str(nodes)]
            data = Path(run(build, tree).splitlines()[-1])
            command = ["env", f"PYTHONPATH={python_path(tree)}", *serve_command(data)]
            servers[name] = stack.enter_context(running(command, folder / "server.log"))
        yield servers


if __name__ == "__main__":
    app()
