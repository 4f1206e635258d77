"""What is tried again: reading calls, while the server is UNAVAILABLE, four times, within the deadline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import grpc
import pytest

from groundwire_client import DeadlineExceededError, GroundwireClient, GroundwireError, IndexScope, UnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable

    from client.conftest import Caller, FakeServer

SCOPE = IndexScope(repository="shop", branch="main", active_index="v1")
READING: list[Callable[[Any], object]] = [
    lambda client: client.search(SCOPE, "vat"),
    lambda client: client.find_paths(SCOPE, ["a"], ["b"], max_hops=1, max_paths=1, max_nodes=5, edge_allowlist=["*"]),
    lambda client: client.expand(SCOPE, ["a"], max_depth=1, max_nodes=5, edge_allowlist=["*"]),
    lambda client: client.fetch(SCOPE, ["a"], budget_tokens=5),
    lambda client: client.query(SCOPE, "vat"),
    lambda client: client.list_indexes(),
    lambda client: client.get_index(SCOPE),
]
CHANGING: list[Callable[[Any], object]] = [
    lambda client: client.activate_index(SCOPE),
    lambda client: client.delete_index(SCOPE),
]
OTHERS = [code for code in grpc.StatusCode if code not in (grpc.StatusCode.OK, grpc.StatusCode.UNAVAILABLE)]


@pytest.mark.parametrize("action", READING)
def test_a_reading_call_is_tried_again_while_unavailable(
    server: FakeServer, call: Caller, action: Callable[[Any], object]
) -> None:
    server.fail(grpc.StatusCode.UNAVAILABLE)
    call(server.target, action)
    assert len(server.attempts) == 2


@pytest.mark.parametrize("action", CHANGING)
def test_a_changing_call_is_tried_once(server: FakeServer, call: Caller, action: Callable[[Any], object]) -> None:
    server.fail(grpc.StatusCode.UNAVAILABLE)
    with pytest.raises(UnavailableError):
        call(server.target, action)
    assert len(server.attempts) == 1


def test_a_call_gives_up_after_four_attempts(server: FakeServer, call: Caller) -> None:
    server.fail(grpc.StatusCode.UNAVAILABLE, "draining", times=5)
    with pytest.raises(UnavailableError) as raised:
        call(server.target, READING[0])
    assert raised.value.message == "draining"
    assert len(server.attempts) == 4


@pytest.mark.parametrize("code", OTHERS, ids=lambda code: code.name)
def test_no_other_status_is_tried_again(server: FakeServer, call: Caller, code: grpc.StatusCode) -> None:
    server.fail(code)
    with pytest.raises(GroundwireError) as raised:
        call(server.target, READING[0])
    assert raised.value.code is code
    assert len(server.attempts) == 1


def test_no_attempt_has_more_time_than_the_call(server: FakeServer, call: Caller) -> None:
    server.fail(grpc.StatusCode.UNAVAILABLE, times=3)
    call(server.target, lambda client: client.search(SCOPE, "vat", timeout=300))
    assert len(server.attempts) == 4
    # gRPC rounds the timeout that it sends up, so an attempt can show a little more than 60 seconds.
    assert all(0 < attempt.time_remaining < 61 for attempt in server.attempts)


def test_a_server_out_of_reach_is_unavailable(call: Caller) -> None:
    with pytest.raises(UnavailableError):
        call("127.0.0.1:1", CHANGING[0])


def test_a_call_rides_out_a_restart_of_the_server(server: FakeServer) -> None:
    with GroundwireClient(server.target) as client:
        client.list_indexes()
        server.stop()
        server.start()
        assert list(client.list_indexes().indexes) == []
    assert len(server.attempts) == 2


def test_a_call_may_wait_for_the_server(call: Caller) -> None:
    with pytest.raises(DeadlineExceededError):
        call("127.0.0.1:1", lambda client: client.search(SCOPE, "vat", timeout=0.3), wait_for_ready=True)
