"""A comparison as tables, on the terminal and as Markdown, and as JSON."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from bench.quality.environment import environment
from bench.speed.comparison import Comparison, Series

GROUNDWIRE, TRANSPORT, ENGINE = "groundwire", "transport", "engine"
FLOORS = (TRANSPORT, ENGINE)
ABSENT = "-"


@dataclass(frozen=True, slots=True)
class Grid:
    """A table of texts; the first column names the rows."""

    title: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]


def grids(comparison: Comparison) -> Iterator[Grid]:
    """For each number of clients: Groundwire beside its floors, all systems' medians, their recall."""
    nodes = comparison.corpus["nodes"]
    for clients in sorted({one.clients for one in comparison.series}):
        series = {(one.system, one.scenario): one for one in comparison.series if one.clients == clients}
        scenarios = list(dict.fromkeys(scenario for _, scenario in series))
        systems = list(dict.fromkeys(system for system, _ in series))
        where = f"{nodes:,} nodes, {clients} client{'s' if clients > 1 else ''}"
        if {GROUNDWIRE, *FLOORS} <= set(systems):
            yield _floors(f"Groundwire and its floors, ms: {where}", series, scenarios)
        compared = [system for system in systems if system not in FLOORS]
        if len(compared) > 1:
            yield _peers(f"Median ms, and how many times Groundwire's: {where}", series, scenarios, compared)
        yield _recalls(f"recall@10: {where}", series, scenarios, [*compared, *({ENGINE} & set(systems))])


def show(console: Console, comparison: Comparison) -> None:
    """Prints the tables, and the systems that failed."""
    for grid in grids(comparison):
        print_grid(console, grid)
    for name, problem in comparison.failed.items():
        console.print(f"{name} did not run: {problem}", style="red", markup=False)


def print_grid(console: Console, grid: Grid) -> None:
    """One table on the terminal."""
    table = Table(title=grid.title, box=SIMPLE_HEAD)
    for position, heading in enumerate(grid.headings):
        table.add_column(heading, justify="right" if position else "left", no_wrap=True)
    for row in grid.rows:
        table.add_row(*row)
    console.print(table)


def markdown(tables: Sequence[Grid]) -> str:
    """Tables in Markdown."""
    lines = []
    for grid in tables:
        lines += [f"**{grid.title}**", "", _line(grid.headings), _line(["---", *["---:"] * (len(grid.headings) - 1)])]
        lines += [*map(_line, grid.rows), ""]
    return "\n".join(lines)


def notes(comparison: Comparison) -> str:
    """What every system said of itself and why it does not stand in a table, in Markdown."""
    lines = []
    for name, loaded in comparison.loaded.items():
        said = "; ".join(f"{key} {value}" for key, value in loaded.settings.items() if value)
        lines.append(f"- **{name}**: {said}; loaded in {loaded.seconds:.1f} s")
        problems = {one.problem for one in comparison.series if one.system == name and one.problem}
        lines += [f"    - cannot: {problem}" for problem in sorted(problems)]
    lines += [f"- **{name}** did not run: {problem}" for name, problem in comparison.failed.items()]
    return "\n".join(lines) + "\n"


def write_json(path: Path, content: Mapping[str, object]) -> None:
    """Everything, with the machine, versions and date."""
    whole = {**content, "environment": asdict(environment())}
    path.write_text(json.dumps(whole, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _floors(title: str, series: Mapping[tuple[str, str], Series], scenarios: Sequence[str]) -> Grid:
    rows = []
    for scenario in scenarios:
        own, *floors = (series[name, scenario].times for name in (GROUNDWIRE, *FLOORS))
        if own is None:
            rows.append([scenario, *[ABSENT] * 6])
            continue
        cells = [f"{own.median:.2f}", f"{own.p95:.2f}", f"{own.p99:.2f}"]
        known = [floor.median for floor in floors if floor is not None]
        if len(known) == len(FLOORS):
            cells += [f"{known[0]:.2f}", f"{known[1]:.2f}", f"{own.median / sum(known):.2f}"]
        rows.append([scenario, *cells, *[ABSENT] * (6 - len(cells))])
    return Grid(title, ["call", "p50", "p95", "p99", "transport p50", "engine p50", "p50 / floors"], rows)


def _peers(
    title: str, series: Mapping[tuple[str, str], Series], scenarios: Sequence[str], systems: Sequence[str]
) -> Grid:
    rows = []
    for scenario in scenarios:
        own = series[GROUNDWIRE, scenario].times if GROUNDWIRE in systems else None
        cells = []
        for system in systems:
            found = series[system, scenario].times
            ratio = f" ({found.median / own.median:.1f}x)" if found and own and system != GROUNDWIRE else ""
            cells.append(f"{found.median:.2f}{ratio}" if found else ABSENT)
        if len(cells) - cells.count(ABSENT) > 1:
            rows.append([scenario, *cells])
    return Grid(title, ["call", *systems], rows)


def _recalls(
    title: str, series: Mapping[tuple[str, str], Series], scenarios: Sequence[str], systems: Sequence[str]
) -> Grid:
    rows = []
    for scenario in scenarios:
        recalls = [series[system, scenario].recall for system in systems]
        if any(recall is not None for recall in recalls):
            rows.append([scenario, *(ABSENT if recall is None else f"{recall:.3f}" for recall in recalls)])
    return Grid(title, ["call", *systems], rows)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
