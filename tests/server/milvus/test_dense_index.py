"""The index of dense vectors as an operator asks for it."""

import re

import pytest

from groundwire_milvus.dense_index import DenseIndex, dense_index


@pytest.mark.parametrize(
    ("text", "of_build", "of_search"),
    [
        ("FLAT", {}, {}),
        ("HNSW", {"M": 32, "efConstruction": 360}, {"ef": 400}),
        ("HNSW:ef=50,M=8", {"M": 8, "efConstruction": 360}, {"ef": 100}),
        ("IVF_FLAT:nlist=64", {"nlist": 64}, {"nprobe": 64}),
    ],
)
def test_parameters_are_those_given_or_else_known(
    text: str, of_build: dict[str, int], of_search: dict[str, int]
) -> None:
    index = dense_index(text)
    assert (index.of_build, index.of_search(100)) == (of_build, of_search)
    assert index.is_exact is (text == "FLAT")
    assert dense_index("FLAT") == DenseIndex()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'' must be one of FLAT, HNSW, IVF_FLAT"),
        ("hnsw", "'hnsw' must be one of"),
        ("FLAT:M=8", "FLAT has no parameters, not 'M'"),
        ("HNSW:nprobe=8", "HNSW has the parameters M, efConstruction, ef, not 'nprobe'"),
        ("HNSW:M", "M of HNSW must be a whole number from 2 to 2,048, not ''"),
        ("HNSW:M=1", "from 2 to 2,048, not '1'"),
        ("HNSW:M=-8", "not '-8'"),
        ("IVF_FLAT:nlist=65537", "from 1 to 65,536, not '65537'"),
    ],
)
def test_what_is_wrong_is_told_with_the_rule(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        dense_index(text)
