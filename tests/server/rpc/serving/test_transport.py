"""Addresses, TLS, message limits and keepalive."""

import ipaddress
import socket
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import grpc
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from groundwire.v1 import retrieval_pb2, retrieval_pb2_grpc
from groundwire_server.config import Settings, SettingsError
from groundwire_server.rpc.serving.server import GroundwireServer
from groundwire_server.rpc.serving.transport import load_credentials, server_options

if TYPE_CHECKING:
    from server.rpc.conftest import Serving


NOT_BEFORE = datetime.now(UTC) - timedelta(days=1)


@dataclass(frozen=True)
class Identity:
    """A certificate and its key, in files and as the library's objects."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey
    certificate_file: Path
    key_file: Path

    @property
    def pair(self) -> tuple[bytes, bytes]:
        """The key and the certificate as gRPC takes them."""
        return self.key_file.read_bytes(), self.certificate_file.read_bytes()


def make_identity(folder: Path, name: str, issuer: Identity | None = None) -> Identity:
    """A certificate for 127.0.0.1, signed by `issuer` or, as a CA, by itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer.certificate.subject if issuer else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(NOT_BEFORE)
        .not_valid_after(NOT_BEFORE + timedelta(days=30))
        .add_extension(x509.BasicConstraints(ca=issuer is None, path_length=None), critical=True)
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.IPv4Address("127.0.0.1"))]), critical=False
        )
        .sign(issuer.key if issuer else key, hashes.SHA256())
    )
    identity = Identity(certificate, key, folder / f"{name}.pem", folder / f"{name}.key")
    identity.certificate_file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    identity.key_file.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return identity


@pytest.fixture(scope="module")
def identities(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Identity]:
    """Two CAs, a server and a client of the first, a stranger of the second."""
    folder = tmp_path_factory.mktemp("certificates")
    authority, other = make_identity(folder, "authority"), make_identity(folder, "other")
    return {
        "authority": authority,
        "server": make_identity(folder, "server", authority),
        "client": make_identity(folder, "client", authority),
        "stranger": make_identity(folder, "stranger", other),
    }


def tls_settings(identities: dict[str, Identity], *, mutual: bool) -> dict[str, Path]:
    server = identities["server"]
    settings = {"tls_certificate": server.certificate_file, "tls_key": server.key_file}
    return {**settings, "tls_client_ca": identities["authority"].certificate_file} if mutual else settings


async def search(
    server: GroundwireServer,
    request: retrieval_pb2.SearchNodesRequest,
    roots: bytes,
    pair: tuple[bytes | None, bytes | None],
) -> str:
    credentials = grpc.ssl_channel_credentials(roots, *pair)
    async with grpc.aio.secure_channel(server.address, credentials) as channel:
        response: retrieval_pb2.SearchNodesResponse = await retrieval_pb2_grpc.RetrievalServiceStub(
            channel
        ).SearchNodes(request, timeout=300)
        return response.index


@pytest.mark.asyncio
@pytest.mark.parametrize(("mutual", "caller"), [(False, None), (True, "client")], ids=["tls", "mtls"])
async def test_calls_travel_over_tls(
    serving: "Serving",
    search_request: retrieval_pb2.SearchNodesRequest,
    identities: dict[str, Identity],
    mutual: bool,
    caller: str | None,
) -> None:
    roots = identities["authority"].pair[1]
    pair = identities[caller].pair if caller else (None, None)
    async with serving(**tls_settings(identities, mutual=mutual)) as server:
        assert await search(server, search_request, roots, pair) == "v1"
        async with grpc.aio.insecure_channel(server.address) as channel:
            with pytest.raises(grpc.aio.AioRpcError):
                await retrieval_pb2_grpc.RetrievalServiceStub(channel).SearchNodes(search_request)


@pytest.mark.asyncio
@pytest.mark.parametrize("caller", [None, "stranger"])
async def test_mutual_tls_demands_a_certificate_of_the_right_authority(
    serving: "Serving",
    search_request: retrieval_pb2.SearchNodesRequest,
    identities: dict[str, Identity],
    caller: str | None,
) -> None:
    roots = identities["authority"].pair[1]
    pair = identities[caller].pair if caller else (None, None)
    async with serving(**tls_settings(identities, mutual=True)) as server:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await search(server, search_request, roots, pair)
    assert caught.value.code() is grpc.StatusCode.UNAVAILABLE


def test_without_tls_settings_there_are_no_credentials() -> None:
    assert load_credentials(Settings()) is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tls_certificate": "absent.pem"}, r"^tls_certificate: .*absent\.pem: No such file or directory; "),
        ({"tls_key": "absent.key"}, r"^tls_key: .*absent\.key: No such file or directory; "),
        ({"tls_client_ca": "absent.pem"}, r"^tls_client_ca: .*absent\.pem: No such file or directory; "),
        ({"tls_certificate": "nonsense"}, r"^tls_certificate, tls_key: .*; give a PEM certificate chain"),
        ({"tls_key": "nonsense"}, r"^tls_certificate, tls_key: .*; give a PEM certificate chain"),
        ({"tls_key": "client.key"}, r"^tls_certificate, tls_key: .*KEY_VALUES_MISMATCH; give a PEM certificate chain"),
        ({"tls_key": "locked.key"}, r"^tls_certificate, tls_key: .*without a passphrase$"),
        ({"tls_client_ca": "nonsense"}, r"^tls_client_ca: .*nonsense: .*; give the PEM certificates"),
    ],
)
def test_unusable_tls_files_are_told_in_one_line(
    identities: dict[str, Identity], changes: dict[str, str], message: str
) -> None:
    folder = identities["server"].key_file.parent
    (folder / "nonsense").write_text("nonsense")
    (folder / "locked.key").write_bytes(
        identities["server"].key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(b"passphrase"),
        )
    )
    files = {setting: folder / name for setting, name in changes.items()}
    settings = Settings.model_validate({**tls_settings(identities, mutual=True), **files})
    with pytest.raises(SettingsError, match=message) as caught:
        load_credentials(settings)
    assert "\n" not in str(caught.value)


@pytest.mark.asyncio
async def test_the_bound_port_is_known(serving: "Serving") -> None:
    async with serving(health_listen="127.0.0.1:0") as server:
        for address in (server.address, server.health_address):
            host, _, port = address.rpartition(":")
            assert host == "127.0.0.1"
            assert int(port) > 0


@pytest.mark.asyncio
@pytest.mark.parametrize("setting", ["listen", "health_listen"])
async def test_a_taken_address_is_told_in_one_line(
    serving: "Serving", setting: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(SettingsError, match=rf"^{setting}: {address}: Address already in use; choose another"):
            async with serving(**{setting: address}):
                pass
    assert capfd.readouterr().err == ""


@pytest.mark.asyncio
async def test_an_unknown_host_is_told_in_one_line(serving: "Serving") -> None:
    with pytest.raises(SettingsError, match=r"^listen: no\.such\.host\.invalid:1: .+; choose another address"):
        async with serving(listen="no.such.host.invalid:1"):
            pass


@pytest.mark.asyncio
async def test_two_servers_never_share_a_port(serving: "Serving") -> None:
    async with serving() as server:
        with pytest.raises(SettingsError, match="Address already in use"):
            async with serving(listen=server.address):
                pass


@pytest.mark.asyncio
async def test_a_request_beyond_the_limit_is_refused_and_one_below_it_is_not(
    serving: "Serving", search_request: retrieval_pb2.SearchNodesRequest
) -> None:
    async with serving(max_receive_bytes=100_000) as server, grpc.aio.insecure_channel(server.address) as channel:
        stub = retrieval_pb2_grpc.RetrievalServiceStub(channel)
        search_request.query = "x" * 99_000
        assert (await stub.SearchNodes(search_request)).index == "v1"
        search_request.query = "x" * 100_001
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await stub.SearchNodes(search_request)
    assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED


def test_keepalive_admits_clients_that_ping_every_ten_seconds_without_a_call() -> None:
    options = dict(server_options(Settings()))
    assert options["grpc.keepalive_permit_without_calls"] == 1
    assert options["grpc.http2.min_ping_interval_without_data_ms"] < 10_000


def test_an_old_connection_may_finish_its_longest_call() -> None:
    options = dict(server_options(Settings(max_connection_age_seconds=60, max_deadline_seconds=90)))
    assert options["grpc.max_connection_age_ms"] == 60_000
    assert options["grpc.max_connection_age_grace_ms"] == 90_000
    assert "grpc.max_connection_age_ms" not in dict(server_options(Settings(max_connection_age_seconds=0)))
