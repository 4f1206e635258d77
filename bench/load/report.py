"""The offered load and its results, as tables."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bench.load.generator import Offered
from bench.shared.results import ABSENT, Grid

PERCENTILES = (50.0, 90.0, 99.0, 99.9, 100.0)
_HEADINGS = ("p50 ms", "p90", "p99", "p99.9", "max")
_LATE_MILLISECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Point:
    """One load of one server: `offered` calls a second, 0 for a closed loop of `callers`.

    `percentiles` are milliseconds of the answered calls, as PERCENTILES names them; `late` is the 99th percentile of
    the delay with which the generator sent calls. `refused` and `failed` are shares of all calls.
    """

    server: str
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


def point(server: str, offered: float, callers: int, outcome: Offered) -> Point:
    """The figures of one load. Raises RuntimeError if no call was answered."""
    if not outcome.milliseconds:
        raise RuntimeError(f"{server}: no call was answered: {outcome.ends}")
    refused = outcome.ends.get("RESOURCE_EXHAUSTED", 0)
    calls = len(outcome.milliseconds) + sum(outcome.ends.values())
    percentiles = tuple(np.percentile(outcome.milliseconds, PERCENTILES).tolist())
    late = float(np.percentile(outcome.late_milliseconds, 99.0)) if outcome.late_milliseconds else 0.0
    failed = sum(outcome.ends.values()) - refused
    answered = len(outcome.milliseconds) / outcome.seconds
    return Point(server, offered, callers, answered, percentiles, late, refused / calls, failed / calls)


def closed_grid(points: Sequence[Point], title: str) -> Grid:
    """One row per server and number of callers."""
    rows = [
        [f"{one.server}, {one.callers} callers", f"{one.answered:,.0f}", *_percentiles(one), _share(one.not_answered)]
        for one in points
    ]
    return Grid(title, ["load", "calls/s", *_HEADINGS, "not answered"], rows)


def open_grid(points: Sequence[Point], title: str) -> Grid:
    """One row per server and rate, with the delay of the generator itself."""
    rows = [
        [
            f"{one.server}, {one.offered:,.0f}/s",
            f"{one.answered:,.0f}",
            *_percentiles(one),
            _share(one.refused),
            _share(one.failed),
            f"{one.late:.1f}" if one.late >= _LATE_MILLISECONDS else ABSENT,
        ]
        for one in points
    ]
    return Grid(title, ["offered", "answered/s", *_HEADINGS, "refused", "failed", "sent late, p99 ms"], rows)


def _percentiles(one: Point) -> list[str]:
    return [f"{value:,.1f}" for value in one.percentiles]


def _share(share: float) -> str:
    return f"{share:.1%}" if share else ABSENT
