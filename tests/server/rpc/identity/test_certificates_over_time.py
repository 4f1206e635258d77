"""Certificates that expire or are revoked after a handshake has verified them, over the wire."""

import asyncio
import ssl
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import grpc
import pytest
import structlog
from cryptography.hazmat.primitives.serialization import Encoding

from groundwire.v1 import index_pb2
from groundwire_server.config import SettingsError
from groundwire_server.rpc.identity import peer_certificates, revocation_file
from groundwire_server.rpc.identity.access_modes import make_authenticator
from support.certificates import Authority, Certificate
from support.clocks import Calendar
from support.patience import PATIENCE_SECONDS
from support.tls_calls import Ending, TlsCaller
from support.token_issuer import AUDIENCE, ISSUER, SigningKey, bearer, key_set

if TYPE_CHECKING:
    from server.rpc.conftest import Serving

pytestmark = pytest.mark.asyncio

KEY = SigningKey.ec("key")
URI, PROXY = "spiffe://mesh/ns/shop/sa/checkout", "spiffe://mesh/ns/edge/sa/envoy"
METHOD, REQUEST = "/groundwire.v1.IndexService/ListIndexes", index_pb2.ListIndexesRequest().SerializeToString()
OK = Ending(grpc.StatusCode.OK)
UNAVAILABLE = Ending(grpc.StatusCode.UNAVAILABLE, "IDENTITY_UNAVAILABLE")
reading_often = partial(make_authenticator, revocation_period_seconds=0.05)
MODES = ("trusted", "jwt", "mtls")
MAPPINGS = {
    "trusted": "",
    "jwt": 'scopes: {always: ["shop::*"]}',
    "mtls": f'callers: [{{certificate: {{uri: "{URI}"}}, scopes: ["shop::*"]}}]\ntrusted_proxies: [{{uri: "{PROXY}"}}]',
}


def refused(rule: str) -> Ending:
    return Ending(grpc.StatusCode.UNAUTHENTICATED, "IDENTITY_REFUSED", rule)


@dataclass(frozen=True)
class Mesh:
    """An authority, and the settings of servers that demand its certificates and heed its list."""

    authority: Authority
    folder: Path
    server: Certificate

    @property
    def crl(self) -> Path:
        return self.folder / "revoked.crl"

    def publish(self, content: bytes) -> None:
        """Moves a list into place, as whoever renews it does."""
        moved = self.crl.with_suffix(".new")
        moved.write_bytes(content)
        moved.rename(self.crl)

    def settings(self, mode: str, **more: object) -> dict[str, object]:
        (self.folder / f"{mode}.yaml").write_text(MAPPINGS[mode])
        (self.folder / "keys.json").write_text(key_set(KEY))
        of_mode: dict[str, object] = {}
        if mode != "trusted":
            of_mode["access_mapping"] = self.folder / f"{mode}.yaml"
        if mode == "jwt":
            of_mode |= {"jwt_keys": f"{self.folder}/keys.json", "jwt_issuer": ISSUER, "jwt_audiences": (AUDIENCE,)}
        return {
            "access_mode": mode,
            "tls_certificate": self.server.certificate,
            "tls_key": self.server.key,
            "tls_client_ca": self.server.authority,
            **of_mode,
            **more,
        }


@pytest.fixture
def mesh(tmp_path: Path) -> Mesh:
    authority = Authority.create(tmp_path)
    return Mesh(authority, tmp_path, authority.issue("server", addresses=["127.0.0.1"]))


class Connection:
    """An open connection of a caller, and whose session it was."""

    def __init__(self, stack: AsyncExitStack, caller: TlsCaller, address: str) -> None:
        self._stack, self._caller, self._address = stack, caller, address
        self._made: Any = None

    async def open(self, session: ssl.SSLSession | None = None) -> "Connection":
        made = await asyncio.to_thread(self._caller.connect, self._address, session)
        self._made = self._stack.enter_context(made)
        return self

    async def ask(self, *metadata: tuple[str, str]) -> Ending:
        token = bearer(KEY.token())
        ending: Ending = await asyncio.to_thread(self._made.call, METHOD, REQUEST, *token, *metadata)
        return ending

    async def again(self, *, resume: bool) -> "Connection":
        """Another connection of the same caller."""
        session = self._made.session if resume else None
        opened = await Connection(self._stack, self._caller, self._address).open(session)
        assert opened._made.resumed == resume
        return opened


async def until(holds: Callable[[], Any], wanted: object) -> None:
    """Returns once `await holds()` is what is wanted; whoever waits too long is told what it was at the end."""
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        if (last := await holds()) == wanted:
            return
        await asyncio.sleep(0.05)
    raise AssertionError(f"{last} stayed, {wanted} was expected")


@pytest.fixture
def calendar(monkeypatch: pytest.MonkeyPatch) -> Calendar:
    """The server's calendar; TLS has its own."""
    calendar = Calendar()
    for module in (peer_certificates, revocation_file):
        monkeypatch.setattr(module, "datetime", calendar)
    return calendar


@pytest.mark.parametrize("mode", MODES)
async def test_an_expired_certificate_is_refused_on_an_open_connection_and_in_a_resumed_session(
    serving: "Serving", mesh: Mesh, calendar: Calendar, mode: str
) -> None:
    hour = timedelta(hours=1)
    short = mesh.authority.issue("short", uris=[URI], valid_until=hour)
    async with serving(**mesh.settings(mode)) as server, AsyncExitStack() as stack:
        connection = await Connection(stack, TlsCaller(short), server.address).open()
        assert await connection.ask() == OK
        calendar.passed += 2 * hour
        assert await connection.ask() == refused("certificate_expired")
        for resume in (True, False):
            assert await (await connection.again(resume=resume)).ask() == refused("certificate_expired")


@pytest.mark.parametrize("mode", MODES)
async def test_a_certificate_that_has_expired_before_does_not_connect(
    serving: "Serving", mesh: Mesh, mode: str
) -> None:
    hours = timedelta(hours=-2), timedelta(hours=-1)
    expired = mesh.authority.issue("expired", uris=[URI], valid_from=hours[0], valid_until=hours[1])
    async with serving(**mesh.settings(mode)) as server, AsyncExitStack() as stack:
        with pytest.raises((ssl.SSLError, ConnectionError)):
            await (await Connection(stack, TlsCaller(expired), server.address).open()).ask()


@pytest.mark.parametrize("mode", MODES)
async def test_a_revoked_certificate_is_refused_on_an_open_connection_and_in_a_resumed_session(
    serving: "Serving", mesh: Mesh, mode: str
) -> None:
    mesh.publish(mesh.authority.revocation_list())
    stolen, kept = (mesh.authority.issue(name, uris=[URI]) for name in ("stolen", "kept"))
    settings = mesh.settings(mode, tls_client_crl=mesh.crl)
    async with serving(reading_often, **settings) as server, AsyncExitStack() as stack:
        thief, owner = [await Connection(stack, TlsCaller(each), server.address).open() for each in (stolen, kept)]
        assert [await thief.ask(), await owner.ask()] == [OK, OK]
        mesh.publish(mesh.authority.revocation_list(stolen.content))
        await until(thief.ask, refused("certificate_revoked"))
        assert await owner.ask() == OK
        for resume in (True, False):
            assert await (await thief.again(resume=resume)).ask() == refused("certificate_revoked")
        mesh.publish(mesh.authority.revocation_list())
        await until(thief.ask, OK)


async def test_the_last_good_list_stays_when_the_file_cannot_be_used(serving: "Serving", mesh: Mesh) -> None:
    stolen, kept = (mesh.authority.issue(name, uris=[URI]) for name in ("stolen", "kept"))
    mesh.publish(mesh.authority.revocation_list(stolen.content))
    forged = Authority.create(mesh.folder / "rogue").revocation_list()
    with structlog.testing.capture_logs() as lines:
        async with (
            serving(reading_often, **mesh.settings("mtls", tls_client_crl=mesh.crl)) as server,
            AsyncExitStack() as stack,
        ):

            async def problems() -> list[str]:
                return [line["problem"].partition(";")[0] for line in lines if line["log_level"] == "error"]

            thief, owner = [await Connection(stack, TlsCaller(each), server.address).open() for each in (stolen, kept)]
            expected_problems: list[str] = []
            for content, problem in (
                (forged, "the list of CN=authority is not signed by a CA of tls_client_ca that may sign lists"),
                (b"nonsense", "is no X.509 revocation list"),
                (mesh.authority.revocation_list()[:-30], "holds a list that does not end"),
                (b"", "is no X.509 revocation list"),
                (None, "No such file or directory"),
            ):
                mesh.crl.unlink() if content is None else mesh.publish(content)
                expected_problems.append(problem)
                await until(problems, expected_problems)
                assert [await thief.ask(), await owner.ask()] == [refused("certificate_revoked"), OK]
            mesh.publish(mesh.authority.revocation_list(kept.content))
            await until(thief.ask, OK)
            assert await owner.ask() == refused("certificate_revoked")
            assert await problems() == expected_problems


async def test_nobody_is_believed_once_the_list_is_out_of_date(
    serving: "Serving", mesh: Mesh, calendar: Calendar
) -> None:
    hour = timedelta(hours=1)
    stolen, kept = (mesh.authority.issue(name, uris=[URI]) for name in ("stolen", "kept"))
    mesh.publish(mesh.authority.revocation_list(stolen.content, valid_until=hour))
    with structlog.testing.capture_logs() as lines:
        async with (
            serving(reading_often, **mesh.settings("mtls", tls_client_crl=mesh.crl)) as server,
            AsyncExitStack() as stack,
        ):
            thief, owner = [await Connection(stack, TlsCaller(each), server.address).open() for each in (stolen, kept)]
            assert await owner.ask() == OK
            calendar.passed += 2 * hour
            assert await owner.ask() == UNAVAILABLE
            assert await thief.ask() == refused("certificate_revoked")

            async def problems() -> list[str]:
                return [line["problem"].partition(" since ")[0] for line in lines if line["log_level"] == "error"]

            await until(problems, ["the list of CN=authority is out of date"])
            mesh.publish(mesh.authority.revocation_list())
            await until(owner.ask, OK)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (None, "No such file or directory; give a readable file of revocation lists"),
        ("nonsense", "is no X.509 revocation list; give one in DER, or any number in PEM"),
        ("forged", "the list of CN=authority is not signed by a CA of tls_client_ca that may sign lists"),
        ("foreign", "the list of CN=foreign is not signed by a CA of tls_client_ca that may sign lists"),
    ],
)
async def test_a_server_whose_revocations_cannot_be_read_does_not_start(
    serving: "Serving", mesh: Mesh, content: str | None, problem: str
) -> None:
    if content is not None:
        name = {"forged": "authority", "foreign": "foreign"}.get(content)
        made = Authority.create(mesh.folder / "other", name).revocation_list() if name else content.encode()
        mesh.publish(made)
    with pytest.raises(SettingsError) as caught:
        async with serving(**mesh.settings("trusted", tls_client_crl=mesh.crl)):
            pass
    assert str(caught.value) == f"tls_client_crl: {mesh.crl}: {problem}"


async def test_a_list_in_der_is_read(serving: "Serving", mesh: Mesh) -> None:
    stolen = mesh.authority.issue("stolen", uris=[URI])
    mesh.publish(mesh.authority.revocation_list(stolen.content, encoding=Encoding.DER))
    async with serving(**mesh.settings("mtls", tls_client_crl=mesh.crl)) as server, AsyncExitStack() as stack:
        thief = await Connection(stack, TlsCaller(stolen), server.address).open()
        assert await thief.ask() == refused("certificate_revoked")


def cert(*certificates: Certificate) -> str:
    """The part of the header that holds certificates, as Envoy writes it."""
    return "".join(f'Cert="{quote(each.certificate.read_text(), safe="")}";' for each in certificates)


async def test_a_forwarded_certificate_is_checked_as_that_of_the_peer_is(serving: "Serving", mesh: Mesh) -> None:
    days = {name: timedelta(days=number) for name, number in (("ago", -2), ("yesterday", -1), ("tomorrow", 1))}
    valid, revoked, proxy = (
        mesh.authority.issue(name, uris=[uri]) for name, uri in (("valid", URI), ("revoked", URI), ("proxy", PROXY))
    )
    expired = mesh.authority.issue("expired", uris=[URI], valid_from=days["ago"], valid_until=days["yesterday"])
    early = mesh.authority.issue("early", uris=[URI], valid_from=days["tomorrow"], valid_until=2 * days["tomorrow"])
    foreign = Authority.create(mesh.folder / "foreign", "foreign").issue("foreign", uris=[URI])
    mesh.publish(mesh.authority.revocation_list(revoked.content))
    async with serving(**mesh.settings("mtls", tls_client_crl=mesh.crl)) as server, AsyncExitStack() as stack:
        connection = await Connection(stack, TlsCaller(proxy), server.address).open()
        for forwarded, ending in (
            (cert(valid), OK),
            ("", OK),  # then the proxy's own check is believed
            (cert(expired), refused("certificate_expired")),
            (cert(early), refused("certificate_not_yet_valid")),
            (cert(revoked), refused("certificate_revoked")),
            (cert(revoked).replace("Cert=", "cert="), refused("certificate_revoked")),
            (cert(foreign), UNAVAILABLE),
            (cert(valid, revoked), refused("proxy")),
            ("Cert=;", refused("certificate")),
            ('Cert="nonsense";', refused("certificate")),
            ('Cert="%FF%00";', refused("certificate")),
        ):
            header = f"Hash=00;{forwarded}URI={URI}"
            assert await connection.ask(("x-forwarded-client-cert", header)) == ending


async def test_a_revoked_proxy_speaks_for_nobody(serving: "Serving", mesh: Mesh) -> None:
    proxy, valid = mesh.authority.issue("proxy", uris=[PROXY]), mesh.authority.issue("valid", uris=[URI])
    mesh.publish(mesh.authority.revocation_list(proxy.content))
    async with serving(**mesh.settings("mtls", tls_client_crl=mesh.crl)) as server, AsyncExitStack() as stack:
        connection = await Connection(stack, TlsCaller(proxy), server.address).open()
        forwarded = ("x-forwarded-client-cert", f"{cert(valid)}URI={URI}")
        assert await connection.ask(forwarded) == refused("certificate_revoked")
