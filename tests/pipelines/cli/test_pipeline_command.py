"""`groundwire pipeline validate|show|graph|schema`."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from typer.testing import CliRunner, Result

from groundwire_pipelines.cli.pipeline import pipeline_app

CHILD = """\
pipeline:
  name: child
  extends: evidence
  settings:
    top_k: 3
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "child.yaml").write_text(CHILD)
    (tmp_path / "wrong.yaml").write_text(CHILD.replace("child", "wrong").replace("top_k", "topk"))
    (tmp_path / "odd.yaml").write_text(CHILD.replace("child", "odd") + "  steps:\n    - {id: lost, action: finalize}\n")
    return tmp_path


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(pipeline_app, list(map(str, arguments)))


def test_validate_tells_each_problem_and_warning(folder: Path) -> None:
    result = run("validate", "child", "wrong", "odd", "--folder", folder)
    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        "child: ok",
        f"error: {folder}/wrong.yaml:5: settings.topk: unknown key; did you mean 'top_k'?",
        f"warning: {folder}/odd.yaml:7: steps.lost: no way leads here from the entry step 'search'",
        "odd: ok",
    ]


def test_validate_succeeds_when_nothing_is_wrong(folder: Path) -> None:
    assert run("validate", folder / "child.yaml", "evidence").exit_code == 0


def test_validate_for_programs(folder: Path) -> None:
    result = run("validate", "wrong", "--folder", folder, "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout) == [
        {
            "pipeline": "wrong",
            "problems": [
                {
                    "file": f"{folder}/wrong.yaml",
                    "line": 5,
                    "key": "settings.topk",
                    "message": "unknown key; did you mean 'top_k'?",
                }
            ],
            "warnings": [],
        }
    ]


def test_show_prints_values_with_their_origin(folder: Path) -> None:
    lines = run("show", "child", "--folder", folder).stdout.splitlines()
    assert any(line.split() == ["top_k:", "3", "#", "child.yaml:5"] for line in lines)
    assert any(line.split()[:4] == ["entry_step_id:", "search", "#", "evidence.yaml:6"] for line in lines)


def test_show_for_programs(folder: Path) -> None:
    shown = json.loads(run("show", "child", "--folder", folder, "--json").stdout)
    assert (shown["name"], shown["settings"]["top_k"]) == ("child", 3)
    assert shown["origins"]["settings.top_k"] == f"{folder}/child.yaml:5"
    assert [step["id"] for step in shown["steps"]][:2] == ["search", "expand"]


def test_graph_writes_an_svg_file(folder: Path) -> None:
    picture = folder / "child.svg"
    assert run("graph", "child", "--folder", folder, "-o", picture).exit_code == 0
    assert picture.read_text().startswith("<svg ")


def test_graph_writes_no_other_format_and_nowhere_else(folder: Path) -> None:
    png = run("graph", "child", "--folder", folder, "-o", folder / "child.png")
    assert png.exit_code == 2
    assert "must end in .svg" in png.stderr
    nowhere = run("graph", "child", "--folder", folder, "-o", folder / "no" / "child.svg")
    assert nowhere.exit_code == 2
    assert "No such file or directory" in " ".join(nowhere.stderr.replace("│", " ").split())


@pytest.mark.parametrize("command", [["show"], ["graph", "-o", "it.svg"]])
def test_a_wrong_pipeline_is_not_shown(folder: Path, command: list[str]) -> None:
    result = run(*command, "wrong", "--folder", folder)
    assert result.exit_code == 1
    assert result.stderr == f"error: {folder}/wrong.yaml:5: settings.topk: unknown key; did you mean 'top_k'?\n"


def test_schema_prints_a_schema() -> None:
    Draft202012Validator.check_schema(json.loads(run("schema").stdout))
