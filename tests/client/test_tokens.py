"""Bearer tokens: where they come from, how they are sent, and that errors do not show them."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest

from groundwire_client import TLS, AsyncGroundwireClient, GroundwireClient, TokenFile

if TYPE_CHECKING:
    from pathlib import Path

    from client.conftest import Caller, ClientOptions, FakeServer
    from groundwire_client._token import Token


def test_a_token_goes_with_every_call_beside_other_metadata(server: FakeServer, call: Caller) -> None:
    call(server.target, lambda client: client.list_indexes(), token="aa.bb.c-c_=", metadata=[("x-a", "b")])
    assert server.attempts[0].metadata["authorization"] == "Bearer aa.bb.c-c_="
    assert server.attempts[0].metadata["x-a"] == "b"


def test_without_a_token_there_is_no_authorization(server: FakeServer, call: Caller) -> None:
    call(server.target, lambda client: client.list_indexes())
    assert "authorization" not in server.attempts[0].metadata


def test_a_function_gives_a_token_for_each_call(server: FakeServer, call: Caller) -> None:
    tokens = iter(["first", "second"])
    for _ in range(2):
        call(server.target, lambda client: client.list_indexes(), token=lambda: next(tokens))
    assert [attempt.metadata["authorization"] for attempt in server.attempts] == ["Bearer first", "Bearer second"]


def test_a_file_is_read_for_each_call(server: FakeServer, call: Caller, tmp_path: Path) -> None:
    token = TokenFile(tmp_path / "token")
    for text in ("first\n", "second"):
        (tmp_path / "token").write_text(text)
        call(server.target, lambda client: client.list_indexes(), token=token)
    assert [attempt.metadata["authorization"] for attempt in server.attempts] == ["Bearer first", "Bearer second"]
    (tmp_path / "token").unlink()
    with pytest.raises(FileNotFoundError):
        call(server.target, lambda client: client.list_indexes(), token=token)


@pytest.mark.asyncio
async def test_the_asyncio_client_awaits_what_gives_the_token(server: FakeServer) -> None:
    async def fetched() -> str:
        return "fetched"

    async with AsyncGroundwireClient(server.target, token=fetched) as client:
        await client.list_indexes()
    assert server.attempts[0].metadata["authorization"] == "Bearer fetched"


@pytest.mark.parametrize("token", ["", "Bearer secret", "secret\n", "secrét", "se=cret", "a,secret"])
def test_what_is_no_token_is_refused_and_not_shown(server: FakeServer, call: Caller, token: str) -> None:
    with pytest.raises(ValueError, match="token must be") as caught:
        call(server.target, lambda client: client.list_indexes(), token=token)
    assert "secret" not in str(caught.value)
    assert not server.attempts


def test_a_function_that_returns_no_string_is_told(server: FakeServer) -> None:
    with (
        GroundwireClient(server.target, token=cast("Token", lambda: 7)) as client,
        pytest.raises(TypeError, match=r"^token: its function must return a string, not int$"),
    ):
        client.list_indexes()


ELSEWHERE = [
    "groundwire.example:50051",
    "10.0.0.1:50051",
    "localhost.example:50051",
    "127.0.0.1.example:50051",
    "128.0.0.1:50051",
    "[2001:db8::1]:50051",
    "dns:///groundwire.example:50051",
    "dns://192.0.2.1/localhost:50051",
    "ipv4:127.0.0.1:50051,10.0.0.1:50051",
    "xds:///localhost",
]
HERE = [
    *("localhost:50051", "LOCALHOST:50051", "127.0.0.1:50051", "127.9.9.9:50051", "[::1]:50051", "dns:///localhost:1"),
    *("dns:localhost:1", "ipv4:127.0.0.1:1,127.0.0.2:1", "ipv6:[::1]:1", "unix:/tmp/s", "unix:///tmp/s"),
]


def _close(client: object) -> object:
    """Nothing; for the asyncio client as well."""

    async def nothing() -> None: ...

    return nothing() if isinstance(client, AsyncGroundwireClient) else None


@pytest.mark.parametrize("kind", ["token", "metadata"])
@pytest.mark.parametrize("target", ELSEWHERE)
def test_a_token_is_not_sent_in_the_clear_beyond_this_machine(call: Caller, target: str, kind: str) -> None:
    options: ClientOptions = {"token": "secret"} if kind == "token" else {"metadata": [("authorization", "secret")]}
    with pytest.raises(ValueError, match="would be sent unencrypted") as caught:
        call(target, _close, **options)
    assert target in str(caught.value)
    assert "plaintext_token=True (--plaintext-token)" in str(caught.value)
    assert "secret" not in str(caught.value)
    options["plaintext_token"] = True
    call(target, _close, **options)


@pytest.mark.parametrize("target", HERE)
def test_a_token_may_be_sent_in_the_clear_on_this_machine(call: Caller, target: str) -> None:
    call(target, _close, token="secret")


def test_tls_secures_the_way_of_a_token_and_without_one_none_is_needed(call: Caller, certificates: Path) -> None:
    call("groundwire.example:50051", _close, token="secret", credentials=TLS(certificates / "authority.pem"))
    call("groundwire.example:50051", _close)
