"""The index of a folder is brought up to date only when its files have changed."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from groundwire_index.scope import Scope
from groundwire_index.store.listing import list_versions
from groundwire_index.store.store import IndexStore
from groundwire_ingest.commands.folder import refresh, state_of
from groundwire_ingest.repositories.repository import NO_EMBEDDER
from support.builds import HashEmbedder

SCOPE = Scope("shop", "12345678")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "shop"
    made.mkdir()
    (made / "a.py").write_text("def a(): pass\n", encoding="utf-8")
    (made / ".gitignore").write_text("*.log\n", encoding="utf-8")
    return made


def test_one_version_is_kept_and_made_anew_for_other_files(folder: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    store = IndexStore(data)
    assert refresh(folder, data, SCOPE, NO_EMBEDDER)
    first = store.active(SCOPE)
    assert not refresh(folder, data, SCOPE, NO_EMBEDDER)
    assert store.active(SCOPE) == first
    (folder / "b.py").write_text("def b(): pass\n", encoding="utf-8")
    assert refresh(folder, data, SCOPE, NO_EMBEDDER)
    (folder / "b.py").unlink()
    assert refresh(folder, data, SCOPE, NO_EMBEDDER)  # the files of the first version, whose name is taken
    assert store.versions(SCOPE) == [store.active(SCOPE)]
    assert store.active(SCOPE) != first


def test_words_can_be_searched_before_all_is_embedded(folder: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    store = IndexStore(data)
    active: list[str] = []

    class Watched(HashEmbedder):
        def embed_texts(self, texts: Sequence[str]) -> NDArray[np.float32]:
            active.append(store.active(SCOPE))
            return super().embed_texts(texts)

    assert refresh(folder, data, SCOPE, "watched", lambda _: Watched())
    assert active
    assert all(version.endswith("+words") for version in active)
    assert [entry.dimension > 0 for entry in list_versions(data)] == [True]


def test_the_state_is_that_of_the_files_that_are_read(folder: Path) -> None:
    state = state_of(folder, "model")
    (folder / "x.log").write_text("ignored", encoding="utf-8")
    assert state_of(folder, "model") == state
    assert state_of(folder, "another model") != state
    (folder / "a.py").write_text("def a(): return 1\n", encoding="utf-8")
    assert state_of(folder, "model") != state
