"""The rules of inheritance, one by one."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from pydantic import JsonValue

from groundwire_configuration.located_values import located
from groundwire_pipelines.definition.merging import PipelineDraft, inheritance_chain, merge
from groundwire_pipelines.definition.search_path import RUN, PipelineSearch
from groundwire_pipelines.errors import DefinitionError

BASE = """
pipeline:
  name: base
  settings:
    entry_step_id: a
    top_k: 5
    retrieval_modes: [semantic, bm25]
    nested: {x: 1, y: {p: 1, q: 2}}
  steps:
    - {id: a, action: search, search_type: bm25, next: b}
    - {id: b, action: check, on_ok: c, on_over_limit: c}
    - {id: c, action: stop}
"""
MIDDLE = """
pipeline:
  name: middle
  extends: base
  settings:
    top_k: 6
    nested: {y: {q: 3, r: 4}, z: 5}
  steps:
    - {id: extra, action: stop}
    - {id: b, action: search, search_type: semantic, next: extra}
"""
CHILD = """
pipeline:
  name: child
  extends: middle
  settings:
    repository: shop
    retrieval_modes: [hybrid]
    nested: {x: {now: a mapping}}
  steps:
    - {id: c, action: stop}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in {"base": BASE, "middle": MIDDLE, "child": CHILD}.items():
        (tmp_path / f"{name}.yaml").write_text(text.lstrip("\n"))
    return tmp_path


def merged(folder: Path, name: str, overrides: Mapping[str, JsonValue] | None = None) -> PipelineDraft:
    search = PipelineSearch([folder])
    chain = inheritance_chain(search.find(name), search)
    return merge(chain, {key: located(value, RUN) for key, value in (overrides or {}).items()})


def test_settings_merge_deeply_and_lists_are_replaced(folder: Path) -> None:
    assert merged(folder, "child").settings == {
        "entry_step_id": "a",
        "top_k": 6,
        "retrieval_modes": ["hybrid"],
        "nested": {"x": {"now": "a mapping"}, "y": {"p": 1, "q": 3, "r": 4}, "z": 5},
        "repository": "shop",
    }


def test_a_step_is_replaced_as_a_whole_and_in_place(folder: Path) -> None:
    step = merged(folder, "middle").steps["b"]
    assert (step.action, step.raw, step.transitions) == ("search", {"search_type": "semantic"}, {"next": "extra"})
    assert list(merged(folder, "middle").steps) == ["a", "b", "c", "extra"]


def test_the_parent_itself_stays_as_it_is(folder: Path) -> None:
    assert merged(folder, "base").settings["top_k"] == 5
    assert merged(folder, "base").steps["b"].action == "check"


def test_every_value_knows_the_file_it_came_from(folder: Path) -> None:
    origins = merged(folder, "child", {"active_index": "2025-12-14"}).origins
    where = {path: (Path(origin.file).name, origin.line) for path, origin in origins.items()}
    assert where["settings.entry_step_id"] == ("base.yaml", 4)
    assert where["settings.top_k"] == ("middle.yaml", 5)
    assert where["settings.repository"] == ("child.yaml", 5)
    assert where["settings.retrieval_modes.0"] == ("child.yaml", 6)
    assert "settings.retrieval_modes.1" not in where
    assert where["settings.nested.y.p"] == ("base.yaml", 7)
    assert where["settings.nested.y.q"] == ("middle.yaml", 6)
    assert where["settings.active_index"] == ("<run>", 1)
    assert where["steps.a.search_type"] == ("base.yaml", 9)
    assert where["steps.b.next"] == ("middle.yaml", 9)
    assert "steps.b.on_ok" not in where


def test_settings_of_the_run_win_over_all_files(folder: Path) -> None:
    settings = merged(folder, "child", {"top_k": 1, "nested": {"z": 6}}).settings
    assert settings["top_k"] == 1
    assert settings["nested"] == {"x": {"now": "a mapping"}, "y": {"p": 1, "q": 3, "r": 4}, "z": 6}


def test_the_files_of_the_chain_are_told_nearest_first(folder: Path) -> None:
    assert [path.name for path in merged(folder, "child").files] == ["child.yaml", "middle.yaml", "base.yaml"]


def test_a_circle_over_files_and_symbolic_links_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("pipeline: {name: a, extends: b.yaml}\n")
    (tmp_path / "b.yaml").write_text("pipeline: {name: b, extends: link.yaml}\n")
    (tmp_path / "link.yaml").symlink_to(tmp_path / "a.yaml")
    search = PipelineSearch([])
    with pytest.raises(DefinitionError, match=r"b\.yaml:1: extends: a pipeline extends itself: a -> b -> a$"):
        inheritance_chain(search.find(str(tmp_path / "a.yaml")), search)


def test_a_long_chain_merges_in_order(tmp_path: Path) -> None:
    pipelines = ["  - {name: p0, settings: {top_k: 1, entry_step_id: s}}"]
    pipelines += [f"  - {{name: p{n}, extends: p{n - 1}, settings: {{top_k: {n}}}}}" for n in range(1, 60)]
    (tmp_path / "all.yaml").write_text("pipelines:\n" + "\n".join(pipelines) + "\n")
    draft = merged(tmp_path, "p59")
    assert draft.settings == {"top_k": 59, "entry_step_id": "s"}
