from pathlib import Path

import pytest

from groundwire_configuration.located_values import Origin
from groundwire_pipelines.definition.search_path import LIBRARY
from groundwire_pipelines.errors import DefinitionError
from groundwire_pipelines.loading import load_pipeline
from support import programs

LIBRARY_FILES = sorted(path.stem for path in LIBRARY.glob("*.yaml"))


@pytest.mark.parametrize("name", LIBRARY_FILES)
def test_the_library_is_sound(name: str) -> None:
    definition = load_pipeline(name)
    assert definition.name == name
    assert definition.warnings == ()


def test_a_run_gives_settings_of_its_own() -> None:
    definition = load_pipeline("evidence", (), {"repository": "shop", "graph_edge_allowlist": ["Calls"]})
    assert definition.settings.repository == "shop"
    assert definition.settings.graph_edge_allowlist == ("Calls",)
    assert definition.origins["settings.repository"] == Origin("<run>", 1)


def test_settings_of_a_run_are_checked_too() -> None:
    with pytest.raises(DefinitionError) as caught:
        load_pipeline("evidence", (), {"top_k": "many", "max_step": 9})
    assert list(map(str, caught.value.problems)) == [
        '<run>:1: settings.top_k: must be a whole number, not "many"',
        "<run>:1: settings.max_step: unknown key; did you mean 'max_steps'?",
    ]


def test_prompts_are_looked_for_beside_each_file_of_the_chain(tmp_path: Path) -> None:
    child = tmp_path / "child.yaml"
    child.write_text("pipeline: {name: child, extends: evidence}\n")
    assert load_pipeline(str(child)).prompts == (tmp_path / "prompts", LIBRARY / "prompts")


def test_loading_is_the_same_whatever_the_hash_seed(tmp_path: Path) -> None:
    child = tmp_path / "child.yaml"
    child.write_text("pipeline: {name: child, extends: evidence, settings: {topk: 1, repo: x}, steps: [{id: 'a b'}]}\n")
    outputs = {programs.output("load_pipelines", child, PYTHONHASHSEED=seed) for seed in ("1", "2")}
    assert len(outputs) == 1
