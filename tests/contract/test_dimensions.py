"""Vectors of larger models: the matches are those of brute force at any dimension in use."""

import random
from collections.abc import Iterator

import numpy as np
import pytest

from groundwire_client import GroundwireClient, IndexScope, SearchType, ids
from support.jsonl import node
from support.program import write_jsonl
from support.storage import NewStorage

DIMENSIONS = (768, 1_024, 2_560)
COUNT = 60


def vectors_of(dimension: int) -> list[list[float]]:
    draw = random.Random(dimension)
    return [[draw.gauss(0.0, 1.0) for _ in range(dimension)] for _ in range(COUNT)]


@pytest.fixture(scope="module")
def client(new_storage: NewStorage, tmp_path_factory: pytest.TempPathFactory) -> Iterator[GroundwireClient]:
    folder = tmp_path_factory.mktemp("dimensions")
    storage = new_storage(folder / "data")
    for dimension in DIMENSIONS:
        nodes = [
            node(f"N{row:02}", f"text {row} of {dimension}", vector) for row, vector in enumerate(vectors_of(dimension))
        ]
        source = write_jsonl(folder / f"{dimension}.jsonl", nodes)
        storage.run_ok("index", source, "-r", f"of-{dimension}", "-b", "main", "--embedder", "none")
    with storage.server("--embedder", "none") as server, GroundwireClient(server.address, timeout=300) as connected:
        yield connected


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_the_nearest_of_long_vectors(client: GroundwireClient, dimension: int) -> None:
    vectors = np.array(vectors_of(dimension))
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    query = units[3] + units[7] / 2
    expected = [f"of-{dimension}::main::cs::N{row:02}" for row in np.argsort(-(units @ query))[:10]]
    response = client.search(
        IndexScope(repository=f"of-{dimension}", branch="main"),
        "",
        search_type=SearchType.SEARCH_TYPE_SEMANTIC,
        query_vector=query.tolist(),
        top_k=10,
    )
    assert ids(response) == expected
