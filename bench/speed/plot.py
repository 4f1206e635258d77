"""Plots of the results; needs matplotlib, which the extra `bench` installs."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bench.speed.comparison import Series
from bench.speed.throughput import Load

_DOTS_AN_INCH = 90
_WIDTH_INCHES = 9.0
_INCHES_A_ROW = 0.36


def plot_medians(path: Path, title: str, series: Sequence[Series]) -> None:
    """One row per scenario, one mark per system at its median, on a logarithmic scale."""
    scenarios = list(dict.fromkeys(one.scenario for one in series))
    systems = list(dict.fromkeys(one.system for one in series if one.times))
    figure = Figure((_WIDTH_INCHES, 1.4 + _INCHES_A_ROW * len(scenarios)), dpi=_DOTS_AN_INCH, layout="constrained")
    axes = figure.subplots()
    for number, system in enumerate(systems):
        own = [one for one in series if one.system == system and one.times]
        medians = [one.times.median for one in own if one.times]
        rows = [scenarios.index(one.scenario) for one in own]
        axes.plot(medians, rows, _MARKS[number % len(_MARKS)], label=system, markersize=6.0)
    axes.set_xscale("log")
    axes.set_yticks(range(len(scenarios)), scenarios)
    axes.invert_yaxis()
    axes.grid(visible=True, axis="both", which="major", linewidth=0.3)
    axes.set_xlabel("median, ms")
    _finish(figure, axes, title, path)


def plot_throughput(path: Path, title: str, loads: Sequence[Load]) -> None:
    """One panel per call: calls per second against clients, one line per number of workers."""
    scenarios = list(dict.fromkeys(load.scenario for load in loads))
    rows = (len(scenarios) + 2) // 3
    figure = Figure((_WIDTH_INCHES, 2.6 * rows), dpi=_DOTS_AN_INCH, layout="constrained")
    figure.suptitle(title)
    panels = figure.subplots(rows, 3, squeeze=False).flat
    for panel, scenario in zip(panels, scenarios, strict=False):
        for workers in dict.fromkeys(load.workers for load in loads):
            own = [load for load in loads if load.scenario == scenario and load.workers == workers]
            label = f"{workers} worker{'s' if workers > 1 else ''}"
            panel.plot([load.clients for load in own], [load.calls_per_second for load in own], "o-", label=label)
        panel.set_xscale("log", base=2)
        panel.set_ylim(bottom=0)
        panel.set_title(scenario, fontsize=9)
        panel.legend(fontsize=7)
    _save(figure, path)


def plot_scale(path: Path, title: str, medians: Mapping[str, Sequence[tuple[int, float]]]) -> None:
    """One line per scenario: the median against the number of nodes, both on logarithmic scales."""
    figure = Figure((_WIDTH_INCHES, 5.0), dpi=_DOTS_AN_INCH, layout="constrained")
    axes = figure.subplots()
    for number, (scenario, points) in enumerate(medians.items()):
        sizes, times = zip(*points, strict=True)
        axes.plot(sizes, times, _MARKS[number % len(_MARKS)] + "-", label=scenario, linewidth=1.0)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.grid(visible=True, which="major", linewidth=0.3)
    axes.set_xlabel("nodes")
    axes.set_ylabel("median, ms")
    _finish(figure, axes, title, path)


_MARKS = ("o", "s", "^", "v", "D", "P", "X", "*", "<", ">", "p", "h")


def _finish(figure: Figure, axes: Axes, title: str, path: Path) -> None:
    axes.set_title(title, fontsize=10)
    figure.legend(loc="outside right upper", fontsize=8)
    _save(figure, path)


def _save(figure: Figure, path: Path) -> None:
    figure.savefig(path, format="png", metadata={"Software": None}, pil_kwargs={"optimize": True})
