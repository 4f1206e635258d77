"""Bearer tokens: where they come from, how they are sent, and that errors do not show them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from groundwire_client import AsyncGroundwireClient, TokenFile

if TYPE_CHECKING:
    from pathlib import Path

    from client.conftest import Caller, FakeServer


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
