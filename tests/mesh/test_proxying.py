"""What Envoy does on the way: identities, retries, ejection, deadlines. Before servers that answer as told."""

import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import grpc
import pytest

from support.certificates import Certificate
from support.envoy import Envoy, install_identity, write_configuration
from support.mesh import CALLER_URI, TRUST_DOMAIN, Identities, secure_channel
from support.scripted_server import ScriptedServer, scripted_server

pytestmark = pytest.mark.slow

SEARCH = "/groundwire.v1.RetrievalService/SearchNodes"
ACTIVATE = "/groundwire.v1.IndexService/ActivateIndex"
OK, UNAVAILABLE, CANCELLED = grpc.StatusCode.OK, grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED
CAUSED_BY_CALLERS = (grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.UNIMPLEMENTED, grpc.StatusCode.INTERNAL)
PATIENCE_SECONDS = 300


@dataclass(frozen=True)
class Proxied:
    """Two servers that do as told, Envoy before them, and a caller whose own retries are off."""

    identities: Identities
    servers: tuple[ScriptedServer, ScriptedServer]
    envoy: Envoy
    folder: Path

    def call(
        self,
        method: str = SEARCH,
        metadata: Mapping[str, str] | None = None,
        *,
        timeout: float = 30,
        caller: Certificate | None = None,
    ) -> grpc.StatusCode:
        """How one call ends."""
        sent = tuple((metadata or {}).items())
        with secure_channel(self.envoy.address, caller or self.identities.caller) as channel:
            invoke: grpc.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(method)
            return invoke.future(b"", timeout=timeout, metadata=sent).code()

    def script(self, *statuses: grpc.StatusCode) -> None:
        """Each server answers with these, one after another, then with OK."""
        for server in self.servers:
            server.statuses, server.calls = list(statuses), []

    @property
    def calls(self) -> list[Mapping[str, str | bytes]]:
        """The metadata of every call that reached a server."""
        return [metadata for server in self.servers for _, metadata in server.calls]

    @property
    def ejections(self) -> int:
        """How often a server was ejected."""
        return self.envoy.statistics("cluster.groundwire.outlier_detection.").get("ejections_enforced_total", 0)


@contextmanager
def proxying(folder: Path) -> Iterator[Proxied]:
    identities = Identities(folder / "certificates")
    with ExitStack() as stack:
        first, second = (stack.enter_context(scripted_server(identities.server)) for _ in range(2))
        configuration = write_configuration(folder / "envoy", identities.envoy, [first.address, second.address])
        envoy = stack.enter_context(Envoy(configuration))
        envoy.await_healthy(2)
        yield Proxied(identities, (first, second), envoy, folder / "envoy")


@pytest.fixture(scope="module")
def lasting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxied]:
    with proxying(tmp_path_factory.mktemp("proxied")) as proxied:
        yield proxied


@pytest.fixture
def proxied(lasting: Proxied) -> Proxied:
    """For tests after which both servers still are in use."""
    lasting.script()
    return lasting


@pytest.fixture
def passing(tmp_path: Path) -> Iterator[Proxied]:
    """For tests that leave a server ejected, or might."""
    with proxying(tmp_path) as proxied:
        yield proxied


def test_the_server_learns_who_calls_from_the_certificate_alone(proxied: Proxied) -> None:
    forged = f"By={TRUST_DOMAIN}/groundwire/sa/groundwire;URI={TRUST_DOMAIN}/board/sa/board"
    assert proxied.call(metadata={"x-forwarded-client-cert": forged}) is OK
    (metadata,) = proxied.calls
    elements = dict(element.split("=", 1) for element in str(metadata["x-forwarded-client-cert"]).split(";"))
    assert elements.keys() == {"By", "Hash", "Cert", "URI"}
    assert elements["URI"] == CALLER_URI
    assert elements["By"] == f"{TRUST_DOMAIN}/groundwire/sa/groundwire-envoy"


@pytest.mark.parametrize("separator", [",", ";", ";DNS=a,", "=", '"', "\\"])
def test_a_name_that_would_read_as_several_is_refused(proxied: Proxied, separator: str) -> None:
    board = f"{TRUST_DOMAIN}/board/sa/board"
    issue = proxied.identities.authority.issue
    crafted = (
        issue("alone", uris=(f"{CALLER_URI}{separator}URI={board}",)),
        issue("second", uris=(CALLER_URI, f"x:{separator}URI={board}")),
        issue("dns", dns=(f"shop.shop.svc{separator}URI={board}",), uris=(CALLER_URI,)),
    )
    assert {proxied.call(caller=caller) for caller in crafted} == {grpc.StatusCode.PERMISSION_DENIED}
    assert proxied.calls == []


def test_callers_do_not_steer_the_proxy(proxied: Proxied) -> None:
    proxied.script(grpc.StatusCode.INTERNAL)
    steering = {
        "x-envoy-retry-grpc-on": "internal",
        "x-envoy-max-retries": "9",
        "x-envoy-upstream-rq-timeout-ms": "1",
        "x-envoy-internal": "true",
    }
    assert proxied.call(metadata=steering) is grpc.StatusCode.INTERNAL
    (metadata,) = proxied.calls
    assert not steering.keys() & metadata.keys()


@pytest.mark.parametrize("status", [UNAVAILABLE, CANCELLED])
def test_a_call_that_failed_at_one_server_is_made_at_the_other(proxied: Proxied, status: grpc.StatusCode) -> None:
    proxied.script(status)
    proxied.servers[1].statuses = []
    assert {proxied.call() for _ in range(20)} == {OK}
    assert len(proxied.calls) == 21


@pytest.mark.parametrize("status", [status for status in grpc.StatusCode if status not in {OK, UNAVAILABLE, CANCELLED}])
def test_other_failures_are_told_at_once(proxied: Proxied, status: grpc.StatusCode) -> None:
    proxied.script(status)
    assert proxied.call() is status
    assert len(proxied.calls) == 1


@pytest.mark.parametrize("status", [UNAVAILABLE, CANCELLED])
def test_changes_of_an_index_are_never_made_twice(proxied: Proxied, status: grpc.StatusCode) -> None:
    proxied.script(status)
    assert proxied.call(ACTIVATE) is status
    assert len(proxied.calls) == 1


def test_a_server_that_takes_no_connections_is_ejected(passing: Proxied) -> None:
    passing.servers[0].stop()
    assert {passing.call() for _ in range(60)} == {OK}
    assert passing.ejections == 1


@pytest.mark.parametrize("status", [UNAVAILABLE, *CAUSED_BY_CALLERS])
def test_no_answer_ejects_a_server(proxied: Proxied, status: grpc.StatusCode) -> None:
    proxied.script(*[status] * 100)
    for _ in range(20):
        proxied.call()
    assert proxied.ejections == 0


def test_deadlines_that_callers_set_eject_nobody(passing: Proxied) -> None:
    hold = threading.Event()
    for server in passing.servers:
        server.hold = hold
    with ThreadPoolExecutor(8) as pool:
        codes = set(pool.map(lambda _: passing.call(timeout=0.5), range(16)))
    hold.set()
    assert codes == {grpc.StatusCode.DEADLINE_EXCEEDED}
    assert passing.ejections == 0


def test_a_server_with_another_name_is_not_trusted(tmp_path: Path) -> None:
    identities = Identities(tmp_path / "certificates")
    impostor = identities.authority.issue("impostor", dns=("shop.shop.svc", "localhost"), uris=(CALLER_URI,))
    with scripted_server(impostor) as server:
        configuration = write_configuration(tmp_path / "envoy", identities.envoy, [server.address])
        with Envoy(configuration) as envoy:
            with secure_channel(envoy.address, identities.caller) as channel:
                invoke: grpc.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(SEARCH)
                with pytest.raises(grpc.RpcError) as caught:
                    invoke(b"", timeout=300)
            assert caught.value.code() is UNAVAILABLE
            assert envoy.statistics("cluster.groundwire.ssl.")["fail_verify_san"] > 0
        assert server.calls == []


def test_a_renewed_certificate_is_used_without_a_restart(passing: Proxied) -> None:
    renewed = passing.identities.authority.issue("renewed", dns=("localhost",))
    port = int(passing.envoy.address.rpartition(":")[2])
    install_identity(passing.folder, renewed)
    expected = ssl.PEM_cert_to_DER_cert(renewed.certificate.read_text(encoding="ascii"))
    end = time.monotonic() + PATIENCE_SECONDS
    while ssl.PEM_cert_to_DER_cert(ssl.get_server_certificate(("127.0.0.1", port))) != expected:
        assert time.monotonic() < end, "the old certificate is still shown"
        time.sleep(0.05)
    assert passing.call() is OK
