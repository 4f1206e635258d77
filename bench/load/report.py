"""The offered load and its results, as tables."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bench.load.generator import Load, Offered
from bench.shared.results import ABSENT, Grid

PERCENTILES = (50.0, 90.0, 99.0)


@dataclass(frozen=True, slots=True)
class Point:
    """One load of one server.

    `percentiles` are milliseconds of the answered calls, as PERCENTILES names them; `late` is the 99th percentile of
    the delay with which the generator sent calls. `refused` and `failed` are shares of all calls.
    """

    server: str
    load: Load
    answered: float
    percentiles: tuple[float, ...]
    late: float
    refused: float
    failed: float


def point(server: str, load: Load, outcome: Offered) -> Point:
    """The figures of one load. Raises RuntimeError if no call was answered."""
    if not outcome.milliseconds:
        raise RuntimeError(f"{server}: no call was answered: {outcome.ends}")
    refused = outcome.ends.get("RESOURCE_EXHAUSTED", 0)
    calls = len(outcome.milliseconds) + sum(outcome.ends.values())
    percentiles = tuple(np.percentile(outcome.milliseconds, PERCENTILES).tolist())
    late = float(np.percentile(outcome.late_milliseconds, 99.0)) if outcome.late_milliseconds else 0.0
    failed = sum(outcome.ends.values()) - refused
    answered = len(outcome.milliseconds) / outcome.seconds
    return Point(server, load, answered, percentiles, late, refused / calls, failed / calls)


def grid(points: Sequence[Point], title: str) -> Grid:
    """One row per server and load, with the delay of the generator itself."""
    rows = [
        [
            f"{one.server}, {one.load}",
            f"{one.answered:,.0f}",
            *(f"{value:,.1f}" for value in one.percentiles),
            *(f"{share:.1%}" if share else ABSENT for share in (one.refused, one.failed)),
            f"{one.late:.1f}",
        ]
        for one in points
    ]
    return Grid(title, ["load", "answered/s", "p50 ms", "p90", "p99", "refused", "failed", "sent late, p99 ms"], rows)
