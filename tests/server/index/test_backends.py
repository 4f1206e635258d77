from pathlib import Path

import pytest

from groundwire_index.backends import DEFAULT_BACKEND, EMBEDDED, all_backends

RECORD = """
from groundwire_index.storage import Backend

SHELF = Backend(settings=(), threads=3, storage=dict, serving="shelf:serve", extras={"ladder": "shelf"})
"""


def _install(folder: Path, name: str) -> None:
    """Puts a package into the folder whose entry point gives a backend that name."""
    (folder / "shelf.py").write_text(RECORD)
    metadata = folder / "shelf-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: shelf\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[groundwire.backends]\n{name} = shelf:SHELF\n")


def test_a_backend_is_found_by_the_entry_point_of_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _install(tmp_path, "shelf")
    monkeypatch.syspath_prepend(tmp_path)
    backends = all_backends()
    assert next(iter(backends)) == DEFAULT_BACKEND
    assert (backends["shelf"].threads, backends["shelf"].extras) == (3, {"ladder": "shelf"})


def test_no_package_takes_the_place_of_the_embedded_backend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _install(tmp_path, DEFAULT_BACKEND)
    monkeypatch.syspath_prepend(tmp_path)
    assert all_backends()[DEFAULT_BACKEND] is EMBEDDED
