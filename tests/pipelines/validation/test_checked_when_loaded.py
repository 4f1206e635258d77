"""What a run would fail at is refused when the pipeline is loaded, whatever its steps are."""

from pathlib import Path

import pytest
from pydantic import JsonValue

from groundwire_pipelines import DefinitionError, Pipeline

PARENT = """\
pipeline:
  name: parent
  settings: {entry_step_id: search, top_k: 3, graph_max_depth: 1}
  steps:
    - {id: search, action: search_nodes, search_type: hybrid, query_from: question, next: expand}
    - id: expand
      action: expand_dependency_tree
      max_depth_from_settings: graph_max_depth
      max_nodes_from_settings: top_k
      edge_allowlist_from_settings: graph_edge_allowlist
      next: finalize
    - {id: finalize, action: finalize}
"""
EXPAND = """\
pipeline:
  name: it
  extends: parent.yaml
  settings: {{walk: {{depth: {depth}, nodes: 9, edges: [Calls]}}}}
  steps:
    - id: expand
      action: expand_dependency_tree
      {keys}
      next: finalize
"""
NAMED = "max_depth_from_settings: walk.depth\n      edge_allowlist_from_settings: walk.edges"


def problems_of(folder: Path, keys: str, depth: str = "1") -> list[str]:
    (folder / "parent.yaml").write_text(PARENT, encoding="utf-8")
    file = folder / "it.yaml"
    file.write_text(EXPAND.format(keys=keys, depth=depth), encoding="utf-8")
    with pytest.raises(DefinitionError) as raised:
        Pipeline.load(file)
    return [f"{problem.key}: {problem.message}" for problem in raised.value.problems]


def test_a_walk_takes_its_limits_from_settings(tmp_path: Path) -> None:
    (literal,) = problems_of(tmp_path, f"max_nodes: 9\n      {NAMED}")
    assert literal == (
        "steps.expand.max_nodes: is given as a value; name a setting that has it: max_nodes_from_settings: <name>"
    )
    (missing,) = problems_of(tmp_path, NAMED)
    assert missing.startswith(
        "steps.expand.max_nodes_from_settings: is missing: a step replaces the whole of its parent's"
    )


def test_a_setting_without_a_value_is_told_as_one(tmp_path: Path) -> None:
    (problem,) = problems_of(tmp_path, f"max_nodes_from_settings: walk.nodes\n      {NAMED}", depth="null")
    assert problem == (
        "steps.expand.max_depth_from_settings: the step uses the setting 'walk.depth', which has no value"
    )


@pytest.mark.parametrize("pipeline", ["evidence", "quick_evidence", "trace"])
@pytest.mark.parametrize(
    ("setting", "value", "message"),
    [
        ("max_context_tokens", 0, "must be 1 or more, not 0"),
        ("max_context_tokens", -5, "must be 1 or more, not -5"),
        ("graph_edge_allowlist", ["*", "Calls"], "has '*', which means all, beside others: keep one of them"),
    ],
)
def test_settings_are_checked_whatever_the_steps(pipeline: str, setting: str, value: JsonValue, message: str) -> None:
    with pytest.raises(DefinitionError) as raised:
        Pipeline.load(pipeline, (), **{setting: value})
    assert f"settings.{setting}: {message}" in str(raised.value)
