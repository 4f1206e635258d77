"""A call that is over leaves nothing that only the cyclic collector would free: no request, no answer, no frame.

gRPC itself leaves the headers of each call to the collector, whatever a server does.
"""

import asyncio
import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING
from unittest.mock import Mock

import pytest
import structlog
from google.protobuf.message import Message
from grpc_health.v1 import health_pb2

from groundwire.v1 import retrieval_pb2, scope_pb2
from groundwire_server.domain.errors import (
    DeadlineError,
    FieldViolation,
    InvalidRequestError,
    LimitError,
    NotFoundError,
    PreconditionError,
    Reason,
)
from groundwire_server.rpc import call_handler
from groundwire_server.rpc.calls import RunningCall
from groundwire_server.rpc.telemetry.call_record import CallRecord
from support.calls import as_part
from support.open_ended_calls import Connection
from support.patience import until
from support.token_issuer import AUDIENCE, ISSUER, SigningKey, bearer, key_set

if TYPE_CHECKING:
    from server.rpc.conftest import Serving

pytestmark = pytest.mark.asyncio

KEY = SigningKey.ec("key")
MAPPING = 'scopes: {always: ["shop::*"]}\n'
SEARCH = "/groundwire.v1.RetrievalService/SearchNodes"
CALLS = 5
VALID, EXPIRED = "valid", "expired"
"""Tokens are made when they are sent: they live for minutes."""
TOO_MANY_ENTRIES = retrieval_pb2.SearchNodesRequest(query_vector=[1.0] * 20_000).SerializeToString()


@pytest.fixture
def jwt_settings(tmp_path: Path) -> dict[str, object]:
    """The settings of a server that trusts KEY."""
    (tmp_path / "keys.json").write_text(key_set(KEY))
    (tmp_path / "access.yaml").write_text(MAPPING)
    return {
        "access_mode": "jwt",
        "access_mapping": tmp_path / "access.yaml",
        "jwt_keys": str(tmp_path / "keys.json"),
        "jwt_issuer": ISSUER,
        "jwt_audiences": (AUDIENCE,),
    }


@contextmanager
def without_garbage() -> Iterator[None]:
    """Fails when what runs in the context leaves cycles that hold something of a call."""
    # What is there already is none of it, and with all tests loaded it takes the collector half a second.
    gc.freeze()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        yield
        gc.collect()
        kept = [what for what in map(_of_a_call, gc.garbage) if what]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
        gc.unfreeze()
    assert kept == []


def _of_a_call(garbage: object) -> str:
    """What a call has left, "" for anything else."""
    if isinstance(garbage, FrameType):
        place = garbage.f_code
        return f"frame of {place.co_qualname}" if "groundwire_server" in place.co_filename else ""
    if isinstance(garbage, Message | RunningCall | CallRecord | BaseException):
        return repr(garbage)[:200]
    return type(garbage).__name__ if type(garbage).__name__ in ("RPCState", "_ServicerContext") else ""


def request(repository: str = "shop") -> bytes:
    return retrieval_pb2.SearchNodesRequest(
        scope=scope_pb2.IndexScope(repository=repository, branch="main"),
        search_type=retrieval_pb2.SEARCH_TYPE_BM25,
        query="needle in a haystack",
        top_k=5,
    ).SerializeToString()


def ends_of(address: str, method: str, message: bytes, token: str, lacks: int = 0) -> list[str]:
    """How calls end that are made by hand, so that no client in this process leaves anything."""
    made = {VALID: KEY.token(), EXPIRED: KEY.token(exp=1)}.get(token, token)
    metadata = [(key.encode(), value.encode()) for key, value in bearer(made)] if token else []
    with Connection(address) as connection:
        for _ in range(CALLS):
            connection.call(method, message, metadata=metadata, lacks=lacks)
        connection.await_ends(CALLS)
        return list(connection.ends.values())


def invalid(*_: object) -> None:
    raise InvalidRequestError((FieldViolation("query", Reason.VALUE_MALFORMED, "is bad"),))


def not_found(*_: object) -> None:
    raise NotFoundError(Reason.SCOPE_NOT_FOUND, "no such index")


def refused(*_: object) -> None:
    raise LimitError(Reason.OVERLOADED, "busy", 1.0)


def late(*_: object) -> None:
    raise DeadlineError


def damaged(*_: object) -> None:
    try:
        raise KeyError("inner")
    except KeyError as error:
        raise PreconditionError(Reason.INDEX_DAMAGED, "damaged") from error


def defect(*_: object) -> None:
    raise ZeroDivisionError("a defect")


@pytest.mark.parametrize(
    ("status", "effect"),
    [("0", None), ("3", invalid), ("5", not_found), ("8", refused), ("4", late), ("9", damaged), ("13", defect)],
)
async def test_whatever_the_engine_does(
    serving: "Serving", engine: Mock, jwt_settings: dict[str, object], status: str, effect: Callable[..., None] | None
) -> None:
    if effect is not None:
        engine.search.side_effect = as_part(effect)
    await check_nothing_is_kept(serving, jwt_settings, status, SEARCH, request(), VALID)


@pytest.mark.parametrize(
    ("status", "method", "message", "token", "lacks"),
    [
        ("16", SEARCH, request(), "", 0),
        ("16", SEARCH, request(), "a.b.c", 0),
        ("16", SEARCH, request(), EXPIRED, 0),
        ("16", SEARCH, request(), "", 1),
        ("7", SEARCH, request("secret"), VALID, 0),
        ("3", SEARCH, b"\xff\xff\xff", VALID, 0),
        ("3", SEARCH, retrieval_pb2.SearchNodesRequest(query_vector=[1.0] * 20_000).SerializeToString(), VALID, 0),
        ("4", SEARCH, request(), VALID, 1),
        ("0", "/grpc.health.v1.Health/Check", b"", "", 0),
        ("5", "/grpc.health.v1.Health/Check", health_pb2.HealthCheckRequest(service="x").SerializeToString(), "", 0),
        ("3", "/grpc.health.v1.Health/Watch", b"\xff\xff\xff", "", 0),
        ("12", "/groundwire.v1.RetrievalService/Nothing", request(), VALID, 0),
    ],
    ids=[
        *("no token", "no such token", "an expired token", "no token and no end", "not granted", "no message"),
        *("too many entries", "no end", "health", "no service", "no watch", "no method"),
    ],
)
async def test_whatever_is_asked(
    serving: "Serving",
    jwt_settings: dict[str, object],
    status: str,
    method: str,
    message: bytes,
    token: str,
    lacks: int,
) -> None:
    await check_nothing_is_kept(serving, jwt_settings, status, method, message, token, lacks)


async def check_nothing_is_kept(
    serving: "Serving",
    settings: dict[str, object],
    status: str,
    method: str,
    message: bytes,
    token: str,
    lacks: int = 0,
) -> None:
    with structlog.testing.capture_logs(), pytest.MonkeyPatch.context() as monkeypatch:
        if lacks:
            monkeypatch.setattr(call_handler, "RECEIVE_SECONDS", 0.3)
        async with serving(**settings) as server:
            tasks = len(asyncio.all_tasks())
            await asyncio.to_thread(ends_of, server.address, method, message, token, lacks)
            await until(lambda: len(asyncio.all_tasks()) == tasks, asyncio.all_tasks)
            with without_garbage():
                ends = await asyncio.to_thread(ends_of, server.address, method, message, token, lacks)
                await until(lambda: len(asyncio.all_tasks()) == tasks, asyncio.all_tasks)
    assert ends == [status] * CALLS
