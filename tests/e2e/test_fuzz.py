"""Hostile calls of every kind: the server lives on, each ends with a status of the contract, answers stay as they were.

The slow test sends 20,000; `GROUNDWIRE_FUZZ_REQUESTS=1000000 pytest tests/e2e/test_fuzz.py -m slow -s` a million.
"""

import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import grpc
import pytest

from support.fuzzing.campaign import ANSWERS, Tally, run_campaign
from support.fuzzing.hostile_calls import HostileCalls, Kind
from support.fuzzing.raw_http2 import RawCall, complaint, framed, raw_calls, send
from support.fuzzing.server_watch import ServerWatch, canonical_answers
from support.fuzzing.valid_requests import READS, build_platform
from support.program import Server
from support.storage import NewStorage, Storage
from support.token_issuer import SigningKey, token_environment

FAST_REQUESTS, FAST_TOKENS, FAST_FRAMES = 3_000, 1_000, 60
SLOW_REQUESTS = int(os.environ.get("GROUNDWIRE_FUZZ_REQUESTS", "20000"))
SLOW_FRAMES = 750
SEED = 2026
MAX_RECEIVE_BYTES = 262_144
ENVIRONMENT = {
    "GROUNDWIRE_MAX_RECEIVE_BYTES": str(MAX_RECEIVE_BYTES),
    "GROUNDWIRE_ALLOW_ADMIN": "true",
    "GROUNDWIRE_LIFECYCLE_OVERRIDE_ACL_TAGS": "auditor",
}
MAPPING = """
tenants: {claims: [{claim: tenant}]}
acl_tags: {claims: [{claim: [realm, roles]}]}
scopes: {always: ["platform::*"]}
"""
LOG_SECONDS = 300.0


@pytest.fixture(scope="module")
def storage(folders: tuple[Path, Path]) -> Storage:
    """The platform."""
    storage = Storage(folders[0] / "fuzz")
    build_platform(storage)
    return storage


@pytest.fixture(scope="module")
def server(storage: Storage) -> Iterator[Server]:
    """A server without models that admits administration."""
    with storage.server("--embedder", "none", environment=ENVIRONMENT) as server:
        yield server


def check_survives(server: Server, first: int, count: int) -> Tally:
    watch = ServerWatch(server)
    before = canonical_answers(server.address)
    tally = run_campaign(server.address, HostileCalls(SEED, MAX_RECEIVE_BYTES).numbered(first, count), look=watch.look)
    assert not tally.complaints, "\n".join(tally.complaints)
    assert tally.calls == count
    assert canonical_answers(server.address) == before
    return tally


def check_survives_frames(server: Server, count: int) -> None:
    watch = ServerWatch(server)
    before = canonical_answers(server.address)
    calls = list(raw_calls(SEED, count, MAX_RECEIVE_BYTES))
    with ThreadPoolExecutor(16) as senders:
        answers = list(senders.map(partial(send, server.address), calls))
    complaints = [*filter(None, map(complaint, calls, answers)), *watch.look()]
    assert not complaints, "\n".join(complaints[:20])
    assert canonical_answers(server.address) == before


def test_hostile_requests(new_storage: NewStorage, tmp_path: Path) -> None:
    storage = new_storage(tmp_path / "data")
    build_platform(storage)
    with storage.server("--embedder", "none", environment=ENVIRONMENT) as server:
        check_survives(server, 0, storage.examples(FAST_REQUESTS))


def test_hostile_frames(server: Server) -> None:
    check_survives_frames(server, FAST_FRAMES)


def test_hostile_tokens(storage: Storage, tmp_path: Path) -> None:
    key = SigningKey.ec("2026-01")
    environment = token_environment(tmp_path, key, MAPPING)
    calls = HostileCalls(SEED, MAX_RECEIVE_BYTES, (key.token(), key.token(tenant="acme")), (Kind.METADATA,), (1,))
    allowed = {Kind.METADATA: {*ANSWERS, grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.RESOURCE_EXHAUSTED}}
    with storage.server("--embedder", "none", environment=environment) as server:
        watch = ServerWatch(server)
        tally = run_campaign(server.address, calls.numbered(0, FAST_TOKENS), allowed, watch.look)
    assert not tally.complaints, "\n".join(tally.complaints)
    assert tally.ends["metadata", "OK"]
    assert tally.ends["metadata", "UNAUTHENTICATED"] > tally.ends["metadata", "OK"]


def test_a_path_that_is_no_text_ends_nothing_but_its_call(server: Server) -> None:
    before = canonical_answers(server.address)
    headers = [
        (b":method", b"POST"),
        (b":scheme", b"http"),
        (b":path", b"/groundwire.v1.\xff/\xfe"),
        (b":authority", b"localhost"),
        (b"te", b"trailers"),
        (b"content-type", b"application/grpc"),
    ]
    call = RawCall(0, "headers", headers, framed(b""))
    assert complaint(call, send(server.address, call)) == ""
    assert canonical_answers(server.address) == before


def test_a_credential_that_is_no_text_stays_out_of_the_log(server: Server) -> None:
    headers = [
        (b":method", b"POST"),
        (b":scheme", b"http"),
        (b":path", READS[0].method.encode()),
        (b":authority", b"localhost"),
        (b"te", b"trailers"),
        (b"content-type", b"application/grpc"),
        (b"x-request-id", b"bears-an-odd-credential"),
        (b"authorization", b"Bearer haystackneedle\xff"),
    ]
    body = framed(READS[0].message.SerializeToString())
    assert send(server.address, RawCall(0, "headers", headers, body)).end == "0"
    end = time.monotonic() + LOG_SECONDS
    while not any("bears-an-odd-credential" in line for line in server.log):
        assert time.monotonic() < end
        time.sleep(0.02)
    assert not any("needle" in line for line in server.log)


@pytest.mark.slow
def test_very_many_hostile_requests(server: Server) -> None:
    print(check_survives(server, FAST_REQUESTS, SLOW_REQUESTS))


@pytest.mark.slow
def test_many_hostile_frames(server: Server) -> None:
    check_survives_frames(server, SLOW_FRAMES)
