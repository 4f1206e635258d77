"""Callers that would have the server hold more than its bytes: bombs, bodies that do not end, answers not taken.

The servers of these tests wait for hours for what they wait for seconds otherwise, so that nothing ends because a
machine is busy. A test of a time limit has a server of its own.
"""

from collections.abc import Iterator, MutableMapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import grpc
import pytest
from google.protobuf import struct_pb2
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha import reflection_pb2

from groundwire.v1 import index_pb2, index_pb2_grpc, query_pb2, retrieval_pb2, scope_pb2
from groundwire_server.domain.limits import CALL_MEMORY_SHARES, request_memory
from groundwire_server.rpc.admission.call_memory import MAX_WAITING
from groundwire_server.rpc.services.health_service import MAX_RECEIVING, MAX_WATCHES_OF_A_CONNECTION
from support.fuzzing.valid_requests import build_platform
from support.jsonl import node
from support.open_ended_calls import Connection, pump_all
from support.program import Server, run_ok, write_jsonl
from support.storage import Storage
from support.token_issuer import SigningKey, bearer, token_environment
from support.vitals import HealthWatch, await_shown, resident_mib, shows

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
FLAGS = ("--embedder", "none", "--health-listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0")
BOUNDS = {
    "GROUNDWIRE_CALL_MEMORY_BYTES": str(CALL_MEMORY_MIB * MIB),
    "GROUNDWIRE_MAX_WAITING_CALLS": str(2 * MAX_WAITING),  # so that memory is what bounds them
}
HOURS = 36_000.0
DEADLINES = {"GROUNDWIRE_DEFAULT_DEADLINE_SECONDS": "3600", "GROUNDWIRE_MAX_DEADLINE_SECONDS": "3600"}
PATIENT = {
    "groundwire_server.rpc.call_handler.RECEIVE_SECONDS": HOURS,
    "groundwire_server.rpc.services.health_service.RECEIVE_SECONDS": HOURS,
    "groundwire_server.rpc.services.reflection_service.CONVERSATION_SECONDS": HOURS,
}
"""The time limits of the server that its settings do not change."""
HONEST_SECONDS = 60.0
"""What a call may take that attacks must not keep waiting; what they hold here, they hold for hours."""
HELD = CALL_MEMORY_MIB * MIB // request_memory(REQUEST_BYTES)
HELD_OF_ONE = CALL_MEMORY_MIB * MIB // CALL_MEMORY_SHARES // request_memory(REQUEST_BYTES)
"""How many of the largest requests are received at a time, from all callers and from one."""
WAITING_OF_ONE = MAX_WAITING // CALL_MEMORY_SHARES


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
    with Server(data, *FLAGS, environment=BOUNDS | DEADLINES, constants=PATIENT) as server:
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
    with Server(data, *FLAGS, environment={**tokens, **BOUNDS, **DEADLINES}, constants=PATIENT) as server:
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


def honest(server: Server, subject: str = "", seconds: float = HONEST_SECONDS) -> grpc.StatusCode:
    """How a call ends that anybody may make."""
    metadata = bearer(KEY.token(sub=subject)) if subject else ()
    with grpc.insecure_channel(server.address) as channel:
        stub = index_pb2_grpc.IndexServiceStub(channel)
        try:
            stub.ListIndexes(index_pb2.ListIndexesRequest(), timeout=seconds, metadata=metadata)
        except grpc.RpcError as error:
            return error.code()
    return grpc.StatusCode.OK


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
        for tokenless in crowd:
            for _ in range(50):
                tokenless.call(FETCH, bomb, lacks=1)
        for tokenless in crowd:
            tokenless.await_ends(50)
            assert set(tokenless.ends.values()) == {UNAUTHENTICATED}
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
                call(request, timeout=HOURS)
            except grpc.RpcError as error:
                return error.code()
        return grpc.StatusCode.OK

    with HealthWatch(trusting) as health, ThreadPoolExecutor(4) as threads:
        codes = list(threads.map(explode, range(6)))
        assert honest(trusting) is grpc.StatusCode.OK
    assert codes == [grpc.StatusCode.INVALID_ARGUMENT] * 6
    assert health.problems == []
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


def test_requests_that_lack_their_last_byte_end_and_hold_no_more_than_is_put_aside(
    knowing: Server, data: Path, tokens: dict[str, str]
) -> None:
    before = resident_mib(knowing)
    with ExitStack() as connections, HealthWatch(knowing) as health:
        crowd = unfinished_calls(connections, knowing)
        refused = 4 * 50 - HELD_OF_ONE - WAITING_OF_ONE
        pump_all(crowd, lambda: len(ends_of(crowd)) >= refused)
        pump_all(crowd, lambda: shows(knowing, calls_without_memory=WAITING_OF_ONE))
        assert ends_of(crowd) == [REFUSED] * refused
        health.await_round()
        assert honest(knowing, "alice") is grpc.StatusCode.OK  # others have their own share
    assert health.problems == []
    assert peak_mib(knowing) - before < CALL_MEMORY_MIB + SLACK_MIB
    await_shown(knowing, calls_without_memory=0, call_memory_bytes=0)
    # And in a server as it is, they end by themselves.
    with Server(data, *FLAGS, environment={**tokens, **BOUNDS}) as server, ExitStack() as connections:
        crowd = unfinished_calls(connections, server)
        pump_all(crowd, lambda: len(ends_of(crowd)) >= 200)
        assert set(ends_of(crowd)) == {LATE, REFUSED}


def unfinished_calls(connections: ExitStack, server: Server) -> list[Connection]:
    """Four connections with 50 calls of one caller each, which lack their last byte."""
    crowd = [connections.enter_context(Connection(server.address)) for _ in range(4)]
    for connection in crowd:
        for _ in range(50):
            connection.call(FETCH, empty_nodes(REQUEST_BYTES - 64), lacks=1, metadata=authorization("mallory"))
    return crowd


def ends_of(crowd: Sequence[Connection]) -> list[str]:
    """How the calls of all connections ended."""
    return [end for connection in crowd for end in connection.ends.values()]


def test_where_nobody_is_known_the_same_holds_for_all_together(data: Path) -> None:
    message = empty_nodes(REQUEST_BYTES - 64)
    with Server(data, *FLAGS, environment=BOUNDS | DEADLINES, constants=PATIENT) as server:
        before = resident_mib(server)
        with Connection(server.address) as connection, HealthWatch(server) as health:
            for _ in range(HELD + MAX_WAITING + 50):
                connection.call(FETCH, message, lacks=1)
            connection.await_ends(50)
            connection.pump(lambda: shows(server, calls_without_memory=MAX_WAITING, running_calls=HELD + MAX_WAITING))
            health.await_round()
            assert list(connection.ends.values()) == [REFUSED] * 50
            assert peak_mib(server) - before < CALL_MEMORY_MIB + SLACK_MIB
        assert health.problems == []
        await_shown(server, calls_without_memory=0, call_memory_bytes=0)
        assert honest(server) is grpc.StatusCode.OK


def test_many_large_requests_that_arrive_at_once_leave_the_event_loop_to_others(data: Path) -> None:
    """By the order in which calls end: 100 that come after 16 large ones do not wait for all of these."""
    method, message = bomb("nodes")
    with (
        Server(data, *FLAGS, environment=DEADLINES, constants=PATIENT) as server,
        Connection(server.address) as connection,
    ):
        large = {connection.call(method, message, lacks=1) for _ in range(16)}
        connection.pump(lambda: connection.all_sent)
        connection.complete()
        light = {connection.call("/groundwire.v1.IndexService/ListIndexes", b"") for _ in range(100)}
        connection.await_ends(len(large) + len(light))
    assert {connection.ends[stream] for stream in large} == {INVALID}
    assert {connection.ends[stream] for stream in light} == {"0"}
    order = list(connection.ends)
    half_of_the_light = [place for place, stream in enumerate(order) if stream in light][len(light) // 2]
    assert len(large.intersection(order[:half_of_the_light])) < len(large) / 2


def test_large_requests_of_one_identity_wait_for_each_other_and_are_answered(
    data: Path, tokens: dict[str, str]
) -> None:
    ids = [f"large::main::md::{'x' * 190}{number}" for number in range(9_000)]
    scope = scope_pb2.IndexScope(repository="large", branch="main")
    request = retrieval_pb2.FetchNodeTextsRequest(scope=scope, seed_ids=ids, max_chars=10)
    environment = tokens | DEADLINES
    with (
        Server(data, *FLAGS, environment=environment, constants=PATIENT) as server,
        Connection(server.address, window=2**24) as connection,
    ):
        for _ in range(8):
            connection.call(FETCH, request.SerializeToString(), metadata=authorization("alice"))
        connection.await_ends(8)
    assert list(connection.ends.values()) == ["0"] * 8


def test_answers_that_nobody_takes_fill_no_more_than_a_callers_share(data: Path, tokens: dict[str, str]) -> None:
    ids = [f"large::main::md::N{number}" for number in range(4)]
    scope = scope_pb2.IndexScope(repository="large", branch="main")
    request = retrieval_pb2.FetchNodeTextsRequest(scope=scope, seed_ids=ids, max_chars=10_000_000)
    # The requests for which there is no memory are refused after the time that they may wait for it.
    with Server(data, *FLAGS, environment={**tokens, **BOUNDS, **DEADLINES}) as server:
        before = resident_mib(server)
        with Connection(server.address, window=1_000) as connection, HealthWatch(server) as health:
            for _ in range(UNTAKEN):
                connection.call(FETCH, request.SerializeToString(), metadata=authorization("mallory"))
            connection.await_ends(UNTAKEN - ANSWERS_IN_A_SHARE)
            connection.pump(lambda: shows(server, calls_without_memory=0))
            connection.await_answer()
            assert set(connection.ends.values()) == {REFUSED}
            assert 0 < UNTAKEN - len(connection.ends) <= ANSWERS_IN_A_SHARE
            assert honest(server, "alice") is grpc.StatusCode.OK
            assert honest(server, "mallory") is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert health.problems == []
        assert peak_mib(server) - before < CALL_MEMORY_MIB + WORKING_MIB + SLACK_MIB
        await_shown(server, call_memory_bytes=0)
        assert honest(server, "mallory") is grpc.StatusCode.OK


def test_health_is_told_beside_requests_for_it_that_do_not_end(trusting: Server) -> None:
    message = health_pb2.HealthCheckRequest(service="x" * (REQUEST_BYTES - 512)).SerializeToString()
    before = resident_mib(trusting)
    with ExitStack() as connections, HealthWatch(trusting) as health:
        for _ in range(2):
            connection = connections.enter_context(Connection(trusting.address))
            for number in range(100):
                method = "Watch" if number % 2 else "Check"
                connection.call(f"/grpc.health.v1.Health/{method}", message, lacks=1)
            connection.await_ends(100 - MAX_RECEIVING)
            health.await_round()
    assert health.problems == []
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
    with Connection(trusting.address) as connection, HealthWatch(trusting) as health:
        for _ in range(20):
            connection.call("/grpc.health.v1.Health/Watch", request)
        connection.await_ends(20 - MAX_WATCHES_OF_A_CONNECTION)
        connection.pump(lambda: shows(trusting, health_watches=MAX_WATCHES_OF_A_CONNECTION))
        assert len(connection.ends) == 20 - MAX_WATCHES_OF_A_CONNECTION
        # Of 20 requests at a time a few are the oldest of more than 16, and so end before they are watches.
        assert REFUSED in connection.ends.values()
        assert set(connection.ends.values()) <= {REFUSED, LATE}
        health.await_round()
    assert health.problems == []


def test_reflection_gives_way(trusting: Server) -> None:
    method = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"
    message = reflection_pb2.ServerReflectionRequest(list_services="x" * (REQUEST_BYTES - 512)).SerializeToString()
    before = resident_mib(trusting)
    with ExitStack() as connections, HealthWatch(trusting) as health:
        for _ in range(2):
            connection = connections.enter_context(Connection(trusting.address))
            for _ in range(100):
                connection.call(method, message, lacks=1)
            connection.await_ends(84)
            assert set(connection.ends.values()) == {LATE}
        request = reflection_pb2.ServerReflectionRequest(list_services="")
        with Connection(trusting.address) as next_connection:
            next_connection.call(method, request.SerializeToString())
            next_connection.await_ends(1)
            assert next_connection.ends == {1: "0"}
        health.await_round()
    assert health.problems == []
    assert peak_mib(trusting) - before < 16 * 4 + SLACK_MIB
