"""The access mode and the mapping that are deployed behind Envoy, over both hops."""

import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import grpc
import pytest

from groundwire.v1 import index_pb2, retrieval_pb2, retrieval_pb2_grpc
from groundwire.v1.scope_pb2 import IndexScope
from support.certificates import Certificate
from support.kubernetes import manifests, of_kind
from support.mesh import CALLER_URI, TRUST_DOMAIN, Mesh
from support.patience import PATIENCE_SECONDS
from support.tls_calls import Ending, TlsCaller

pytestmark = pytest.mark.slow

LIST_INDEXES = "/groundwire.v1.IndexService/ListIndexes"
STRANGER_URI = f"{TRUST_DOMAIN}/board/sa/board"


@pytest.fixture(scope="module")
def identified(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mesh]:
    """Servers with the settings that are deployed, but for paths and the port of metrics."""
    folder = tmp_path_factory.mktemp("identified")
    deployed_files = of_kind(manifests("kubernetes/with-envoy"), "ConfigMap")["groundwire"]["data"]
    for name, deployed in deployed_files.items():
        (folder / name).write_text(deployed.replace("/etc/groundwire/", f"{folder}/"), encoding="utf-8")
    flags = ("--config", str(folder / "groundwire.yaml"), "--embedder", "none")
    with Mesh(folder, data, *flags, environment={"GROUNDWIRE_METRICS_LISTEN": "127.0.0.1:0"}) as mesh:
        yield mesh


@pytest.fixture(scope="module")
def stranger(identified: Mesh) -> Certificate:
    return identified.identities.authority.issue("stranger", uris=(STRANGER_URI,))


def ask(mesh: Mesh, caller: Certificate, repository: str = "shop", **metadata: str) -> grpc.StatusCode:
    request = retrieval_pb2.SearchNodesRequest(
        scope=IndexScope(repository=repository, branch="main"),
        search_type=retrieval_pb2.SEARCH_TYPE_BM25,
        query="invoice",
        top_k=1,
    )
    sent = tuple((name.replace("_", "-"), value) for name, value in metadata.items())
    with mesh.channel(caller) as channel:
        stub = retrieval_pb2_grpc.RetrievalServiceStub(channel)
        return stub.SearchNodes.future(request, timeout=300, metadata=sent).code()


def test_a_caller_that_is_mapped_is_answered(identified: Mesh) -> None:
    assert ask(identified, identified.identities.caller) is grpc.StatusCode.OK


def test_it_may_name_what_is_granted_and_no_more(identified: Mesh) -> None:
    assert ask(identified, identified.identities.caller, "payroll") is grpc.StatusCode.PERMISSION_DENIED


def test_a_caller_that_is_not_mapped_is_refused(identified: Mesh, stranger: Certificate) -> None:
    assert ask(identified, stranger) is grpc.StatusCode.UNAUTHENTICATED


def test_whom_a_caller_claims_to_be_changes_nothing(identified: Mesh, stranger: Certificate) -> None:
    forged = f"URI={CALLER_URI}"
    assert ask(identified, stranger, x_forwarded_client_cert=forged) is grpc.StatusCode.UNAUTHENTICATED


def test_a_name_that_reads_as_the_callers_does_not_help(identified: Mesh) -> None:
    crafted = identified.identities.authority.issue("crafted", uris=(f"{STRANGER_URI},URI={CALLER_URI}",))
    assert ask(identified, crafted) is grpc.StatusCode.PERMISSION_DENIED


@pytest.fixture
def address(identified: Mesh) -> str:
    """Where Envoy listens, by the name in its certificate."""
    return f"localhost:{identified.envoy.address.rpartition(':')[2]}"


def test_no_session_is_resumed(identified: Mesh, address: str) -> None:
    caller, request = TlsCaller(identified.identities.caller), index_pb2.ListIndexesRequest().SerializeToString()
    with caller.connect(address) as first:
        assert first.call(LIST_INDEXES, request) == Ending(grpc.StatusCode.OK)
        session = first.session
    with caller.connect(address, session) as second:
        assert second.call(LIST_INDEXES, request) == Ending(grpc.StatusCode.OK)
        assert not second.resumed


def test_a_certificate_that_expires_is_refused_on_the_connection_that_is_open(identified: Mesh, address: str) -> None:
    authority, request = identified.identities.authority, index_pb2.ListIndexesRequest().SerializeToString()
    short = authority.issue("short", uris=(CALLER_URI,), valid_until=timedelta(seconds=60))
    with TlsCaller(short).connect(address) as connection:
        ending = connection.call(LIST_INDEXES, request)
        assert ending == Ending(grpc.StatusCode.OK)
        end = time.monotonic() + PATIENCE_SECONDS
        while ending == Ending(grpc.StatusCode.OK) and time.monotonic() < end:
            time.sleep(0.1)
            ending = connection.call(LIST_INDEXES, request)
    assert ending == Ending(grpc.StatusCode.UNAUTHENTICATED, "IDENTITY_REFUSED", "certificate_expired")
