from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from groundwire_pipelines.definition.search_path import LIBRARY
from groundwire_pipelines.loading import load_pipeline
from groundwire_pipelines.merged_yaml import merged_yaml
from support.small_registry import SMALL_REGISTRY

PARENT = """\
pipeline:
  name: parent
  settings:
    entry_step_id: search
    top_k: 5
  steps:
    - id: search
      action: search
      search_type: hybrid
      boosts: {path: 2}
      fields: [on, "12"]
      next: stop
    - id: stop
      action: stop
"""
CHILD = """\
pipeline:
  name: child
  extends: parent.yaml
  settings:
    top_k: 9
"""
MERGED = """\
# {folder}/parent.yaml
# {folder}/child.yaml
pipeline:
  name: child
  settings:
    entry_step_id: search   # parent.yaml:4
    top_k: 9                # child.yaml:5
    branch: "on"            # <run>:1
  steps:
    - id: search            # parent.yaml:7
      action: search        # parent.yaml:8
      search_type: hybrid   # parent.yaml:9
      boosts:
        path: 2             # parent.yaml:10
      fields: ["on", "12"]  # parent.yaml:11
      next: stop            # parent.yaml:12
    - id: stop              # parent.yaml:13
      action: stop          # parent.yaml:14
"""


def test_every_value_names_its_origin(tmp_path: Path) -> None:
    (tmp_path / "parent.yaml").write_text(PARENT)
    (tmp_path / "child.yaml").write_text(CHILD)
    definition = load_pipeline(str(tmp_path / "child.yaml"), (), {"branch": "on"}, SMALL_REGISTRY)
    assert merged_yaml(definition) == MERGED.format(folder=tmp_path)


def test_files_of_one_name_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "parent.yaml").write_text(PARENT)
    (tmp_path / "deep" / "parent.yaml").write_text(CHILD.replace("parent.yaml", "../parent.yaml"))
    text = merged_yaml(load_pipeline(str(tmp_path / "deep" / "parent.yaml"), (), {}, SMALL_REGISTRY))
    assert f"# {tmp_path}/deep/parent.yaml:5" in text
    assert f"# {tmp_path}/deep/../parent.yaml:4" in text


@pytest.mark.parametrize("name", sorted(path.stem for path in LIBRARY.glob("*.yaml")))
def test_what_is_shown_loads_as_the_same_pipeline(tmp_path: Path, name: str) -> None:
    original = load_pipeline(name)
    (tmp_path / "shown.yaml").write_text(merged_yaml(original))
    (tmp_path / "prompts").symlink_to(LIBRARY / "prompts")
    again = load_pipeline(str(tmp_path / "shown.yaml"))
    assert again.settings == original.settings
    assert [(step.id, step.action, step.raw, step.transitions) for step in again.steps.values()] == [
        (step.id, step.action, step.raw, step.transitions) for step in original.steps.values()
    ]


@given(
    fields=st.lists(
        st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=40)
        | st.sampled_from(
            ["on", "1e3", "0o17", "~", "12:30", "=", "<<", "no", "a  # b", "- a", "x: y", "\u2028", "\x85"]
        ),
        max_size=4,
    ),
    weight=st.floats(allow_nan=False, allow_infinity=False),
)
def test_any_text_and_number_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, fields: list[str], weight: float
) -> None:
    path = tmp_path_factory.getbasetemp() / "parent.yaml"
    path.write_text(PARENT)
    original = load_pipeline(str(path), (), {}, SMALL_REGISTRY)
    raw: dict[str, JsonValue] = {"search_type": "hybrid", "boosts": {"path": weight}, "fields": list(fields)}
    changed = {**original.steps, "search": original.steps["search"].model_copy(update={"raw": raw})}
    path.write_text(merged_yaml(replace(original, steps=changed)))
    assert load_pipeline(str(path), (), {}, SMALL_REGISTRY).steps["search"].raw == raw
