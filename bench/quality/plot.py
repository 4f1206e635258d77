"""Plots: every mode's mean and its difference to the baseline, and the results of other weights."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib.figure import Figure

from bench.quality.report import TITLES, Summary
from bench.quality.sweep import DENSE_WEIGHTS, Curve

_WIDTH_INCHES = 9.0
_INCHES_A_MODE = 0.32
_DOTS_AN_INCH = 90
_MEAN, _BETTER, _WORSE, _EITHER = "#4c72b0", "#2d7f4f", "#b0413e", "#8a8a8a"


def write_plot(path: Path, summary: Summary, measure: str) -> None:
    """A PNG of the whole set for one measure, one row per mode; green and red intervals exclude 0."""
    modes = summary.parts[0].modes
    rows = range(len(modes))
    figure = Figure(figsize=(_WIDTH_INCHES, 1.2 + _INCHES_A_MODE * len(modes)), dpi=_DOTS_AN_INCH, layout="constrained")
    means, differences = figure.subplots(1, 2, sharey=True)
    figure.suptitle(f"{summary.name}: {summary.parts[0].queries:,} queries, {summary.documents:,} documents")
    values = [getattr(mode.means, measure) for mode in modes]
    means.barh(rows, values, color=_MEAN)
    for row, value in zip(rows, values, strict=True):
        means.text(value, row, f" {value:.3f}", va="center", fontsize=8)
    means.set_yticks(rows, [mode.mode for mode in modes])
    means.invert_yaxis()
    means.set_xlim(0.0, 1.12 * max(values) or 1.0)
    means.set_xlabel(TITLES[measure])
    differences.axvline(0.0, color=_EITHER, linewidth=0.8)
    for row, mode in zip(rows, modes, strict=True):
        if mode.differences is None:
            continue
        one = mode.differences[measure]
        color = _BETTER if one.low > 0.0 else _WORSE if one.high < 0.0 else _EITHER
        differences.plot([one.low, one.high], [row, row], color=color, linewidth=2.0)
        differences.plot([one.mean], [row], marker="o", color=color, markersize=5.0)
    differences.locator_params(axis="x", nbins=6)
    differences.set_xlabel(f"difference to {summary.baseline}, 95 % interval")
    _save(figure, path)


def write_sweep_plot(path: Path, curves: Mapping[str, Sequence[Curve]]) -> None:
    """A PNG with one panel per set: nDCG@10 by the weight of the dense retriever, one line per normalisation."""
    figure = Figure(figsize=(_WIDTH_INCHES, 2.8), dpi=_DOTS_AN_INCH, layout="constrained")
    panels = figure.subplots(1, len(curves), sharey=True, squeeze=False)[0]
    for panel, (name, some) in zip(panels, curves.items(), strict=True):
        for curve in some:
            panel.plot(DENSE_WEIGHTS, curve.ndcg_10, marker=".", label=curve.normalisation)
        panel.set_title(name, fontsize=10)
        panel.set_xlabel("weight of dense")
        panel.grid(alpha=0.3)
    panels[0].set_ylabel(TITLES["ndcg_10"])
    panels[-1].legend(title="BM25 normalised", fontsize=8, title_fontsize=8)
    _save(figure, path)


def _save(figure: Figure, path: Path) -> None:
    figure.savefig(path, format="png", metadata={"Software": None}, pil_kwargs={"optimize": True})
