"""`groundwire pipeline list|actions|init|validate|show|graph|schema`."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from typer.testing import CliRunner, Result

from groundwire_pipelines.actions.registry import actions
from groundwire_pipelines.cli.pipeline import pipeline_app
from groundwire_pipelines.definition.search_path import LIBRARY
from groundwire_pipelines.loading import load_pipeline
from groundwire_pipelines.merged_yaml import step_keys

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
        f"warning: {folder}/odd.yaml:7: steps.lost: cannot be reached from the entry step 'gather'",
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
    assert any(line.split()[:4] == ["entry_step_id:", "gather", "#", "evidence.yaml:7"] for line in lines)


def test_show_for_programs(folder: Path) -> None:
    shown = json.loads(run("show", "child", "--folder", folder, "--json").stdout)
    assert (shown["name"], shown["settings"]["top_k"]) == ("child", 3)
    assert shown["origins"]["settings.top_k"] == f"{folder}/child.yaml:5"
    assert [step["id"] for step in shown["steps"]][:2] == ["gather", "finalize"]


def test_graph_draws_in_either_language(folder: Path) -> None:
    assert "flowchart TD\n" in run("graph", "child", "--folder", folder).stdout
    assert run("graph", "child", "--folder", folder, "--format", "dot").stdout.startswith('digraph "child" {\n')


@pytest.mark.parametrize("command", [["show"], ["graph"]])
def test_a_wrong_pipeline_is_not_shown(folder: Path, command: list[str]) -> None:
    result = run(*command, "wrong", "--folder", folder)
    assert result.exit_code == 1
    assert result.stderr == f"error: {folder}/wrong.yaml:5: settings.topk: unknown key; did you mean 'top_k'?\n"


def test_schema_prints_a_schema() -> None:
    Draft202012Validator.check_schema(json.loads(run("schema").stdout))


@pytest.mark.parametrize(
    "name",
    ["evidence", "quick_evidence", "trace", "rag_code_base", "rag_code_semantic_only", "rag_code_deep_graph", "own"],
)
def test_what_show_prints_loads_as_the_same_pipeline(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, name: str
) -> None:
    (folder / "prompts").mkdir()
    (folder / "prompts" / "say.md").write_text("{{question}}", encoding="utf-8")
    (folder / "own.yaml").write_text(OWN, encoding="utf-8")
    copy = tmp_path_factory.mktemp("elsewhere") / "copy.yaml"
    copy.write_text(run("show", name, "--folder", folder).stdout, encoding="utf-8")
    assert run("validate", copy).stdout == f"{copy}: ok\n"
    first, second = load_pipeline(name, [folder]), load_pipeline(str(copy))
    assert (first.name, first.description, first.settings) == (second.name, second.description, second.settings)
    assert [step_keys(step) for step in first.steps.values()] == [step_keys(step) for step in second.steps.values()]


OWN = """\
pipeline:
  name: own
  description: "Asks: with settings # of its own."
  extends: evidence
  settings:
    limits: {depth: 2, nodes: 7, types: ["on", "0o17", Calls]}
    filter: {is_test: false, metadata: {team: pay}}
  steps:
    - id: gather
      action: gather_evidence
      query_from: question
      next: expand
    - id: expand
      action: expand_dependency_tree
      max_depth_from_settings: limits.depth
      max_nodes_from_settings: limits.nodes
      edge_allowlist_from_settings: limits.types
      retry: {tries: 2}
      on_error: finalize
      on_error.server-no-matches: finalize
      next: translate
    - {id: translate, action: translate_in_if_needed, prompt: say, next: finalize}
"""


def test_list_tells_what_there_is_and_what_for(folder: Path) -> None:
    (folder / "own.yaml").write_text(OWN, encoding="utf-8")
    lines = run("list", "--folder", folder).stdout.splitlines()
    assert lines[:2] == ["child (extends evidence)", "odd (extends evidence)"]
    assert lines[lines.index("own (extends evidence)") + 1] == "  Asks: with settings # of its own."
    listed = json.loads(run("list", "--json").stdout)
    assert [pipeline["name"] for pipeline in listed] == sorted(path.stem for path in LIBRARY.glob("*.yaml"))
    assert all(pipeline["description"] for pipeline in listed)


def test_actions_tells_keys_and_transitions() -> None:
    everything = run("actions").stdout
    assert all(f"{name}\n" in everything for name in actions())
    described = run("actions", "check_context_budget").stdout.splitlines()
    assert "  transitions: on_ok, on_over_limit" in described
    (listed,) = json.loads(run("actions", "expand_dependency_tree", "--json").stdout)
    (depth,) = [key for key in listed["keys"] if key["name"] == "max_depth"]
    assert (depth["kind"], depth["default"]) == ("whole number, at least 0", "")
    misspelt = run("actions", "serch_nodes")
    assert misspelt.exit_code == 2
    assert "did you mean" in misspelt.stderr


def test_init_copies_a_pipeline_and_its_prompts_to_edit(tmp_path: Path) -> None:
    target = tmp_path / "mine"
    assert run("init", "mine", "--from", "rag_code_deep_graph", "-o", target).exit_code == 0
    assert run("validate", target / "mine.yaml").stdout == f"{target / 'mine.yaml'}: ok\n"
    copied, source = load_pipeline(str(target / "mine.yaml")), load_pipeline("rag_code_deep_graph")
    assert (copied.name, copied.settings) == ("mine", source.settings)
    assert copied.prompts == (target / "prompts",)
    assert (target / "prompts" / "router.md").read_bytes() == (LIBRARY / "prompts" / "router.md").read_bytes()
    text = (target / "mine.yaml").read_text(encoding="utf-8")
    assert "extends" not in text
    assert " # " not in text
    again = run("init", "mine", "--from", "evidence", "-o", target)
    assert again.exit_code == 1
    assert "already exists" in again.stderr
    assert (target / "mine.yaml").read_text(encoding="utf-8") == text


def test_init_writes_through_no_link(tmp_path: Path) -> None:
    target, elsewhere = tmp_path / "mine", tmp_path / "elsewhere.yaml"
    target.mkdir()
    (target / "mine.yaml").symlink_to(elsewhere)
    refused = run("init", "mine", "--from", "evidence", "-o", target)
    assert refused.exit_code == 1
    assert "cannot be written" in refused.stderr
    assert not elsewhere.exists()


def test_init_refuses_a_name_that_is_none(tmp_path: Path) -> None:
    refused = run("init", "../mine", "--from", "evidence", "-o", tmp_path / "mine")
    assert refused.exit_code == 1
    assert "is no name for a pipeline" in refused.stderr
    assert not (tmp_path / "mine").exists()
