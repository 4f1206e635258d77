"""Callers that would have the server run out of connections, files and streams."""

import resource
import socket
import struct
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import grpc
import pytest

from groundwire.v1 import index_pb2, index_pb2_grpc
from support.fuzzing.valid_requests import build_platform
from support.open_ended_calls import Connection
from support.patience import PATIENCE_SECONDS, await_true
from support.program import Server, run
from support.storage import Storage
from support.vitals import HealthWatch, open_files

FILES = 1_024
STREAMS = 1_024
CERTIFICATES = Path(__file__).parents[1] / "client" / "certificates"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with the platform."""
    folder = tmp_path_factory.mktemp("connected")
    build_platform(Storage(folder / "data"))
    return folder / "data"


@pytest.fixture
def server(data: Path) -> Iterator[Server]:
    """A server that may open 1,024 files, as many systems have it."""
    with Server(data, "--embedder", "none", "--health-listen", "127.0.0.1:0") as server:
        resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (FILES, FILES))
        yield server


def test_silent_connections_shut_out_neither_calls_nor_health_and_are_closed_in_time(server: Server) -> None:
    host, _, port = server.address.rpartition(":")
    before = open_files(server)
    with grpc.insecure_channel(server.address) as channel, ExitStack() as sockets, HealthWatch(server) as health:
        stub = index_pb2_grpc.IndexServiceStub(channel)
        stub.ListIndexes(index_pb2.ListIndexesRequest(), timeout=PATIENCE_SECONDS)
        for _ in range(1_200):
            sockets.enter_context(socket.create_connection((host, int(port)), timeout=PATIENCE_SECONDS))
        for _ in range(100):
            stub.ListIndexes(index_pb2.ListIndexesRequest(), timeout=PATIENCE_SECONDS)
            assert open_files(server) < FILES
        health.await_round()
        assert health.problems == []
        assert not any("not ready" in line for line in server.log)
        await_true(lambda: open_files(server) - before <= 10, lambda: open_files(server) - before)
    with Connection(server.address) as connection:
        connection.pump(lambda: connection.max_streams is not None)
        assert not connection.refused


def test_a_connection_carries_a_number_of_calls(server: Server) -> None:
    with Connection(server.address) as connection:
        connection.pump(lambda: connection.max_streams is not None)
        assert connection.max_streams == STREAMS


def test_the_place_of_a_connection_is_given_back_however_it_ends(data: Path) -> None:
    few = {"GROUNDWIRE_MAX_CONNECTIONS": "4"}
    tls = ("--tls-certificate", str(CERTIFICATES / "server.pem"), "--tls-key", str(CERTIFICATES / "server.key"))
    for flags in ((), tls):
        with Server(data, "--embedder", "none", *flags, environment=few) as server:
            for number in range(24):
                end_badly(server.address, number)
            assert [answered(server.address, secure=bool(flags)) for _ in range(12)] == [True] * 12


def end_badly(address: str, number: int) -> None:
    """A connection that is closed at once, reset, or closed after nonsense or the half of a greeting."""
    host, _, port = address.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=PATIENCE_SECONDS) as connection:
        if number % 4 == 1:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        elif number % 4 == 2:
            connection.sendall(b"GET / HTTP/1.1\r\n\r\n")
        elif number % 4 == 3:
            connection.sendall(b"PRI * HTTP/2.0\r\n")


def answered(address: str, *, secure: bool) -> bool:
    """Whether a call over a connection of its own is answered, tried again for as long as places come back."""
    options = [("grpc.use_local_subchannel_pool", 1), ("grpc.ssl_target_name_override", "localhost")]
    authority = (CERTIFICATES / "authority.pem").read_bytes()
    with (
        grpc.secure_channel(address, grpc.ssl_channel_credentials(authority), options)
        if secure
        else grpc.insecure_channel(address, options)
    ) as channel:
        stub = index_pb2_grpc.IndexServiceStub(channel)
        stub.ListIndexes(index_pb2.ListIndexesRequest(), timeout=PATIENCE_SECONDS, wait_for_ready=True)
    return True


def test_a_server_that_may_not_open_the_files_for_its_connections_does_not_start(data: Path) -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    environment = {"GROUNDWIRE_MAX_CONNECTIONS": str(min(hard, 1_000_000))}
    if hard > 1_000_000:
        pytest.fail("this system admits more files than a server can ask for")
    done = run("serve", "--data", data, "--embedder", "none", environment=environment)
    assert done.returncode == 2
    assert f"max_connections: {hard}: needs" in done.stderr
