"""Folders for many small indexes, and tiny cross-encoders."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from support.storage import NewStorage, Storage

_MEMORY = Path("/dev/shm")


@pytest.fixture(scope="module")
def folders() -> Iterator[tuple[Path, Path]]:
    """The data folders of whole and of trimmed indexes.

    Hundreds of small indexes are written, dozens of files each; memory takes a tenth of a disk's time.
    """
    with TemporaryDirectory(dir=_MEMORY if _MEMORY.is_dir() else None) as directory:
        whole, trimmed = Path(directory, "whole", "data"), Path(directory, "trimmed", "data")
        whole.mkdir(parents=True)
        trimmed.mkdir(parents=True)
        yield whole, trimmed


@pytest.fixture(scope="module")
def whole_and_trimmed(folders: tuple[Path, Path], new_storage: NewStorage) -> tuple[Storage, Storage]:
    """Storage of whole indexes and of trimmed ones."""
    whole, trimmed = folders
    return new_storage(whole), new_storage(trimmed)


@pytest.fixture(scope="session")
def cross_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a cross-encoder with random weights."""
    from support.cross_encoders import write_cross_encoder  # here, because every process of tests reads this file

    folder = tmp_path_factory.mktemp("cross-encoder")
    write_cross_encoder(folder)
    return folder


@pytest.fixture(scope="session")
def trained_cross_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a cross-encoder that has learnt whether a text of four letters holds the query's letter."""
    from support.cross_encoders import write_trained_cross_encoder

    folder = tmp_path_factory.mktemp("trained-cross-encoder")
    write_trained_cross_encoder(folder)
    return folder
