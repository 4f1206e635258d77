"""What lies in a data folder that no build put there breaks nothing but itself."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import grpc
import pytest

from groundwire.v1 import index_pb2, index_pb2_grpc, retrieval_pb2, retrieval_pb2_grpc
from groundwire.v1.scope_pb2 import IndexScope
from groundwire_index.nodes.node import NodeAccess
from groundwire_index.scope import Scope
from support.program import Server
from support.refusals import NOT_FOUND, UNAVAILABLE, Row, check_refused
from support.tiny_index import publish_tiny_index

NODES = {"public": NodeAccess()}
POINTERS: dict[str, Callable[[Path], object]] = {
    "a-folder": Path.mkdir,
    "a-pipe": os.mkfifo,
    "a-circle": lambda path: path.symlink_to(path),
    "binary": lambda path: path.write_bytes(b"\xff\xfe\x00v1"),
    "a-path": lambda path: path.write_text("../../shop/main/v1"),
    "long": lambda path: path.write_text("v" * 1_000_000),
    "nothing": lambda path: path.write_text(""),
}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = tmp_path_factory.mktemp("folders") / "data"
    for version in ("v1", "v2"):
        publish_tiny_index(data, Scope("shop", "main", version), NODES)
    for name, put in POINTERS.items():
        publish_tiny_index(data, Scope(name, "main", "v1"), NODES)
        pointer = data / name / "main" / ".active"
        pointer.unlink()
        put(pointer)
    (data / "a b").mkdir()
    (data / "\udcff").mkdir()
    (data / "circle").symlink_to(data / "circle")
    (data / "shop" / "main" / "no version").mkdir()
    (data / "shop" / "main" / ".write.lock").unlink()
    (data / "shop" / "main" / ".write.lock").mkdir()
    return data


@pytest.fixture(scope="module")
def channel(data: Path) -> Iterator[grpc.Channel]:
    with Server(data, "--embedder", "none", "--allow-admin") as server, grpc.insecure_channel(server.address) as made:
        yield made


def searching(repository: str) -> retrieval_pb2.SearchNodesRequest:
    scopes = [IndexScope(repository=repository, branch="main")]
    return retrieval_pb2.SearchNodesRequest(
        scopes=scopes, query="invoice", top_k=9, search_type=retrieval_pb2.SEARCH_TYPE_BM25
    )


def test_a_pointer_that_cannot_be_used_breaks_no_listing_and_no_pattern(channel: grpc.Channel) -> None:
    indexes, retrieval = index_pb2_grpc.IndexServiceStub(channel), retrieval_pb2_grpc.RetrievalServiceStub(channel)
    listed = indexes.ListIndexes(index_pb2.ListIndexesRequest(), timeout=300).indexes
    assert {index.repository for index in listed if index.active} == {"shop"}
    assert {index.repository for index in listed} == {"shop", *POINTERS}
    assert [scope.repository for scope in retrieval.SearchNodes(searching("*"), timeout=300).scopes] == ["shop"]


@pytest.mark.parametrize("name", POINTERS)
def test_a_scope_with_such_a_pointer_has_no_active_version_and_its_versions_are_read(
    channel: grpc.Channel, name: str
) -> None:
    indexes, retrieval = index_pb2_grpc.IndexServiceStub(channel), retrieval_pb2_grpc.RetrievalServiceStub(channel)
    check_refused(Row(name, searching(name), NOT_FOUND, "SCOPE_NOT_FOUND"), retrieval.SearchNodes)
    pinned = IndexScope(repository=name, branch="main", active_index="v1")
    assert indexes.GetIndex(index_pb2.GetIndexRequest(scope=pinned), timeout=300).index.node_count == len(NODES)


def test_a_change_that_the_folder_does_not_allow_is_told(channel: grpc.Channel) -> None:
    """As for a folder that is read-only: the lock cannot be had."""
    indexes = index_pb2_grpc.IndexServiceStub(channel)
    pinned = IndexScope(repository="shop", branch="main", active_index="v2")
    for request, method in (
        (index_pb2.DeleteIndexRequest(scope=pinned), indexes.DeleteIndex),
        (index_pb2.ActivateIndexRequest(scope=pinned), indexes.ActivateIndex),
    ):
        check_refused(Row("read-only", request, UNAVAILABLE, "BACKEND_UNAVAILABLE"), method)
    assert indexes.GetIndex(index_pb2.GetIndexRequest(scope=pinned), timeout=300).index.version == "v2"
