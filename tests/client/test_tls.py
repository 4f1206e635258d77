"""TLS and mTLS from files, over the wire."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from groundwire.v1.index_pb2 import ActivateIndexResponse
from groundwire_client import TLS, IndexScope, UnavailableError

if TYPE_CHECKING:
    from pathlib import Path

    from client.conftest import Caller, FakeServer


def _activate(call: Caller, server: FakeServer, credentials: TLS | None) -> object:
    """A call that is not tried again, so that a refused handshake shows at once."""
    return call(
        server.target,
        lambda client: client.activate_index(IndexScope(repository="r", branch="b", active_index="v")),
        credentials=credentials,
    )


def test_a_caller_with_certificate_is_served(tls_server: FakeServer, call: Caller, certificates: Path) -> None:
    credentials = TLS(certificates / "authority.pem", certificates / "client.pem", str(certificates / "client.key"))
    assert _activate(call, tls_server, credentials) == ActivateIndexResponse()


def test_a_caller_without_certificate_is_served_unless_one_is_asked_for(
    tls_server: FakeServer, call: Caller, certificates: Path, request: pytest.FixtureRequest
) -> None:
    credentials = TLS(certificates / "authority.pem")
    if "mtls" in request.node.name:
        with pytest.raises(UnavailableError):
            _activate(call, tls_server, credentials)
        assert tls_server.attempts == []
    else:
        assert _activate(call, tls_server, credentials) == ActivateIndexResponse()


@pytest.mark.parametrize("authority", ["stranger.pem", None])
def test_a_server_of_another_authority_is_not_trusted(
    tls_server: FakeServer, call: Caller, certificates: Path, authority: str | None
) -> None:
    with pytest.raises(UnavailableError):
        _activate(call, tls_server, TLS(certificates / authority if authority else None))
    assert tls_server.attempts == []


def test_plaintext_does_not_reach_a_tls_server(tls_server: FakeServer, call: Caller) -> None:
    with pytest.raises(UnavailableError):
        _activate(call, tls_server, None)


def test_certificate_and_key_belong_together(certificates: Path) -> None:
    with pytest.raises(ValueError, match="belong together"):
        TLS(client_certificate=certificates / "client.pem")
    with pytest.raises(ValueError, match="belong together"):
        TLS(client_key=certificates / "client.key")


def test_a_file_that_cannot_be_read_is_an_os_error(call: Caller, certificates: Path) -> None:
    with pytest.raises(FileNotFoundError):
        call("localhost:1", lambda client: client.list_indexes(), credentials=TLS(certificates / "absent.pem"))
