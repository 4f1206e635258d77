from collections.abc import Callable
from pathlib import Path

import pytest

from groundwire_pipelines.definition.search_path import LIBRARY, PipelineSearch
from groundwire_pipelines.errors import DefinitionError

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(name: str, *pipelines: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("pipelines:\n" + "".join(f"  - name: {pipeline}\n" for pipeline in pipelines))
        return path

    return write


def refusal(search: PipelineSearch, reference: str) -> str:
    with pytest.raises(DefinitionError) as caught:
        search.find(reference)
    return str(caught.value)


def test_the_first_folder_that_has_the_name_wins(write: Write, tmp_path: Path) -> None:
    write("first/a.yaml", "other")
    second = write("second/b.yml", "it")
    write("third/c.yaml", "it")
    search = PipelineSearch([tmp_path / "first", tmp_path / "second", tmp_path / "third"])
    assert search.find("it").path == second


def test_the_library_comes_last(write: Write, tmp_path: Path) -> None:
    assert PipelineSearch([]).find("evidence").path == LIBRARY / "evidence.yaml"
    file = write("own/a.yaml", "evidence")
    assert PipelineSearch([tmp_path / "own"]).find("evidence").path == file


def test_a_name_twice_in_one_folder_names_both_places(write: Write, tmp_path: Path) -> None:
    second = write("own/b.yaml", "x", "it")
    first = write("own/a.yaml", "it")
    search = PipelineSearch([tmp_path / "own"])
    assert refusal(search, "it") == (
        f"{second}:3: name: the pipeline 'it' is defined twice in {tmp_path / 'own'}; first at {first}:2"
    )
    assert search.find("x").path == second


def test_an_unknown_name_lists_the_folders_and_the_nearest_name(write: Write, tmp_path: Path) -> None:
    write("own/a.yaml", "billing_flow")
    assert refusal(PipelineSearch([tmp_path / "own"]), "biling_flow") == (
        f"<run>:1: pipeline: no pipeline 'biling_flow' in {tmp_path / 'own'}, {LIBRARY}; did you mean 'billing_flow'?"
    )
    refused = refusal(PipelineSearch([tmp_path / "own"]), "xyz")
    assert "; known are 'billing_flow', 'evidence', " in refused


def test_a_folder_may_hold_other_yaml(write: Write, tmp_path: Path) -> None:
    file = write("own/b.yaml", "it")
    (tmp_path / "own" / "a.yaml").write_text("chart: {{ .Values.name }}\n")
    (tmp_path / "own" / "c.yaml").mkdir()
    assert PipelineSearch([tmp_path / "own"]).find("it").path == file


def test_a_broken_pipeline_file_does_not_let_a_later_folder_win(write: Write, tmp_path: Path) -> None:
    broken = tmp_path / "own" / "evidence.yaml"
    broken.parent.mkdir()
    broken.write_text("pipeline:\n  name: [evidence\n")
    assert refusal(PipelineSearch([tmp_path / "own"]), "evidence").startswith(f"{broken}:")


def test_a_folder_must_exist(tmp_path: Path) -> None:
    with pytest.raises(DefinitionError, match=r"^<run>:1: path: there is no folder '.*/no'$"):
        PipelineSearch([tmp_path / "no"])


def test_paths_name_files_and_one_of_several(write: Write) -> None:
    single, several = write("one.yaml", "it"), write("several.yaml", "a", "b")
    search = PipelineSearch([])
    assert search.find(str(single)).name == "it"
    assert search.find(f"{several}#b").name == "b"
    assert refusal(search, str(several)) == (
        f"<run>:1: pipeline: {several} holds 'a', 'b'; name one, such as several.yaml#a"
    )
    assert refusal(search, f"{single}#its") == f"<run>:1: pipeline: no pipeline 'its' in {single}; did you mean 'it'?"
    assert refusal(search, f"{single}x.yaml") == f"<run>:1: pipeline: there is no file '{single}x.yaml'"


def test_a_parent_is_of_the_same_file_before_the_search_path(write: Write, tmp_path: Path) -> None:
    write("own/base.yaml", "base")
    child = write("child.yaml", "child", "base")
    search = PipelineSearch([tmp_path / "own"])
    source = search.find(f"{child}#child")
    assert search.parent(source, "base", source.origin).path == child


def test_a_parents_path_is_relative_to_the_childs_file(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = write("shared/base.yaml", "base")
    child = write("deep/child.yaml", "child")
    monkeypatch.chdir(tmp_path)
    search = PipelineSearch([])
    source = search.find(str(child))
    assert search.parent(source, "../shared/base.yaml", source.origin).path.resolve() == base
