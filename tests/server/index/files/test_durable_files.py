"""Arrays in files: mapped without keeping the file open, read-only, and unmapped when nobody refers to them."""

import os
from pathlib import Path

import numpy as np
import pytest

from groundwire_index.files.durable_files import map_array, write_array
from groundwire_index.files.segment import HeldSegment
from groundwire_index.files.string_column import StringColumn
from groundwire_index.index_errors import IndexDamagedError


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def mapped(path: Path) -> bool:
    return str(path) in Path("/proc/self/maps").read_text(encoding="utf-8")


def test_a_mapped_array_is_the_files_and_keeps_it_neither_open_nor_mapped_for_longer(tmp_path: Path) -> None:
    path, values = tmp_path / "values.bin", np.arange(100_000, dtype=np.int32)
    write_array(path, values)
    before = open_files()
    array = map_array(path, np.int32, (100, 1_000))
    assert open_files() == before
    part = array[3:5, 10:20]
    np.testing.assert_array_equal(array, values.reshape(100, 1_000))
    with pytest.raises(ValueError, match="read-only"):
        array[0, 0] = 1
    path.unlink()
    del array
    assert mapped(path)
    np.testing.assert_array_equal(part, values.reshape(100, 1_000)[3:5, 10:20])
    del part
    assert not mapped(path)


def test_an_empty_file_is_an_empty_array(tmp_path: Path) -> None:
    (tmp_path / "empty.bin").touch()
    assert map_array(tmp_path / "empty.bin", np.float32, (0, 7)).shape == (0, 7)


@pytest.mark.parametrize("size", [0, 11, 13])
def test_a_file_of_another_size_is_damage(tmp_path: Path, size: int) -> None:
    (tmp_path / "odd.bin").write_bytes(os.urandom(size))
    with pytest.raises(IndexDamagedError, match=rf"odd.bin: has {size} bytes"):
        map_array(tmp_path / "odd.bin", np.int32, (3,))


def test_a_file_that_is_not_there_is_damage(tmp_path: Path) -> None:
    with pytest.raises(IndexDamagedError, match=r"gone.bin"):
        map_array(tmp_path / "gone.bin", np.int32, (3,))


def test_a_full_disk_is_named(tmp_path: Path) -> None:
    full = tmp_path / "text.utf8"
    full.symlink_to("/dev/full")
    content = np.zeros(1 << 20, dtype=np.uint8)
    with pytest.raises(OSError, match="No space left"):
        HeldSegment(0, 1, {"text": content}).spill(full)
    with pytest.raises(OSError, match="No space left"):
        StringColumn.write_joined(tmp_path, "text", [content], np.ones(1, dtype=np.int32))
