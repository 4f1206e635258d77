"""What a search reads from Milvus: what the scores of possible candidates need, and no more."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from groundwire_index.scope import Scope
from groundwire_index.store.loaded import LoadedIndex
from groundwire_index.store.store import IndexStore
from groundwire_milvus.rows import Rows
from groundwire_milvus.serving.backend import MilvusBackend
from groundwire_milvus.store import MilvusStore
from groundwire_server.backends.embedded.backend import EmbeddedBackend
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.search.candidates import Candidates, Retrieval
from groundwire_server.domain.search.search import Retriever
from groundwire_server.query_embedding.query_vectors import unit_vector
from support.both_backends import MakeNode
from support.calls import never_stop
from support.milvus_builds import copy_to_milvus, new_catalogue
from support.milvus_server import MilvusServer

SCOPE = Scope("shop", "main", "v1")
NODES, LISTED = 200, 10
OFTEN = 3_000
"""How often the last node says the word: too often for its weight to tell."""
WORDS = " ".join(f"w{number}" for number in range(70))


@pytest.fixture
def retrieve(
    milvus: MilvusServer, make_node: MakeNode, publish: Callable[..., None], tmp_path: Path
) -> Iterator[Callable[[Retrieval], Candidates]]:
    texts = [f"{'tax ' * (number % 50 + 1)}{'other ' * (number % 7)}{WORDS}" for number in range(NODES)]
    texts[-1] = "tax " * OFTEN
    nodes = [make_node(f"N{number:03}", text, symbol=f"Name{number}") for number, text in enumerate(texts)]
    angles = np.arange(NODES) / NODES
    vectors = [(float(np.cos(angle)), float(np.sin(angle))) for angle in angles]
    publish(tmp_path, nodes, [], vectors, scope=SCOPE)
    catalogue = new_catalogue(milvus)
    copy_to_milvus(LoadedIndex(IndexStore(tmp_path).require(SCOPE)), catalogue)
    expected = EmbeddedBackend(tmp_path).open(SCOPE, AccessContext())
    actual = MilvusBackend(catalogue.store.address).open(SCOPE, AccessContext())

    def both(search: Retrieval) -> Candidates:
        wanted, candidates = expected.retrieve(search, never_stop), actual.retrieve(search, never_stop)
        assert candidates.rows.tolist() == wanted.rows.tolist()
        for retriever, wanted_scores in wanted.by_retriever.items():
            assert candidates.by_retriever[retriever].scores.tobytes() == wanted_scores.scores.tobytes()
        return candidates

    yield both
    catalogue.store.close()


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """How many rows were read with each field, by its name."""
    counts: dict[str, int] = {}
    select = MilvusStore.select

    def counted(
        store: MilvusStore, collection: str, vector: str, dimension: int, within: str, count: int, fields: Sequence[str]
    ) -> Rows:
        selected = select(store, collection, vector, dimension, within, count, fields)
        for field in fields:
            counts[field] = counts.get(field, 0) + len(selected)
        return selected

    monkeypatch.setattr(MilvusStore, "select", counted)
    return counts


def _search(query: str, *retrievers: Retriever, threshold: float = 0.5) -> Retrieval:
    limits = dict.fromkeys(retrievers, LISTED)
    return Retrieval(query, unit_vector(np.asarray([1.0, 0.3])), limits, None, threshold, with_columns=True)


def test_rows_beyond_the_lists_are_not_read(retrieve: Callable[[Retrieval], Candidates], read: dict[str, int]) -> None:
    candidates = retrieve(_search("tax", Retriever.DENSE, Retriever.BM25_CODE, Retriever.BM25_PROSE))
    assert len(candidates) > LISTED
    assert read["vector"] == read["code_length"] <= len(candidates) + 10, "rows of the same score"


def test_terms_are_read_where_a_weight_does_not_tell_how_often_they_occur(
    retrieve: Callable[[Retrieval], Candidates], read: dict[str, int]
) -> None:
    retrieve(_search("tax other", Retriever.BM25_CODE))
    assert read["code_terms"] == 1
    read.clear()
    retrieve(_search(f"tax {WORDS}", Retriever.BM25_CODE))
    assert read["code_terms"] == read["code_length"], "more terms than are looked up"


def test_names_are_read_where_one_is_similar_enough(
    retrieve: Callable[[Retrieval], Candidates], read: dict[str, int]
) -> None:
    retrieve(_search("zzzQqq.xyz()", Retriever.TRIGRAM, Retriever.DENSE))
    assert "names" not in read
    retrieve(_search("Name17()", Retriever.TRIGRAM, threshold=0.9))
    assert read["names"] < LISTED
