"""An index answers queries that are embedded by the packaged model that made it, and no others."""

from pathlib import Path

import grpc
import pytest

from groundwire.v1 import retrieval_pb2, retrieval_pb2_grpc, scope_pb2
from groundwire_index.embedding.model_names import CODE_MODEL, DEFAULT_MODEL, PLAIN_MODEL
from groundwire_ingest.embedding.packaged_model import PackagedModel
from support.builds import RECORDS, build
from support.program import Server

REQUEST = retrieval_pb2.SearchNodesRequest(
    scope=scope_pb2.IndexScope(repository="shop", branch="main"),
    query="who pays an invoice",
    search_type=retrieval_pb2.SEARCH_TYPE_SEMANTIC,
    top_k=3,
)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("packaged-models")
    build(folder, RECORDS, embedder=PackagedModel(PLAIN_MODEL))
    return folder


def search(data: Path, *models: str) -> retrieval_pb2.SearchNodesResponse:
    flags = [flag for model in models for flag in ("--embedder", model)]
    with Server(data, *flags) as server, grpc.insecure_channel(server.address) as channel:
        return retrieval_pb2_grpc.RetrievalServiceStub(channel).SearchNodes(REQUEST, timeout=300)


def test_an_index_of_the_plain_model_is_refused_by_a_server_of_the_code_model(data: Path) -> None:
    assert DEFAULT_MODEL == CODE_MODEL
    with pytest.raises(grpc.RpcError) as refused:
        search(data, CODE_MODEL)
    assert refused.value.code() is grpc.StatusCode.FAILED_PRECONDITION
    assert f"{PLAIN_MODEL!r}" in (refused.value.details() or "")


def test_a_server_has_both_unless_told_otherwise(data: Path) -> None:
    assert len(search(data).hits) > 0
