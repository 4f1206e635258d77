"""The reference of pipelines explains everything in the code, and what is exported is there."""

import pytest

import groundwire_pipelines
from groundwire_pipelines.actions.registry import BUILT_IN
from groundwire_pipelines.reference.keys import keys_of
from groundwire_pipelines.reference.page import page
from groundwire_pipelines.settings import PipelineSettings
from support import programs


@pytest.fixture(scope="module")
def reference() -> str:
    return page()


def test_the_reference_tells_every_setting_action_key_and_value(reference: str) -> None:
    assert all(f"| `{name}` |" in reference for name in PipelineSettings.model_fields)
    for action in BUILT_IN:
        section = reference.partition(f"### `{action.name}`\n")[2].partition("\n### ")[0]
        keys = [key for key in keys_of(action.settings) if not key.name.startswith(("retry", "filter."))]
        assert all(f"| `{key.name}` | {key.kind} |" in section for key in keys), action.name
        assert all(key.description and key.kind for key in keys), action.name
        assert all(f"`{way}`" in section for way in action.transitions), action.name
    assert "`semantic` or `bm25` or `hybrid`" in reference
    assert [line for line in reference.splitlines() if line.startswith("|") != line.endswith("|")] == []


def test_the_reference_tells_rules(reference: str) -> None:
    rules = reference.partition("## Rules\n")[2]
    assert all(f"`{rule}`" in rules for rule in ("query-empty", "model-timeout", "settings-key-missing", "step-limit"))


def test_everything_that_is_exported_is_there() -> None:
    assert sorted(groundwire_pipelines.__all__) == groundwire_pipelines.__all__
    assert all(getattr(groundwire_pipelines, name) for name in groundwire_pipelines.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = groundwire_pipelines.Nothing


def test_the_model_is_imported_when_it_is_asked_for() -> None:
    assert programs.output("model_loads").split() == ["False", "True"]
