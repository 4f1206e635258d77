"""The figures of an evaluation: means, and differences to a baseline with intervals, as tables."""

from dataclasses import dataclass, fields
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from bench.quality.evaluation import Evaluation, ModeRun
from bench.quality.metrics import Measures
from bench.shared.results import Grid
from bench.shared.statistics import Difference, paired_difference

ALL = "all"
MEASURES = tuple(field.name for field in fields(Measures))
TITLES = {"ndcg_10": "nDCG@10", "mrr_10": "MRR@10", "recall_10": "R@10", "recall_100": "R@100", "hit_3": "Hit@3"}


@dataclass(frozen=True, slots=True)
class ModeSummary:
    """A mode's mean measures over a part; `differences` by measure, None for the baseline itself."""

    mode: str
    means: Measures
    differences: dict[str, Difference] | None
    median_ms: float


@dataclass(frozen=True, slots=True)
class PartSummary:
    """All modes over one part of a set: `all`, or a part that queries name."""

    part: str
    queries: int
    modes: tuple[ModeSummary, ...]


@dataclass(frozen=True, slots=True)
class Summary:
    """All parts of a set."""

    name: str
    documents: int
    baseline: str
    parts: tuple[PartSummary, ...]


def summarise(evaluation: Evaluation, baseline: str) -> Summary:
    """The whole set first, then its parts by name. The baseline must be one of the modes."""
    parts = [ALL, *sorted({part for query in evaluation.queries for part in query.parts})]
    return Summary(
        evaluation.name, evaluation.documents, baseline, tuple(_part(evaluation, baseline, part) for part in parts)
    )


def grids(summary: Summary, measure: str) -> list[Grid]:
    """One table per part, with the differences of one measure."""
    headings = ["mode", *TITLES.values(), f"{TITLES[measure]} - {summary.baseline}", "ms"]
    return [Grid(_title(summary, part), headings, _rows(part, measure)) for part in summary.parts]


def _part(evaluation: Evaluation, baseline: str, part: str) -> PartSummary:
    rows = [number for number, query in enumerate(evaluation.queries) if part == ALL or part in query.parts]
    values = {run.mode: {measure: _values(run, measure)[rows] for measure in MEASURES} for run in evaluation.runs}
    modes = []
    for run in evaluation.runs:
        own, others = values[run.mode], values[baseline]
        differences = {measure: paired_difference(own[measure], others[measure]) for measure in MEASURES}
        means = Measures(**{measure: fmean(own[measure]) for measure in MEASURES})
        modes.append(ModeSummary(run.mode, means, None if run.mode == baseline else differences, run.median_ms))
    return PartSummary(part, len(rows), tuple(modes))


def _values(run: ModeRun, measure: str) -> NDArray[np.float64]:
    return np.array([getattr(measures, measure) for measures in run.measures], dtype=np.float64)


def _title(summary: Summary, part: PartSummary) -> str:
    where = "" if part.part == ALL else f", {part.part}"
    return f"{summary.name}{where}: {part.queries:,} queries, {summary.documents:,} documents"


def _rows(part: PartSummary, measure: str) -> list[list[str]]:
    rows = []
    for mode in part.modes:
        means = [f"{getattr(mode.means, name):.3f}" for name in MEASURES]
        difference = "" if mode.differences is None else str(mode.differences[measure])
        rows.append([mode.mode, *means, difference, f"{mode.median_ms:.1f}"])
    return rows
