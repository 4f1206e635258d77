"""Vectors written row by row are the file that FAISS itself writes of all of them."""

from pathlib import Path

import faiss
import numpy as np
import pytest

from groundwire_index.files.durable_files import map_array
from groundwire_index.vectors.vector_file import PRESENT_FILE, VECTORS_FILE, VectorFile


@pytest.mark.parametrize(("count", "dimension"), [(1, 1), (7, 3), (300, 384)])
@pytest.mark.parametrize("absent", [0, 0.3, 1], ids=["all", "most", "none"])
def test_the_file_is_that_of_faiss(tmp_path: Path, count: int, dimension: int, absent: float) -> None:
    rng = np.random.default_rng(3)
    present = rng.random(count) >= absent
    vectors = np.where(present[:, np.newaxis], rng.standard_normal((count, dimension)), 0.0).astype(np.float32)
    index = faiss.IndexFlatIP(dimension)
    index.add(vectors)
    faiss.write_index(index, str(tmp_path / "whole"))
    rows = np.flatnonzero(present)
    with VectorFile(tmp_path, count, dimension) as file:
        for part in rng.permutation(np.arange(5)):
            rows_of_part = rows[rows % 5 == part]
            file.put(rows_of_part, vectors[rows_of_part])
    assert (tmp_path / VECTORS_FILE).read_bytes() == (tmp_path / "whole").read_bytes()
    assert map_array(tmp_path / PRESENT_FILE, np.bool_, (count,)).tolist() == present.tolist()


def test_a_file_that_was_not_completed_says_nothing_of_its_rows(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), VectorFile(tmp_path, 2, 2):
        raise KeyboardInterrupt
    assert not (tmp_path / PRESENT_FILE).exists()
