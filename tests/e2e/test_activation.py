"""Activation, pins and deletion at a server of two workers: all follow within moments, and what is pinned stays."""

import json
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import grpc
import pytest

from groundwire.v1 import index_pb2, index_pb2_grpc, retrieval_pb2, retrieval_pb2_grpc
from groundwire.v1.scope_pb2 import IndexScope
from support.jsonl import node
from support.program import Server, run, write_jsonl
from support.refusals import FAILED, Row, check_refused
from support.storage import NewStorage, Storage
from support.workers import separate_channel

CONNECTIONS = 8
"""Some of so many reach each of two workers."""
PATIENCE_SECONDS = 300
WHERE = ("--repository", "shop", "--branch", "main")
NODES = {"v1": 10, "v2": 20, "v3": 30}


def scope(version: str = "") -> IndexScope:
    return IndexScope(repository="shop", branch="main", active_index=version)


def search(version: str = "") -> retrieval_pb2.SearchNodesRequest:
    return retrieval_pb2.SearchNodesRequest(
        scope=scope(version), search_type=retrieval_pb2.SEARCH_TYPE_BM25, query="invoice", top_k=50
    )


@pytest.fixture(scope="module")
def storage(new_storage: NewStorage, tmp_path_factory: pytest.TempPathFactory) -> Storage:
    """Three versions of one index, of which `v2` is active."""
    folder = tmp_path_factory.mktemp("activation")
    storage = new_storage(folder / "data")
    for version, count in NODES.items():
        nodes = [node(f"Invoice.M{number}", f"void InvoiceMethod{number}() {{ }}", None) for number in range(count)]
        source = write_jsonl(folder / f"{version}.jsonl", nodes)
        storage.run_ok("index", source, *WHERE, "--version", version, "--embedder", "none")
    storage.run_ok("activate", "v2", *WHERE)
    return storage


@pytest.fixture(scope="module")
def server(storage: Storage) -> Iterator[Server]:
    with storage.server("--workers", "2", "--embedder", "none", "--allow-admin") as server:
        yield server


@pytest.fixture(scope="module")
def channels(server: Server) -> Iterator[list[grpc.Channel]]:
    """Connections to both workers."""
    with ExitStack() as stack:
        yield [stack.enter_context(separate_channel(server.address)) for _ in range(CONNECTIONS)]


def answering(channel: grpc.Channel) -> str:
    """The version that answers a call which pins none."""
    response = retrieval_pb2_grpc.RetrievalServiceStub(channel).SearchNodes(search(), timeout=300)
    assert len(response.hits) == NODES[response.index]
    return response.index


def check_followed(channels: list[grpc.Channel], before: str, after: str) -> None:
    """Every worker comes to answer with the one version instead of the other, and none goes back."""
    end = time.monotonic() + PATIENCE_SECONDS
    for channel in channels:
        while (version := answering(channel)) != after:
            assert version == before
            assert time.monotonic() < end
    assert {answering(channel) for channel in channels} == {after}


def test_every_worker_follows_an_activation(storage: Storage, channels: list[grpc.Channel]) -> None:
    storage.run_ok("activate", "v1", *WHERE)
    check_followed(channels, "v2", "v1")
    indexes = index_pb2_grpc.IndexServiceStub(channels[0])
    activated = indexes.ActivateIndex(index_pb2.ActivateIndexRequest(scope=scope("v2")), timeout=300)
    assert activated.previous_version == "v1"
    assert answering(channels[0]) == "v2", "who has activated sees it at once"
    check_followed(channels, "v1", "v2")


def test_a_pin_answers_as_the_version_does_when_it_is_active(storage: Storage, channels: list[grpc.Channel]) -> None:
    stubs = [retrieval_pb2_grpc.RetrievalServiceStub(channel) for channel in channels]
    pinned = {stub.SearchNodes(search("v1"), timeout=300).SerializeToString() for stub in stubs}
    storage.run_ok("activate", "v1", *WHERE)
    check_followed(channels, "v2", "v1")
    assert {stub.SearchNodes(search(), timeout=300).SerializeToString() for stub in stubs} == pinned
    storage.run_ok("activate", "v2", *WHERE)
    check_followed(channels, "v1", "v2")


def test_a_version_that_is_deleted_is_gone_at_every_worker_for_good(
    storage: Storage, channels: list[grpc.Channel]
) -> None:
    stubs = [retrieval_pb2_grpc.RetrievalServiceStub(channel) for channel in channels]
    assert {len(stub.SearchNodes(search("v3"), timeout=300).hits) for stub in stubs} == {NODES["v3"]}
    indexes = index_pb2_grpc.IndexServiceStub(channels[0])
    active = index_pb2.DeleteIndexRequest(scope=scope("v2"))
    check_refused(Row("the active one stays", active, FAILED, "INDEX_ACTIVE"), indexes.DeleteIndex)
    indexes.DeleteIndex(index_pb2.DeleteIndexRequest(scope=scope("v3")), timeout=300)
    end = time.monotonic() + PATIENCE_SECONDS
    for stub in stubs:
        while stub.SearchNodes.future(search("v3"), timeout=300).code() is grpc.StatusCode.OK:
            assert time.monotonic() < end
        check_refused(Row("gone", search("v3"), FAILED, "INDEX_GONE"), stub.SearchNodes)
    source = storage.data.with_name("v1.jsonl")
    again = ("index", source, *WHERE, "--version", "v3", "--embedder", "none", "--data", storage.data)
    done = run(*again, environment=storage.environment)
    assert done.returncode == 1
    assert "v3" in done.stderr


def test_a_server_without_an_index_says_what_to_do(tmp_path: Path) -> None:
    with Server(tmp_path, "--embedder", "none") as server:
        (line,) = [json.loads(line) for line in server.log if "there is no index yet" in line]
    assert (line["level"], line["data"]) == ("warning", str(tmp_path))
    assert line["cure"].startswith("groundwire index SOURCE --repository NAME")
