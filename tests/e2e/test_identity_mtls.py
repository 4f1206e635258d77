"""A server that knows its callers by certificates: who gets in, who does not, and for whom a proxy may speak."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import grpc
import pytest
from google.rpc import error_details_pb2
from grpc_health.v1 import health_pb2
from grpc_status import rpc_status

from groundwire.v1 import index_pb2, index_pb2_grpc, retrieval_pb2, retrieval_pb2_grpc
from groundwire.v1.scope_pb2 import AccessContext, Bound, IndexScope
from groundwire_client import TLS, GroundwireClient, SearchType, UnavailableError
from groundwire_index.nodes.node import NodeAccess
from groundwire_index.scope import Scope
from support.certificates import Authority, Certificate
from support.program import Server
from support.storage import NewStorage
from support.tiny_index import publish_tiny_index

CHECKOUT, REPORTS = "spiffe://mesh/ns/shop/sa/checkout", "spiffe://mesh/ns/shop/sa/reports"
PROXY, GATEWAY = "spiffe://mesh/ns/edge/sa/envoy", "spiffe://mesh/ns/edge/sa/gateway"
CLERK = "spiffe://mesh/ns/cases/sa/clerk"
STRANGER = "spiffe://mesh/ns/elsewhere/sa/stranger"
MAPPING = f"""
callers:
  - certificate: {{uri: "{CHECKOUT}"}}
    tenants: [acme]
    acl_tags: ["*"]
    scopes: ["shop::*"]
    administration: ["shop::*"]
  - certificate: {{uri: "spiffe://mesh/ns/shop/*"}}
    acl_tags: [finance]
    scopes: ["shop::main"]
  - certificate: {{uri: "{CLERK}"}}
    acl_tags: [finance]
    cases: [public, "tag*"]
    scopes: ["shop::main"]
  - certificate: {{uri: "{GATEWAY}"}}
    scopes: ["shop::*"]
  - certificate: {{dns: "*.legacy.example"}}
    scopes: ["shop::main"]
trusted_proxies:
  - {{uri: "{PROXY}"}}
"""
NODES = {"public": NodeAccess(), "tagged": NodeAccess(acl_tags=("finance",)), "owned": NodeAccess(tenant_id="acme")}
SHOP = IndexScope(repository="shop", branch="main")
XFCC = "x-forwarded-client-cert"
Metadata = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Certificates:
    """Certificates by what they are for; those of `rogue` are signed by an authority that nobody trusts."""

    server: Certificate
    checkout: Certificate
    reports: Certificate
    legacy: Certificate
    proxy: Certificate
    gateway: Certificate
    clerk: Certificate
    stranger: Certificate
    nameless: Certificate
    two_uris: Certificate
    cut_uri: Certificate
    cut_dns: Certificate
    expired: Certificate
    rogue: Certificate
    authority: Path


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    folder = tmp_path_factory.mktemp("certificates")
    mesh, rogue = Authority.create(folder / "mesh"), Authority.create(folder / "rogue")
    return Certificates(
        server=mesh.issue("server", addresses=["127.0.0.1"]),
        checkout=mesh.issue("checkout", uris=[CHECKOUT]),
        reports=mesh.issue("reports", uris=[REPORTS]),
        legacy=mesh.issue("legacy", dns=["Batch.Legacy.example"]),
        proxy=mesh.issue("proxy", uris=[PROXY]),
        gateway=mesh.issue("gateway", uris=[GATEWAY]),
        clerk=mesh.issue("clerk", uris=[CLERK]),
        stranger=mesh.issue("stranger", uris=[STRANGER], dns=["batch.legacy.example.evil"]),
        nameless=mesh.issue(CHECKOUT.rpartition("/")[2] + "-by-common-name"),
        two_uris=mesh.issue("two-uris", uris=[STRANGER, CHECKOUT]),
        cut_uri=mesh.issue("cut-uri", uris=[f"{CHECKOUT}\0.evil"]),
        cut_dns=mesh.issue("cut-dns", dns=["batch.legacy.example\0.evil"]),
        expired=mesh.issue("expired", uris=[CHECKOUT], valid_from=timedelta(days=-2), valid_until=timedelta(days=-1)),
        rogue=rogue.issue("rogue", uris=[CHECKOUT]),
        authority=folder / "mesh" / "authority.crt",
    )


@pytest.fixture(scope="module")
def server(
    new_storage: NewStorage, certificates: Certificates, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("mtls")
    storage, scope = new_storage(folder / "data"), Scope("shop", "main", "v1")
    publish_tiny_index(storage.data, scope, NODES)
    storage.adopt(scope)
    (folder / "access.yaml").write_text(MAPPING)
    flags = {
        "--tls-certificate": certificates.server.certificate,
        "--tls-key": certificates.server.key,
        "--tls-client-ca": certificates.authority,
        "--health-listen": "127.0.0.1:0",
    }
    environment = {
        "GROUNDWIRE_ACCESS_MODE": "mtls",
        "GROUNDWIRE_ACCESS_MAPPING": str(folder / "access.yaml"),
        "GROUNDWIRE_LOG_LEVEL": "debug",
    }
    arguments = [str(part) for flag in flags.items() for part in flag]
    with storage.server("--embedder", "none", "--allow-admin", *arguments, environment=environment) as server:
        yield server


@pytest.fixture(scope="module")
def connect(server: Server, certificates: Certificates) -> Iterator[Callable[[Certificate | None], grpc.Channel]]:
    """`connect(certificate)`: a channel of whoever has that certificate."""
    channels: dict[Certificate | None, grpc.Channel] = {}

    def connected(certificate: Certificate | None) -> grpc.Channel:
        if certificate not in channels:
            credentials = grpc.ssl_channel_credentials(
                certificates.authority.read_bytes(),
                certificate.key.read_bytes() if certificate else None,
                certificate.certificate.read_bytes() if certificate else None,
            )
            channels[certificate] = grpc.secure_channel(server.address, credentials)
        return channels[certificate]

    yield connected
    for channel in channels.values():
        channel.close()


def search(
    channel: grpc.Channel, metadata: Metadata = (), scope: IndexScope = SHOP, access: AccessContext | None = None
) -> grpc.Call:
    request = retrieval_pb2.SearchNodesRequest(
        scope=scope, access=access, search_type=retrieval_pb2.SEARCH_TYPE_BM25, query="invoice", top_k=9
    )
    return retrieval_pb2_grpc.RetrievalServiceStub(channel).SearchNodes.future(request, metadata=metadata, timeout=300)


def seen(call: grpc.Call) -> set[str]:
    assert isinstance(call, grpc.Future)
    return {hit.id.rpartition("::")[2] for hit in call.result().hits}


def reason_of(call: grpc.Call) -> tuple[grpc.StatusCode, str, str]:
    """Status, reason and rule; the last two are empty when no server of ours answered."""
    status = rpc_status.from_call(call)
    if status is None:
        return call.code(), "", ""
    info = error_details_pb2.ErrorInfo.FromString(status.details[0].value)
    return call.code(), info.reason.removeprefix("ERROR_REASON_"), info.metadata["rule"]


REFUSED: Mapping[str, tuple[str, Metadata, tuple[grpc.StatusCode, str, str]]] = {
    name: (certificate, metadata, (grpc.StatusCode.UNAUTHENTICATED, reason, rule))
    for name, certificate, metadata, reason, rule in (
        ("a name that is not listed", "stranger", (), "IDENTITY_REFUSED", "certificate"),
        ("no name but the common one", "nameless", (), "IDENTITY_REFUSED", "certificate"),
        ("two URIs, one of them listed", "two_uris", (), "IDENTITY_REFUSED", "certificate"),
        ("a URI with a NUL", "cut_uri", (), "IDENTITY_REFUSED", "certificate"),
        ("a DNS name with a NUL", "cut_dns", (), "IDENTITY_REFUSED", "certificate"),
        ("forwarded by a caller", "reports", ((XFCC, f"URI={CHECKOUT}"),), "IDENTITY_REFUSED", "proxy"),
        ("forwarded by a gateway", "gateway", ((XFCC, f"URI={CHECKOUT}"),), "IDENTITY_REFUSED", "proxy"),
        ("forwarded by a stranger", "stranger", ((XFCC, f"URI={CHECKOUT}"),), "IDENTITY_REFUSED", "proxy"),
        ("a proxy for nobody", "proxy", (), "IDENTITY_REQUIRED", ""),
        ("a proxy for a stranger", "proxy", ((XFCC, f"URI={STRANGER}"),), "IDENTITY_REFUSED", "certificate"),
        ("a proxy for itself", "proxy", ((XFCC, f"URI={PROXY}"),), "IDENTITY_REFUSED", "certificate"),
        ("a proxy for no name", "proxy", ((XFCC, "Hash=00"),), "IDENTITY_REFUSED", "certificate"),
        (
            "a proxy for who was sent on by another",
            "proxy",
            ((XFCC, f"URI={STRANGER},URI={CHECKOUT}"),),
            "IDENTITY_REFUSED",
            "proxy",
        ),
        (
            "a proxy for a subject like a URI",
            "proxy",
            ((XFCC, f'Subject="CN=x;URI={CHECKOUT}";URI={STRANGER}'),),
            "IDENTITY_REFUSED",
            "certificate",
        ),
        (
            "a proxy, twice",
            "proxy",
            ((XFCC, f"URI={STRANGER}"), (XFCC, f"URI={CHECKOUT}")),
            "IDENTITY_REFUSED",
            "proxy",
        ),
        ("a proxy, torn", "proxy", ((XFCC, f'Subject="x;URI={CHECKOUT}'),), "IDENTITY_REFUSED", "proxy"),
        ("a proxy, empty", "proxy", ((XFCC, ""),), "IDENTITY_REFUSED", "proxy"),
    )
} | {
    # The handshake fails: no call reaches the server.
    "a rogue authority": ("rogue", (), (grpc.StatusCode.UNAVAILABLE, "", "")),
    "expired": ("expired", (), (grpc.StatusCode.UNAVAILABLE, "", "")),
    "no certificate": ("", (), (grpc.StatusCode.UNAVAILABLE, "", "")),
}


@pytest.mark.parametrize("case", REFUSED)
def test_whoever_is_not_known_is_refused(
    server: Server, connect: Callable[[Certificate | None], grpc.Channel], certificates: Certificates, case: str
) -> None:
    name, metadata, refusal = REFUSED[case]
    call = search(connect(getattr(certificates, name) if name else None), metadata)
    assert reason_of(call) == refusal
    assert "spiffe://" not in "".join([str(call.details()), *server.log])


@pytest.mark.parametrize(
    ("certificate", "metadata", "nodes"),
    [
        ("checkout", (), {"public", "owned"}),
        ("reports", (), {"public", "tagged"}),
        ("legacy", (), {"public"}),
        ("gateway", (), {"public"}),
        ("proxy", ((XFCC, f"By={PROXY};Hash=00;URI={CHECKOUT}"),), {"public", "owned"}),
        ("proxy", ((XFCC, f'Hash=00;Subject="CN=a,O=\\"b\\"";URI={REPORTS};DNS=x'),), {"public", "tagged"}),
        ("proxy", ((XFCC, "DNS=Night.Legacy.Example"),), {"public"}),
    ],
)
def test_a_caller_sees_what_its_certificate_grants(
    connect: Callable[[Certificate | None], grpc.Channel],
    certificates: Certificates,
    certificate: str,
    metadata: Metadata,
    nodes: set[str],
) -> None:
    assert seen(search(connect(getattr(certificates, certificate)), metadata)) == nodes


def test_a_request_narrows_and_may_name_what_an_open_grant_admits(
    connect: Callable[[Certificate | None], grpc.Channel], certificates: Certificates
) -> None:
    checkout, reports = connect(certificates.checkout), connect(certificates.reports)
    everything = AccessContext(tenant_id="acme", acl_tags_any=["finance"])
    assert seen(search(checkout, access=everything)) == {"public", "owned", "tagged"}
    assert seen(search(checkout, access=AccessContext(acl_tags_any=["finance"]))) == {"public", "tagged"}
    assert seen(search(reports, access=AccessContext())) == {"public"}
    assert reason_of(search(reports, access=everything))[:2] == (
        grpc.StatusCode.PERMISSION_DENIED,
        "TENANT_NOT_GRANTED",
    )


def test_a_request_narrows_the_bounds_of_its_certificate_and_cannot_leave_them(
    connect: Callable[[Certificate | None], grpc.Channel], certificates: Certificates
) -> None:
    clerk = connect(certificates.clerk)

    def cases(*values: str) -> AccessContext:
        return AccessContext(acl_tags_any=["finance"], cases=Bound(values=values))

    assert seen(search(clerk)) == {"public", "tagged"}
    assert seen(search(clerk, access=AccessContext())) == {"public"}
    assert seen(search(clerk, access=cases("tagged", "owned", "tag*"))) == {"tagged"}
    for access in (cases("owned"), cases(), AccessContext(documents=Bound(values=["*"]))):
        assert reason_of(search(clerk, access=access))[:2] == (grpc.StatusCode.NOT_FOUND, "SCOPE_NOT_FOUND")
    listing = index_pb2_grpc.IndexServiceStub(clerk).ListIndexes(index_pb2.ListIndexesRequest(), timeout=300)
    assert [index.node_count for index in listing.indexes] == [2]


def test_scopes_and_administration_are_granted_by_certificate(
    connect: Callable[[Certificate | None], grpc.Channel], certificates: Certificates
) -> None:
    reports, checkout = connect(certificates.reports), connect(certificates.checkout)
    develop = IndexScope(repository="shop", branch="develop")
    assert reason_of(search(reports, scope=develop))[:2] == (grpc.StatusCode.PERMISSION_DENIED, "SCOPE_NOT_GRANTED")
    assert reason_of(search(checkout, scope=develop))[:2] == (grpc.StatusCode.NOT_FOUND, "SCOPE_NOT_FOUND")
    request = index_pb2.ActivateIndexRequest(scope=IndexScope(repository="shop", branch="main", active_index="v1"))
    activated = index_pb2_grpc.IndexServiceStub(checkout).ActivateIndex(request, timeout=300)
    assert activated.previous_version == "v1"
    refused = index_pb2_grpc.IndexServiceStub(reports).ActivateIndex.future(request, timeout=300)
    assert reason_of(refused)[:2] == (grpc.StatusCode.PERMISSION_DENIED, "ADMINISTRATION_NOT_GRANTED")


def test_the_client_shows_its_certificate(server: Server, certificates: Certificates) -> None:
    authority = certificates.authority
    credentials = TLS(authority, certificates.reports.certificate, certificates.reports.key)
    with GroundwireClient(server.address, credentials=credentials, timeout=300) as client:
        assert (
            len(
                client.search(
                    IndexScope(repository="shop", branch="main"), "invoice", search_type=SearchType.SEARCH_TYPE_BM25
                ).hits
            )
            == 2
        )
    with (
        GroundwireClient(server.address, credentials=TLS(authority), timeout=300) as client,
        pytest.raises(UnavailableError),
    ):
        client.activate_index(IndexScope(repository="shop", branch="main", active_index="v1"))


def test_probes_need_no_certificate_on_the_port_for_health(server: Server) -> None:
    (address,) = [line.split('"health_address": "')[1].split('"')[0] for line in server.log if "health_address" in line]
    with grpc.insecure_channel(address) as channel:
        check: grpc.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary("/grpc.health.v1.Health/Check")
        answer = health_pb2.HealthCheckResponse.FromString(check(b"", timeout=300))
    assert answer.status == health_pb2.HealthCheckResponse.SERVING
