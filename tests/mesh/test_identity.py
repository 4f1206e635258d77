"""The access mode and the mapping that are deployed behind Envoy, over both hops."""

from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest

from groundwire.v1 import retrieval_pb2, retrieval_pb2_grpc
from groundwire.v1.scope_pb2 import Scope
from support.certificates import Certificate
from support.kubernetes import DEPLOY
from support.mesh import CALLER_URI, TRUST_DOMAIN, Mesh

pytestmark = pytest.mark.slow

DEPLOYED = DEPLOY / "kubernetes" / "with-envoy"
STRANGER_URI = f"{TRUST_DOMAIN}/board/sa/board"


@pytest.fixture(scope="module")
def identified(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mesh]:
    """Servers with the settings that are deployed, but for paths and the port of metrics."""
    folder = tmp_path_factory.mktemp("identified")
    for name in ("groundwire.yaml", "access.yaml"):
        deployed = (DEPLOYED / name).read_text(encoding="utf-8")
        (folder / name).write_text(deployed.replace("/etc/groundwire/", f"{folder}/"), encoding="utf-8")
    flags = ("--config", str(folder / "groundwire.yaml"), "--embedder", "none")
    with Mesh(folder, data, *flags, environment={"GROUNDWIRE_METRICS_LISTEN": "127.0.0.1:0"}) as mesh:
        yield mesh


@pytest.fixture(scope="module")
def stranger(identified: Mesh) -> Certificate:
    return identified.identities.authority.issue("stranger", uris=(STRANGER_URI,))


def ask(mesh: Mesh, caller: Certificate, repository: str = "shop", **metadata: str) -> grpc.StatusCode:
    request = retrieval_pb2.SearchNodesRequest(
        scope=Scope(repository=repository, branch="main"),
        search_type=retrieval_pb2.SEARCH_TYPE_BM25,
        query="invoice",
        top_k=1,
    )
    sent = tuple((name.replace("_", "-"), value) for name, value in metadata.items())
    with mesh.channel(caller) as channel:
        stub = retrieval_pb2_grpc.RetrievalServiceStub(channel)
        return stub.SearchNodes.future(request, timeout=30, metadata=sent).code()


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
