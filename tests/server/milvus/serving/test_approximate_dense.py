"""An index of dense vectors that may miss nodes: what it lists is scored exactly, and is never called exact."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from groundwire_index.scope import Scope
from groundwire_index.store.loaded import LoadedIndex
from groundwire_index.store.store import IndexStore
from groundwire_milvus.dense_index import dense_index
from groundwire_milvus.serving.backend import MilvusBackend
from groundwire_server.backends.embedded.backend import EmbeddedBackend
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.search.candidates import Retrieval
from groundwire_server.domain.search.search import Retriever
from groundwire_server.query_embedding.query_vectors import unit_vector
from support.both_backends import MakeNode, varied_content
from support.calls import never_stop
from support.milvus_builds import copy_to_milvus, new_catalogue
from support.milvus_server import MilvusServer

SCOPE = Scope("shop", "main", "v1")
COUNT = 40


@pytest.mark.parametrize("parameters", ["HNSW:M=4,efConstruction=8,ef=8", "IVF_FLAT:nlist=16,nprobe=1", "IVF_FLAT"])
def test_what_is_listed_is_visible_and_scored_exactly(
    milvus: MilvusServer, make_node: MakeNode, publish: Callable[..., None], tmp_path: Path, parameters: str
) -> None:
    content = varied_content(make_node, 200)
    publish(tmp_path, content.nodes, content.edges, content.vectors, scope=SCOPE)
    catalogue = new_catalogue(milvus)
    copy_to_milvus(LoadedIndex(IndexStore(tmp_path).require(SCOPE)), catalogue, dense_index=dense_index(parameters))
    everything = Retrieval("", unit_vector(np.asarray([1.0, 1, 0, 0, 0])), {Retriever.DENSE: len(content.nodes)})
    exact = EmbeddedBackend(tmp_path).open(SCOPE, AccessContext()).retrieve(everything, never_stop)
    snapshot = MilvusBackend(catalogue.store.address).open(SCOPE, AccessContext())
    candidates = snapshot.retrieve(
        Retrieval("tax invoices", everything.query_vector, {Retriever.DENSE: COUNT, Retriever.BM25_CODE: COUNT}),
        never_stop,
    )
    listed = np.flatnonzero(candidates.by_retriever[Retriever.DENSE].ranks)
    assert 0 < len(listed) <= COUNT
    score_of = dict(zip(exact.rows.tolist(), exact.by_retriever[Retriever.DENSE].scores.tolist(), strict=True))
    for place in listed.tolist():
        assert candidates.by_retriever[Retriever.DENSE].scores[place] == score_of[int(candidates.rows[place])]
    assert not candidates.exact
    assert snapshot.retrieve(Retrieval("tax", None, {Retriever.BM25_CODE: COUNT}), never_stop).exact
    catalogue.store.close()
