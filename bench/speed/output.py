"""Where the benches' results go: tables on the terminal and in Markdown, JSON, plots; and what went wrong."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import typer
from rich.console import Console
from rich.markup import escape

from bench.adapters.protocol import UnsupportedError
from bench.quality.sets import SetError
from bench.speed.comparison import Comparison, Plan
from bench.speed.footprint import Footprint
from bench.speed.footprint import grid as footprint_grid
from bench.speed.plot import plot_medians, plot_scale
from bench.speed.report import FLOORS, Grid, grids, markdown, notes, print_grid, write_json
from bench.speed.scenarios import SEARCHES
from bench.speed.systems import AdapterError
from groundwire_ingest.errors import IngestError

LEAST_WIDTH = 150
# Tables keep their columns where the output is no terminal or a narrow one.
console = Console(width=max(LEAST_WIDTH, Console().width))


@contextmanager
def explained() -> Iterator[None]:
    """Ends with a message where there is nothing to correct in the program."""
    try:
        yield
    except (AdapterError, IngestError, OSError, RuntimeError, SetError, UnsupportedError) as error:
        console.print(f"[red]error:[/red] {escape(str(error))}")
        raise typer.Exit(1) from None


def write_latency(out: Path, name: str, comparison: Comparison, plan: Plan) -> None:
    """Tables, what the systems said of themselves, and for each number of clients a plot of the medians."""
    tables = list(grids(comparison))
    (out / f"{name}.md").write_text(f"{markdown(tables)}\n{notes(comparison)}", encoding="utf-8")
    write_json(out / f"{name}.json", {**asdict(comparison), "rounds": plan.rounds, "calls": plan.calls})
    searches = [str(scenario) for scenario in SEARCHES]
    for number in plan.clients:
        told = [one for one in comparison.series if one.clients == number and one.scenario in searches]
        shown = [one for one in told if one.system not in FLOORS]
        title = f"{comparison.corpus['nodes']:,} nodes, {number} clients"
        plot_medians(out / f"{name}-{number}.png", title, shown)


def write_tables(path: Path, tables: Sequence[Grid]) -> None:
    """Prints tables and writes them as Markdown."""
    path.parent.mkdir(parents=True, exist_ok=True)
    for table in tables:
        print_grid(console, table)
    path.write_text(markdown(tables), encoding="utf-8")


def write_scale(out: Path, comparisons: Sequence[Comparison], footprints: Sequence[Footprint]) -> None:
    """`scale`: medians by size, and what a server's start and memory are."""
    write_tables(out / "scale.md", [_scale_grid(comparisons), footprint_grid(footprints)])
    content = {"comparisons": [asdict(one) for one in comparisons], "starts": [asdict(one) for one in footprints]}
    write_json(out / "scale.json", content)
    medians: dict[str, list[tuple[int, float]]] = {}
    for comparison in comparisons:
        for one in comparison.series:
            if one.times:
                medians.setdefault(one.scenario, []).append((comparison.corpus["nodes"], one.times.median))
    plot_scale(out / "scale.png", "Median over the wire, one client", medians)


def _scale_grid(comparisons: Sequence[Comparison]) -> Grid:
    """A row a scenario, a column a size: the median, and recall@10 where it is known."""
    by_scenario: dict[str, list[str]] = {}
    for comparison in comparisons:
        for one in comparison.series:
            recall = "" if one.recall is None else f" ({one.recall:.3f})"
            cell = f"{one.times.median:.2f}{recall}" if one.times else one.problem
            by_scenario.setdefault(one.scenario, []).append(cell)
    headings = ["call", *(f"{comparison.corpus['nodes']:,} nodes" for comparison in comparisons)]
    return Grid("Median ms (recall@10), one client", headings, [[name, *cells] for name, cells in by_scenario.items()])
