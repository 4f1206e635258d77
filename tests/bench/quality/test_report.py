"""From measures to figures, tables and JSON."""

import json
from dataclasses import asdict
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from bench.quality.metrics import Measures
from bench.quality.report import ModeRun, PartSummary, grids, summarise
from bench.quality.sets import JudgedQuery
from bench.shared.results import markdown, write_results

GOOD, POOR = Measures(1.0, 1.0, 1.0, 1.0, 1.0), Measures(0.5, 0.25, 1.0, 1.0, 0.0)
QUERIES = [JudgedQuery(query="one", relevant=("a",), parts=parts) for parts in (("odd",), (), ("odd",))]
RUNS = {"rrf": ModeRun((POOR, GOOD, POOR), 2.0), "adaptive": ModeRun((GOOD, GOOD, GOOD), 3.25)}


@pytest.fixture
def parts() -> list[PartSummary]:
    return summarise(QUERIES, RUNS, "rrf")


def test_means_over_the_set_and_over_its_parts(parts: list[PartSummary]) -> None:
    assert [(part.part, part.queries) for part in parts] == [("all", 3), ("odd", 2)]
    whole, odd = parts
    assert whole.modes["rrf"].means == Measures(2 / 3, 0.5, 1.0, 1.0, 1 / 3)
    assert odd.modes["rrf"].means == POOR
    assert odd.modes["adaptive"].means == GOOD


def test_differences_are_to_the_baseline(parts: list[PartSummary]) -> None:
    differences = parts[1].modes["adaptive"].differences
    assert {name: difference.mean for name, difference in differences.items()} == {
        "ndcg_10": 0.5,
        "mrr_10": 0.75,
        "recall_10": 0.0,
        "recall_100": 0.0,
        "hit_3": 1.0,
    }
    assert (differences["ndcg_10"].low, differences["ndcg_10"].high) == (0.5, 0.5)


def test_the_markdown_holds_a_table_a_part(parts: list[PartSummary]) -> None:
    assert markdown(grids("tiny", parts, "rrf", "mrr_10")).split("\n\n")[2:4] == [
        "**tiny, odd: 2 queries**",
        "| mode | nDCG@10 | MRR@10 | R@10 | R@100 | Hit@3 | MRR@10 - rrf | ms |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
        "| rrf | 0.500 | 0.250 | 1.000 | 1.000 | 0.000 |  | 2.0 |\n"
        "| adaptive | 1.000 | 1.000 | 1.000 | 1.000 | 1.000 | +0.750 [+0.750, +0.750] | 3.2 |\n",
    ]


def test_results_are_printed_and_written_with_what_they_were_made_with(
    parts: list[PartSummary], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = StringIO()
    monkeypatch.setattr("bench.shared.results.console", Console(file=output, width=150))
    tables = grids("tiny", parts, "rrf", "mrr_10")
    write_results(tmp_path / "out", "tiny", tables, {"parts": list(map(asdict, parts))}, "notes")
    assert "tiny, odd: 2 queries" in output.getvalue()
    assert "+0.750 [+0.750, +0.750]" in output.getvalue()
    assert (tmp_path / "out" / "tiny.md").read_text(encoding="utf-8") == markdown(tables) + "notes"
    content = json.loads((tmp_path / "out" / "tiny.json").read_text(encoding="utf-8"))
    assert content["parts"][1]["modes"]["adaptive"]["differences"]["hit_3"] == {"mean": 1.0, "low": 1.0, "high": 1.0}
    assert set(content["environment"]) == {"date", "processor", "cores", "system", "versions"}
    assert {"python", "groundwire", "numpy"} <= set(content["environment"]["versions"])
