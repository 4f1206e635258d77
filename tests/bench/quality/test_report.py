"""From measures to figures, tables and JSON."""

import json
from dataclasses import asdict
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from bench.quality.evaluation import Evaluation, ModeRun
from bench.quality.metrics import Measures
from bench.quality.report import Summary, grids, summarise
from bench.quality.sets import JudgedQuery
from bench.shared.results import markdown, write_results

GOOD, POOR = Measures(1.0, 1.0, 1.0, 1.0, 1.0), Measures(0.5, 0.25, 1.0, 1.0, 0.0)
EVALUATION = Evaluation(
    "tiny",
    1_234,
    (JudgedQuery("one", ("a",), ("odd",)), JudgedQuery("two", ("a",)), JudgedQuery("three", ("a",), ("odd",))),
    (ModeRun("rrf", (POOR, GOOD, POOR), 2.0), ModeRun("adaptive", (GOOD, GOOD, GOOD), 3.25)),
)


@pytest.fixture
def summary() -> Summary:
    return summarise(EVALUATION, "rrf")


def test_means_over_the_set_and_over_its_parts(summary: Summary) -> None:
    assert [(part.part, part.queries) for part in summary.parts] == [("all", 3), ("odd", 2)]
    whole, odd = summary.parts
    assert whole.modes[0].means == Measures(2 / 3, 0.5, 1.0, 1.0, 1 / 3)
    assert odd.modes[0].means == POOR
    assert odd.modes[1].means == GOOD


def test_differences_are_to_the_baseline_which_has_none(summary: Summary) -> None:
    baseline, other = summary.parts[1].modes
    assert baseline.differences is None
    assert other.differences is not None
    assert {name: one.mean for name, one in other.differences.items()} == {
        "ndcg_10": 0.5,
        "mrr_10": 0.75,
        "recall_10": 0.0,
        "recall_100": 0.0,
        "hit_3": 1.0,
    }
    assert (other.differences["ndcg_10"].low, other.differences["ndcg_10"].high) == (0.5, 0.5)


def test_the_markdown_holds_a_table_a_part(summary: Summary) -> None:
    assert markdown(grids(summary, "mrr_10")).split("\n\n")[2:4] == [
        "**tiny, odd: 2 queries, 1,234 documents**",
        "| mode | nDCG@10 | MRR@10 | R@10 | R@100 | Hit@3 | MRR@10 - rrf | ms |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
        "| rrf | 0.500 | 0.250 | 1.000 | 1.000 | 0.000 |  | 2.0 |\n"
        "| adaptive | 1.000 | 1.000 | 1.000 | 1.000 | 1.000 | +0.750 [+0.750, +0.750] | 3.2 |\n",
    ]


def test_results_are_printed_and_written_with_what_they_were_made_with(
    summary: Summary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = StringIO()
    monkeypatch.setattr("bench.shared.results.console", Console(file=output, width=150))
    write_results(tmp_path / "out", "tiny", grids(summary, "mrr_10"), asdict(summary), "notes")
    assert "tiny, odd: 2 queries, 1,234 documents" in output.getvalue()
    assert "+0.750 [+0.750, +0.750]" in output.getvalue()
    assert (tmp_path / "out" / "tiny.md").read_text(encoding="utf-8") == markdown(grids(summary, "mrr_10")) + "notes"
    content = json.loads((tmp_path / "out" / "tiny.json").read_text(encoding="utf-8"))
    assert (content["name"], content["documents"], content["baseline"]) == ("tiny", 1_234, "rrf")
    assert content["parts"][1]["modes"][1]["differences"]["hit_3"] == {"mean": 1.0, "low": 1.0, "high": 1.0}
    assert set(content["environment"]) == {"date", "processor", "cores", "system", "versions"}
    assert {"python", "groundwire", "numpy"} <= set(content["environment"]["versions"])
