"""The offered load and its results, as tables and a plot."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from bench.load.ceiling import Ceiling
from bench.load.generator import Offered
from bench.shared.results import ABSENT, Grid

PERCENTILES = (50.0, 90.0, 99.0, 99.9, 100.0)
_HEADINGS = ("p50 ms", "p90", "p99", "p99.9", "max")
_DOTS_AN_INCH = 90
_LATE_MILLISECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Point:
    """One load on one route: `offered` calls a second, 0 for a closed loop of `callers`.

    `percentiles` are milliseconds of the answered calls, as PERCENTILES names them; `late` is the 99th percentile of
    the delay with which the generator sent calls. `refused` and `failed` are shares of all calls.
    """

    route: str
    offered: float
    callers: int
    answered: float
    percentiles: tuple[float, ...]
    late: float
    refused: float
    failed: float

    @property
    def not_answered(self) -> float:
        """The share of all calls that were not answered."""
        return self.refused + self.failed


def point(route: str, offered: float, callers: int, outcome: Offered) -> Point:
    """The figures of one load. Raises RuntimeError if no call was answered."""
    if not outcome.milliseconds:
        raise RuntimeError(f"{route}: no call was answered: {outcome.ends}")
    refused = outcome.ends.get("RESOURCE_EXHAUSTED", 0)
    calls = len(outcome.milliseconds) + sum(outcome.ends.values())
    percentiles = tuple(np.percentile(outcome.milliseconds, PERCENTILES).tolist())
    late = float(np.percentile(outcome.late_milliseconds, 99.0)) if outcome.late_milliseconds else 0.0
    failed = sum(outcome.ends.values()) - refused
    answered = len(outcome.milliseconds) / outcome.seconds
    return Point(
        route,
        offered,
        callers,
        answered,
        percentiles,
        late,
        refused / calls,
        failed / calls,
    )


def closed_grid(points: Sequence[Point], title: str) -> Grid:
    """One row per route and number of callers."""
    rows = [
        [f"{one.route}, {one.callers} callers", f"{one.answered:,.0f}", *_percentiles(one), _share(one.not_answered)]
        for one in points
    ]
    return Grid(title, ["load", "calls/s", *_HEADINGS, "not answered"], rows)


def open_grid(points: Sequence[Point], title: str) -> Grid:
    """One row per route and rate, with the delay of the generator itself."""
    rows = [
        [
            f"{one.route}, {one.offered:,.0f}/s",
            f"{one.answered:,.0f}",
            *_percentiles(one),
            _share(one.refused),
            _share(one.failed),
            f"{one.late:.1f}" if one.late >= _LATE_MILLISECONDS else ABSENT,
        ]
        for one in points
    ]
    return Grid(title, ["offered", "answered/s", *_HEADINGS, "refused", "failed", "sent late, p99 ms"], rows)


def ceiling_grid(ceilings: Sequence[Ceiling], title: str) -> Grid:
    """One row per call and number of streams."""
    rows = [
        [
            f"{one.kind}, {one.streams} at a time",
            f"{one.calls_per_second:,.0f}",
            f"{one.times.median:.2f}",
            f"{one.times.p99:.2f}",
            f"{one.server_cpu:.3f}",
        ]
        for one in ceilings
    ]
    return Grid(title, ["load", "calls/s", "p50 ms", "p99 ms", "server CPU ms"], rows)


def plot_latency(path: Path, title: str, points: Sequence[Point]) -> None:
    """One panel per percentile: latency against offered load, one line per route."""
    figure = Figure((9.0, 3.2), dpi=_DOTS_AN_INCH, layout="constrained")
    figure.suptitle(title, fontsize=10)
    panels = figure.subplots(1, 3, sharey=True, squeeze=False)[0]
    for panel, place in zip(panels, (0, 2, 3), strict=True):
        for route in dict.fromkeys(one.route for one in points):
            own = [one for one in points if one.route == route]
            panel.plot([one.offered for one in own], [one.percentiles[place] for one in own], "o-", label=route)
        panel.set_yscale("log")
        panel.set_xlim(left=0)
        panel.grid(visible=True, which="major", linewidth=0.3)
        panel.set_title(f"p{PERCENTILES[place]:g}", fontsize=9)
        panel.set_xlabel("offered calls/s")
    panels[0].set_ylabel("ms from when the call was due")
    panels[0].legend(fontsize=8)
    figure.savefig(path, format="png", metadata={"Software": None}, pil_kwargs={"optimize": True})


def _percentiles(one: Point) -> list[str]:
    return [f"{value:,.1f}" for value in one.percentiles]


def _share(share: float) -> str:
    return f"{share:.1%}" if share else ABSENT
