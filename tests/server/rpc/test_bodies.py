"""Places for callers that are not identified, and how a call ends whose request does not come."""

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING

import grpc
import pytest
import structlog
import uvloop

from groundwire_server.domain.errors import DeadlineError
from groundwire_server.rpc.bodies import Places
from support.open_ended_calls import Connection
from support.patience import turns, until

if TYPE_CHECKING:
    from groundwire_server.rpc.serving.server import GroundwireServer
    from server.rpc.conftest import Serving

SEARCH = "/groundwire.v1.RetrievalService/SearchNodes"
LONG_SECONDS, SOON_SECONDS = 3_600.0, 0.02


async def take(places: Places, seconds: float, holds: asyncio.Event) -> str:
    """How it ends when somebody takes a place and keeps it until the event."""
    try:
        async with places.taken(seconds):
            await holds.wait()
    except DeadlineError:
        return "ended"
    return "done"


async def oldest_gives_way() -> None:
    places, over = Places(2), asyncio.Event()
    takers = [asyncio.create_task(take(places, LONG_SECONDS, over)) for _ in range(2)]
    await turns()
    takers.append(asyncio.create_task(take(places, LONG_SECONDS, over)))
    await until(takers[0].done)
    await turns()
    assert [taker.done() for taker in takers] == [True, False, False]
    over.set()
    assert await asyncio.gather(*takers) == ["ended", "done", "done"]
    async with places.taken(LONG_SECONDS), places.taken(LONG_SECONDS):
        pass  # every place is free again


async def many_come_while_places_expire_by_themselves() -> None:
    places, never = Places(4), asyncio.Event()
    takers: list[asyncio.Task[str]] = []
    for number in range(400):
        takers.append(asyncio.create_task(take(places, SOON_SECONDS, never)))
        if number % 4 == 3:
            await asyncio.sleep(SOON_SECONDS if number % 8 == 3 else 0)
    assert set(await asyncio.gather(*takers)) == {"ended"}


@pytest.mark.parametrize("scenario", [oldest_gives_way, many_come_while_places_expire_by_themselves])
def test_places(scenario: "Scenario") -> None:
    uvloop.run(scenario())  # the loop of the server


if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    Scenario = Callable[[], Coroutine[None, None, None]]


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("ending", "code"),
    [("reset", "CANCELLED"), ("closed", "CANCELLED"), ("deadline", "DEADLINE_EXCEEDED"), ("too long", "CANCELLED")],
)
async def test_a_request_that_is_cut_off_is_recorded_as_what_it_was(
    serving: "Serving", tmp_path: Path, ending: str, code: str
) -> None:
    def cut_off(server: "GroundwireServer") -> str:
        with Connection(server.address) as connection:
            timeout = [(b"grpc-timeout", b"200m")] if ending == "deadline" else []
            size = 100_000 if ending == "too long" else 1_000
            stream = connection.call(SEARCH, b"x" * size, lacks=0 if ending == "too long" else 1, metadata=timeout)
            if ending in ("reset", "closed"):
                connection.pump(lambda: connection.all_sent and server.load().memory_bytes > 0)
            if ending == "reset":
                connection.reset(stream)
            elif ending != "closed":
                connection.await_ends(1)
            return connection.ends.get(stream, "")

    settings = {"audit": "on", "audit_file": tmp_path / "audit.jsonl", "max_receive_bytes": 65_536}
    with structlog.testing.capture_logs() as lines:
        async with serving(**settings) as server:
            end = await asyncio.to_thread(cut_off, server)
            await until(lambda: any(line["event"] == "call" for line in lines))
            await until(lambda: server.load().memory_bytes == 0)  # the call is over: no second record can come
    (record,) = (json.loads(line) for line in (tmp_path / "audit.jsonl").read_text(encoding="utf-8").splitlines())
    assert record["code"] == code
    assert [line["code"] for line in lines if line["event"] == "call"] == [code]
    assert end == {"too long": str(grpc.StatusCode.RESOURCE_EXHAUSTED.value[0])}.get(ending, end)
