"""The figures of an evaluation: means, and differences to a baseline with intervals, as tables."""

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, fields

import numpy as np

from bench.quality.metrics import Measures
from bench.quality.sets import JudgedQuery
from bench.shared.results import Grid
from bench.shared.statistics import Difference, paired_difference

ALL = "all"
MEASURES = tuple(field.name for field in fields(Measures))
TITLES = {"ndcg_10": "nDCG@10", "mrr_10": "MRR@10", "recall_10": "R@10", "recall_100": "R@100", "hit_3": "Hit@3"}


@dataclass(frozen=True, slots=True)
class ModeRun:
    """One mode's measures, one per query in their order, and the median milliseconds of a call at the client."""

    measures: Sequence[Measures]
    median_ms: float


@dataclass(frozen=True, slots=True)
class ModeSummary:
    """A mode's mean measures over a part, and their differences to the baseline."""

    means: Measures
    differences: dict[str, Difference]
    median_ms: float


@dataclass(frozen=True, slots=True)
class PartSummary:
    """All modes over one part of a set: `all`, or a part that queries name."""

    part: str
    queries: int
    modes: dict[str, ModeSummary]


def summarise(queries: Sequence[JudgedQuery], runs: Mapping[str, ModeRun], baseline: str) -> list[PartSummary]:
    """The whole set first, then its parts by name. The baseline must be one of the modes."""
    parts = {ALL: list(range(len(queries)))}
    for part in sorted({part for query in queries for part in query.parts}):
        parts[part] = [number for number, query in enumerate(queries) if part in query.parts]
    return [PartSummary(part, len(rows), _modes(runs, baseline, rows)) for part, rows in parts.items()]


def _modes(runs: Mapping[str, ModeRun], baseline: str, rows: Sequence[int]) -> dict[str, ModeSummary]:
    values = {mode: np.array([astuple(run.measures[row]) for row in rows]) for mode, run in runs.items()}
    modes = {}
    for mode, mode_values in values.items():
        columns = zip(MEASURES, mode_values.T, values[baseline].T, strict=True)
        differences = {name: paired_difference(column, other) for name, column, other in columns}
        modes[mode] = ModeSummary(Measures(*mode_values.mean(axis=0).tolist()), differences, runs[mode].median_ms)
    return modes


def grids(title: str, parts: Sequence[PartSummary], baseline: str, measure: str) -> list[Grid]:
    """One table per part, with the differences of one measure."""
    headings = ["mode", *TITLES.values(), f"{TITLES[measure]} - {baseline}", "ms"]
    tables = []
    for part in parts:
        rows = []
        for name, mode in part.modes.items():
            means = [f"{value:.3f}" for value in astuple(mode.means)]
            difference = "" if name == baseline else str(mode.differences[measure])
            rows.append([name, *means, difference, f"{mode.median_ms:.1f}"])
        tables.append(Grid(f"{title}, {part.part}: {part.queries:,} queries", headings, rows))
    return tables
