"""A comparison as tables, on the terminal and as Markdown, as JSON and as plots."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from bench.shared.results import ABSENT, Grid, console, write_results
from bench.speed.comparison import Comparison, Plan, Series
from bench.speed.plot import plot_medians
from bench.speed.scenarios import SEARCHES

GROUNDWIRE = "groundwire"


def grids(comparison: Comparison) -> Iterator[Grid]:
    """For each number of clients: Groundwire's percentiles, all systems' medians, their recall."""
    nodes = comparison.corpus["nodes"]
    for clients in sorted({one.clients for one in comparison.series}):
        series = {(one.system, one.scenario): one for one in comparison.series if one.clients == clients}
        scenarios = list(dict.fromkeys(scenario for _, scenario in series))
        systems = list(dict.fromkeys(system for system, _ in series))
        where = f"{nodes:,} nodes, {clients} client{'s' if clients > 1 else ''}"
        if GROUNDWIRE in systems:
            yield _percentiles(f"Groundwire, ms: {where}", series, scenarios)
        if len(systems) > 1:
            yield _peers(f"Median ms, and its ratio to Groundwire's: {where}", series, scenarios, systems)
        yield _recalls(f"recall@10: {where}", series, scenarios, systems)


def notes(comparison: Comparison) -> str:
    """The versions and settings of every system, and the reasons for missing figures, in Markdown."""
    lines = []
    for name, loaded in comparison.loaded.items():
        said = "; ".join(f"{key} {value}" for key, value in loaded.settings.items() if value)
        lines.append(f"- **{name}**: {said}; loaded in {loaded.seconds:.1f} s")
        problems = {one.problem for one in comparison.series if one.system == name and one.problem}
        lines += [f"    - cannot: {problem}" for problem in sorted(problems)]
    lines += [f"- **{name}** did not run: {problem}" for name, problem in comparison.failed.items()]
    return "\n".join(lines) + "\n"


def write_latency(out: Path, name: str, comparison: Comparison, plan: Plan) -> None:
    """Writes tables, notes on the systems, and for each number of clients a plot of the medians."""
    content = {**asdict(comparison), "rounds": plan.rounds, "calls": plan.calls}
    write_results(out, name, list(grids(comparison)), content, f"\n{notes(comparison)}")
    for system, problem in comparison.failed.items():
        console.print(f"{system} did not run: {problem}", style="red", markup=False)
    searches = [str(scenario) for scenario in SEARCHES]
    for number in plan.clients:
        shown = [one for one in comparison.series if one.clients == number and one.scenario in searches]
        title = f"{comparison.corpus['nodes']:,} nodes, {number} clients"
        plot_medians(out / f"{name}-{number}.png", title, shown)


def _percentiles(title: str, series: Mapping[tuple[str, str], Series], scenarios: Sequence[str]) -> Grid:
    found = [(scenario, series[GROUNDWIRE, scenario].times) for scenario in scenarios]
    rows = [[scenario, *(f"{value:.2f}" for value in (own.median, own.p95, own.p99))] for scenario, own in found if own]
    return Grid(title, ["call", "p50", "p95", "p99"], rows)


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
