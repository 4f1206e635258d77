"""An evaluation as figures: means, differences to a baseline with intervals, as a table, as Markdown and as JSON."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from statistics import fmean

import numpy as np
from numpy.typing import NDArray
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from bench.quality.bootstrap import RESAMPLES, SEED, Difference, paired_difference
from bench.quality.environment import Environment
from bench.quality.evaluation import Evaluation, ModeRun
from bench.quality.metrics import Measures

ALL = "all"
MEASURES = tuple(field.name for field in fields(Measures))
TITLES = {
    "ndcg_10": "nDCG@10",
    "mrr_10": "MRR@10",
    "recall_10": "R@10",
    "recall_100": "R@100",
    "hit_3": "Hit@3",
}


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


def show(console: Console, summary: Summary, measure: str) -> None:
    """Prints a table a part, with the differences of one measure."""
    for part in summary.parts:
        table = Table(title=_title(summary, part), box=SIMPLE_HEAD)
        for position, heading in enumerate(_headings(summary, measure)):
            table.add_column(heading, justify="right" if position else "left", no_wrap=True)
        for row in _rows(part, measure):
            table.add_row(*row)
        console.print(table)


def markdown(summary: Summary, measure: str) -> str:
    """The same tables in Markdown."""
    lines = []
    for part in summary.parts:
        headings = _headings(summary, measure)
        lines += [f"**{_title(summary, part)}**", "", _line(headings), _line(["---", *["---:"] * (len(headings) - 1)])]
        lines += [*(_line(row) for row in _rows(part, measure)), ""]
    return "\n".join(lines)


def write_json(path: Path, summary: Summary, environment: Environment, parameters: dict[str, str]) -> None:
    """Everything, with what it was measured with."""
    content = {
        **asdict(summary),
        "parameters": {**parameters, "resamples": RESAMPLES, "seed": SEED},
        "environment": asdict(environment),
    }
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


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


def _headings(summary: Summary, measure: str) -> list[str]:
    return ["mode", *TITLES.values(), f"{TITLES[measure]} - {summary.baseline}", "ms"]


def _rows(part: PartSummary, measure: str) -> list[list[str]]:
    rows = []
    for mode in part.modes:
        means = [f"{getattr(mode.means, name):.3f}" for name in MEASURES]
        rows.append([mode.mode, *means, _difference(mode.differences, measure), f"{mode.median_ms:.1f}"])
    return rows


def _difference(differences: dict[str, Difference] | None, measure: str) -> str:
    if differences is None:
        return ""
    one = differences[measure]
    return f"{one.mean:+.3f} [{one.low:+.3f}, {one.high:+.3f}]"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
