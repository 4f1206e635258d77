"""A fleet over S3, as moto's server answers: programs that publish, follow and serve."""

import logging
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

import boto3
import pytest
from moto.server import ThreadedMotoServer

from groundwire.v1 import retrieval_pb2, retrieval_pb2_grpc
from groundwire.v1.scope_pb2 import IndexScope
from support.jsonl import node
from support.patience import await_true
from support.program import STOP_SECONDS, Server, run, run_ok, start, write_jsonl
from support.workers import separate_channel

pytestmark = pytest.mark.slow
ADDRESS = "s3://indexes/team"
WHERE = ("--repository", "shop", "--branch", "main")


@pytest.fixture(scope="module")
def environment() -> Iterator[Mapping[str, str]]:
    """What lets programs find an S3 with one bucket."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    s3 = ThreadedMotoServer("127.0.0.1", 0)
    s3.start()
    try:
        host, port = s3.get_host_and_port()
        keys = {"aws_access_key_id": "key", "aws_secret_access_key": "secret", "region_name": "us-east-1"}
        with closing(boto3.client("s3", endpoint_url=f"http://{host}:{port}", **keys)) as client:
            client.create_bucket(Bucket="indexes")
        yield {
            "AWS_ENDPOINT_URL": f"http://{host}:{port}",
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_DEFAULT_REGION": "us-east-1",
        }
    finally:
        s3.stop()


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with the versions v1, of one node, and v2, of two."""
    folder = tmp_path_factory.mktemp("built")
    for version, count in (("v1", 1), ("v2", 2)):
        nodes = [node(f"Invoice.M{number}", f"void InvoiceMethod{number}() {{ }}", None) for number in range(count)]
        source = write_jsonl(folder / f"{version}.jsonl", nodes)
        run_ok("index", source, *WHERE, "--version", version, "--embedder", "none", "--data", folder / "data")
    return folder / "data"


@contextmanager
def following(data: Path, environment: Mapping[str, str]) -> Iterator[None]:
    """A program that keeps a data folder up to date."""
    follower = start("follow", ADDRESS, "--every", "1", "--data", data, environment=environment)
    assert follower.stdout is not None
    assert follower.stderr is not None
    with follower.stdout, follower.stderr:
        try:
            yield
        finally:
            follower.terminate()
            follower.wait(STOP_SECONDS)


def test_servers_follow_what_is_published(environment: Mapping[str, str], built: Path, tmp_path: Path) -> None:
    served = tmp_path / "served"
    publish = ("publish", ADDRESS, *WHERE, "--data", built, "--version")
    assert "v1 is active at s3://indexes/team" in run_ok(*publish, "v1", environment=environment)
    assert "taken" in run_ok("follow", ADDRESS, "--once", "--data", served, environment=environment)
    with (
        following(served, environment),
        Server(served, "--embedder", "none") as server,
        separate_channel(server.address) as channel,
    ):
        stub = retrieval_pb2_grpc.RetrievalServiceStub(channel)
        request = retrieval_pb2.SearchNodesRequest(
            scope=IndexScope(repository="shop", branch="main"),
            search_type=retrieval_pb2.SEARCH_TYPE_BM25,
            query="invoice",
            top_k=9,
        )
        assert len(stub.SearchNodes(request, timeout=300).hits) == 1
        run_ok(*publish, "v2", environment=environment)
        await_true(lambda: stub.SearchNodes(request, timeout=300).index == "v2")
        assert len(stub.SearchNodes(request, timeout=300).hits) == 2
    run_ok("withdraw", ADDRESS, "v1", *WHERE, environment=environment)
    assert "v1" not in run_ok("published", ADDRESS, environment=environment)


@pytest.mark.parametrize(
    ("address", "changes", "message"),
    [
        ("s3://nowhere/team", {}, "has no version of a wanted repository"),
        (ADDRESS, {"AWS_ENDPOINT_URL": "http://127.0.0.1:1"}, "127.0.0.1:1"),
    ],
)
def test_a_storage_that_cannot_be_used_is_said_on_one_line(
    environment: Mapping[str, str], tmp_path: Path, address: str, changes: Mapping[str, str], message: str
) -> None:
    done = run("follow", address, "--once", "--data", tmp_path / "served", environment={**environment, **changes})
    assert done.returncode == 1
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert "secret" not in done.stderr
