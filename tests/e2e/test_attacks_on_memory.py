"""Callers that would have the server hold more than its bytes: bombs, bodies that do not end, answers not taken."""

import time
from collections.abc import Iterator, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import grpc
import pytest
from google.protobuf import struct_pb2
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha import reflection_pb2

from groundwire.v1 import index_pb2, index_pb2_grpc, query_pb2, retrieval_pb2, scope_pb2
from groundwire_server.domain.limits import request_memory
from groundwire_server.rpc.admission.call_memory import MAX_WAITING
from groundwire_server.rpc.call_handler import RECEIVE_SECONDS
from support.fuzzing.valid_requests import build_platform
from support.jsonl import node
from support.open_ended_calls import Connection
from support.program import Server, run_ok, write_jsonl
from support.storage import Storage
from support.token_issuer import SigningKey, bearer, token_environment
from support.vitals import health_watched, resident_mib

MIB = 1_048_576
REQUEST_BYTES = 4 * MIB
CALL_MEMORY_MIB = 64
ANSWERS_IN_A_SHARE = 2
UNTAKEN = 40
SLACK_MIB = 48
"""What is not the requests': parsing one at a time, buffers of connections, an allocator that keeps what it had."""
WORKING_MIB = 128
"""Answers of 3.6 MB while they are being made, each several times over, in as many threads as there are."""
PARSING_MIB = 160
"""One request of 4 MiB as a message, before it is counted: 32 times its bytes at most."""
FETCH = "/groundwire.v1.RetrievalService/FetchNodeTexts"
UNAUTHENTICATED, INVALID, LATE, REFUSED = "16", "3", "4", "8"
MAPPING = """
tenants: {claims: [{claim: tenant}]}
acl_tags: {claims: [{claim: groups}]}
scopes: {always: ["*::*"]}
"""
METADATA = ("keys", "values", "nested", "objects")
KEY = SigningKey.ec("key")
FLAGS = ("--embedder", "none", "--health-listen", "127.0.0.1:0")
BOUNDS = {"GROUNDWIRE_CALL_MEMORY_BYTES": str(CALL_MEMORY_MIB * MIB)}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with the platform, and with a repository of texts of 900 kB each."""
    folder = tmp_path_factory.mktemp("attacked")
    build_platform(Storage(folder / "data"))
    texts = write_jsonl(
        folder / "large.jsonl", [node(f"N{number}", "word " * 180_000, None, "md") for number in range(4)]
    )
    where = ("--repository", "large", "--branch", "main", "--data", folder / "data", "--embedder", "none")
    run_ok("index", texts, *where)
    return folder / "data"


@pytest.fixture(scope="module")
def one_trusting(data: Path) -> Iterator[Server]:
    """A server that believes requests."""
    with Server(data, *FLAGS, environment=BOUNDS) as server:
        yield server


@pytest.fixture
def trusting(one_trusting: Server) -> Server:
    """That server, whose peak of memory is forgotten."""
    forget_peak(one_trusting)
    return one_trusting


@pytest.fixture(scope="module")
def tokens(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a server that demands tokens."""
    return token_environment(tmp_path_factory.mktemp("tokens"), KEY, MAPPING)


@pytest.fixture(scope="module")
def one_knowing(data: Path, tokens: dict[str, str]) -> Iterator[Server]:
    """A server that demands tokens."""
    with Server(data, *FLAGS, environment={**tokens, **BOUNDS}) as server:
        yield server


@pytest.fixture
def knowing(one_knowing: Server) -> Server:
    """That server, whose peak of memory is forgotten."""
    forget_peak(one_knowing)
    return one_knowing


def forget_peak(server: Server) -> None:
    """Lets the most memory that the process has held be what it holds now."""
    Path(f"/proc/{server.process.pid}/clear_refs").write_text("5", encoding="ascii")


def peak_mib(server: Server) -> float:
    """The most memory that the process has held so far."""
    lines = Path(f"/proc/{server.process.pid}/status").read_text(encoding="ascii").splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM:")).split()[1]) / 1024


def empty_nodes(size: int) -> bytes:
    """A request for texts that is nothing but empty entries of `nodes`, two bytes each."""
    number = retrieval_pb2.FetchNodeTextsRequest.DESCRIPTOR.fields_by_name["nodes"].number
    return bytes((number << 3 | 2, 0)) * (size // 2)


def authorization(subject: str) -> list[tuple[bytes, bytes]]:
    return [(key.encode(), value.encode()) for key, value in bearer(KEY.token(sub=subject))]


def honest(server: Server, subject: str = "", seconds: float = RECEIVE_SECONDS + 5) -> grpc.StatusCode:
    """How a call ends that anybody may make."""
    metadata = bearer(KEY.token(sub=subject)) if subject else ()
    with grpc.insecure_channel(server.address) as channel:
        stub = index_pb2_grpc.IndexServiceStub(channel)
        try:
            stub.ListIndexes(index_pb2.ListIndexesRequest(), timeout=seconds, metadata=metadata)
        except grpc.RpcError as error:
            return error.code()
    return grpc.StatusCode.OK


def await_room(server: Server, subject: str = "") -> None:
    """Waits until the server has noticed that a connection is gone, and let go of what its calls held."""
    end = time.monotonic() + 20
    while honest(server, subject) is not grpc.StatusCode.OK:
        assert time.monotonic() < end


def test_a_request_without_a_token_is_refused_before_it_is_read(knowing: Server) -> None:
    before = resident_mib(knowing)
    bomb = empty_nodes(REQUEST_BYTES - 64)
    with Connection(knowing.address) as connection:
        for number in range(40):
            connection.call(FETCH, bomb)
            connection.await_ends(number + 1)
        assert set(connection.ends.values()) == {UNAUTHENTICATED}
        assert len(connection.ends) == 40
    with ExitStack() as connections:
        crowd = [connections.enter_context(Connection(knowing.address)) for _ in range(4)]
        for one in crowd:
            for _ in range(50):
                one.call(FETCH, bomb, lacks=1)
        for one in crowd:
            one.await_ends(50)
            assert set(one.ends.values()) == {UNAUTHENTICATED}
    assert peak_mib(knowing) - before < SLACK_MIB
    assert honest(knowing, "alice") is grpc.StatusCode.OK


@pytest.mark.parametrize(
    "what", ["nodes", "seeds", "metadata", "values", "nested", "objects", "retrievers", "tags", "vector"]
)
def test_a_request_of_too_many_entries_is_counted_and_not_converted(trusting: Server, what: str) -> None:
    method, request = bomb(what)
    before = resident_mib(trusting)

    def explode(_: int) -> grpc.StatusCode:
        with grpc.insecure_channel(trusting.address) as channel:
            call: grpc.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(method)
            try:
                call(request, timeout=60)
            except grpc.RpcError as error:
                return error.code()
        return grpc.StatusCode.OK

    with health_watched(trusting) as problems, ThreadPoolExecutor(4) as threads:
        codes = list(threads.map(explode, range(6)))
        assert honest(trusting) is grpc.StatusCode.OK
    assert codes == [grpc.StatusCode.INVALID_ARGUMENT] * 6
    assert problems == []
    assert peak_mib(trusting) - before < CALL_MEMORY_MIB + PARSING_MIB + SLACK_MIB


def bomb(what: str) -> tuple[str, bytes]:
    """A method, and a request of nearly 4 MiB that has as many entries as that gives."""
    scope = scope_pb2.IndexScope(repository="platform", branch="main")
    query = "/groundwire.v1.QueryService/Query"
    filled = query_pb2.QueryRequest(scope=scope, query="x", hybrid=query_pb2.HybridParameters())
    if what == "nodes":
        fetch = retrieval_pb2.FetchNodeTextsRequest(scope=scope, budget_tokens=1)
        return FETCH, fetch.SerializeToString() + empty_nodes(REQUEST_BYTES - 512)
    if what == "seeds":
        seeds = retrieval_pb2.ExpandDependencyTreeRequest(scope=scope, max_depth=1, max_nodes=1, seed_ids=["a"] * MIB)
        return "/groundwire.v1.RetrievalService/ExpandDependencyTree", seeds.SerializeToString()
    if what in METADATA:
        fill(filled.filter.metadata.fields, what)
    elif what == "retrievers":
        filled.retrievers.extend([retrieval_pb2.RETRIEVER_DENSE] * (REQUEST_BYTES - 512))
    elif what == "tags":
        filled.access.acl_tags_any.extend([""] * 2_000_000)
    else:
        filled.query_vector.extend([1.0] * 1_000_000)
    return query, filled.SerializeToString()


def fill(metadata: MutableMapping[str, struct_pb2.Value], what: str) -> None:
    """Gives metadata too many keys, or one key too much of something."""
    if what == "keys":
        for number in range(300_000):
            metadata[f"{number:x}"].bool_value = True
    elif what == "values":
        metadata["k"].list_value.extend([None] * 900_000)
    elif what == "nested":
        metadata["k"].list_value.values.add().list_value.extend([None] * 900_000)
    else:
        for number in range(300_000):
            metadata["k"].struct_value.fields[f"{number:x}"].bool_value = True


def test_requests_that_lack_their_last_byte_end_and_hold_no_more_than_is_put_aside(knowing: Server) -> None:
    message = empty_nodes(REQUEST_BYTES - 64)
    before = resident_mib(knowing)
    with ExitStack() as connections, health_watched(knowing) as problems:
        crowd = [connections.enter_context(Connection(knowing.address)) for _ in range(4)]
        for one in crowd:
            for _ in range(50):
                one.call(FETCH, message, lacks=1, metadata=authorization("mallory"))
        began = time.monotonic()
        asked = 0
        while any(len(one.ends) < 50 for one in crowd) and time.monotonic() < began + 60:
            for one in crowd:
                one.pump(0.2)
            assert honest(knowing, "alice") is grpc.StatusCode.OK  # others have their own share
            asked += 1
        ends = [end for one in crowd for end in one.ends.values()]
    assert len(ends) == 200
    assert set(ends) == {LATE, REFUSED}
    assert asked > 1
    assert problems == []
    assert peak_mib(knowing) - before < CALL_MEMORY_MIB + SLACK_MIB


def test_where_nobody_is_known_the_same_holds_for_all_together(data: Path) -> None:
    message = empty_nodes(REQUEST_BYTES - 64)
    held = CALL_MEMORY_MIB * MIB // request_memory(REQUEST_BYTES)
    crowded = {"GROUNDWIRE_MAX_WAITING_CALLS": str(2 * MAX_WAITING)}
    with Server(data, *FLAGS, environment=BOUNDS | crowded) as server:
        before = resident_mib(server)
        with Connection(server.address) as connection, health_watched(server) as problems:
            for _ in range(held + MAX_WAITING + 50):
                connection.call(FETCH, message, lacks=1)
            connection.await_ends(50)
            connection.pump(0.5)
            assert list(connection.ends.values()) == [REFUSED] * 50
            assert peak_mib(server) - before < CALL_MEMORY_MIB + SLACK_MIB
        assert problems == []
        await_room(server)


def test_many_large_requests_that_arrive_at_once_leave_the_event_loop_to_others(data: Path) -> None:
    method, message = bomb("nodes")
    with Server(data, *FLAGS) as server, Connection(server.address) as connection, health_watched(server) as problems:
        for _ in range(16):
            connection.call(method, message, lacks=1)
        connection.pump(60, lambda: connection.all_sent)
        time.sleep(0.5)
        connection.complete()
        connection.await_ends(16)
    assert list(connection.ends.values()) == [INVALID] * 16
    assert problems == []


def test_large_requests_of_one_identity_wait_for_each_other_and_are_answered(
    data: Path, tokens: dict[str, str]
) -> None:
    ids = [f"large::main::md::{'x' * 190}{number}" for number in range(9_000)]
    scope = scope_pb2.IndexScope(repository="large", branch="main")
    request = retrieval_pb2.FetchNodeTextsRequest(scope=scope, seed_ids=ids, max_chars=10)
    with Server(data, *FLAGS, environment=tokens) as server, Connection(server.address, window=2**24) as connection:
        for _ in range(8):
            connection.call(FETCH, request.SerializeToString(), metadata=authorization("alice"))
        connection.await_ends(8)
    assert list(connection.ends.values()) == ["0"] * 8


def test_answers_that_nobody_takes_fill_no_more_than_a_callers_share(knowing: Server) -> None:
    ids = [f"large::main::md::N{number}" for number in range(4)]
    scope = scope_pb2.IndexScope(repository="large", branch="main")
    request = retrieval_pb2.FetchNodeTextsRequest(scope=scope, seed_ids=ids, max_chars=10_000_000)
    before = resident_mib(knowing)
    with Connection(knowing.address, window=1_000) as connection, health_watched(knowing) as problems:
        for _ in range(UNTAKEN):
            connection.call(FETCH, request.SerializeToString(), metadata=authorization("mallory"))
        connection.await_ends(UNTAKEN - ANSWERS_IN_A_SHARE)
        connection.pump(RECEIVE_SECONDS + 1)
        assert set(connection.ends.values()) == {REFUSED}
        assert 0 < UNTAKEN - len(connection.ends) <= ANSWERS_IN_A_SHARE
        assert honest(knowing, "alice") is grpc.StatusCode.OK
        assert honest(knowing, "mallory") is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert problems == []
    assert peak_mib(knowing) - before < CALL_MEMORY_MIB + WORKING_MIB + SLACK_MIB
    await_room(knowing, "mallory")


def test_health_is_told_beside_requests_for_it_that_do_not_end(trusting: Server) -> None:
    message = health_pb2.HealthCheckRequest(service="x" * (REQUEST_BYTES - 512)).SerializeToString()
    before = resident_mib(trusting)
    with ExitStack() as connections, health_watched(trusting) as problems:
        for _ in range(2):
            connection = connections.enter_context(Connection(trusting.address))
            for number in range(100):
                method = "Watch" if number % 2 else "Check"
                connection.call(f"/grpc.health.v1.Health/{method}", message, lacks=1)
            connection.pump(1)
        time.sleep(1)
    assert problems == []
    assert peak_mib(trusting) - before < 16 * 4 + SLACK_MIB


def test_a_name_that_no_service_can_have_is_not_kept(trusting: Server) -> None:
    long_name = health_pb2.HealthCheckRequest(service="x" * (REQUEST_BYTES - 512)).SerializeToString()
    with Connection(trusting.address) as connection:
        connection.call("/grpc.health.v1.Health/Watch", long_name)
        connection.call("/grpc.health.v1.Health/Check", long_name)
        connection.await_ends(2)
        assert set(connection.ends.values()) == {INVALID}


def test_watches_are_few_for_a_connection_and_for_all(trusting: Server) -> None:
    request = health_pb2.HealthCheckRequest(service="").SerializeToString()
    with Connection(trusting.address) as connection:
        for _ in range(20):
            connection.call("/grpc.health.v1.Health/Watch", request)
        connection.await_ends(12)
        connection.pump(0.5)
        # A machine that is busy may read a request too late for it to become a watch at all.
        assert len(connection.ends) == 12
        assert REFUSED in connection.ends.values()
        assert set(connection.ends.values()) <= {REFUSED, LATE}
    with health_watched(trusting) as problems:
        time.sleep(1)
    assert problems == []


def test_reflection_gives_way(trusting: Server) -> None:
    method = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"
    message = reflection_pb2.ServerReflectionRequest(list_services="x" * (REQUEST_BYTES - 512)).SerializeToString()
    before = resident_mib(trusting)
    with ExitStack() as connections, health_watched(trusting) as problems:
        for _ in range(2):
            connection = connections.enter_context(Connection(trusting.address))
            for _ in range(100):
                connection.call(method, message, lacks=1)
            connection.await_ends(84)
            assert set(connection.ends.values()) == {LATE}
        request = reflection_pb2.ServerReflectionRequest(list_services="")
        with Connection(trusting.address) as one:
            one.call(method, request.SerializeToString())
            one.await_ends(1)
            assert one.ends == {1: "0"}
    assert problems == []
    assert peak_mib(trusting) - before < 16 * 4 + SLACK_MIB
