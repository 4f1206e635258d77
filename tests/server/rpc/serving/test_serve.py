"""`serve` as a process: ready, signals, exit codes, and what stands on stderr."""

import json
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import grpc
import pytest

from groundwire.v1 import retrieval_pb2, retrieval_pb2_grpc
from support import programs
from support.patience import PATIENCE_SECONDS

Start: TypeAlias = Callable[..., tuple[subprocess.Popen[str], str]]


def started(*command: str) -> subprocess.Popen[str]:
    """A process whose streams are pipes."""
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=programs.variables())


@pytest.fixture
def start() -> Iterator[Start]:
    """`start(**settings)`: a server process and its address, once it is ready."""
    processes: list[subprocess.Popen[str]] = []

    def run(*words: str, **settings: object) -> tuple[subprocess.Popen[str], str]:
        values = json.dumps({"listen": "127.0.0.1:0", "drain_pause_seconds": 0.3, **settings})
        process = started(*programs.command("serve_mocks", values, *words))
        processes.append(process)
        assert process.stdout is not None
        return process, process.stdout.readline().strip()

    yield run
    for process in processes:
        process.kill()
        process.communicate()


def stub_of(address: str) -> retrieval_pb2_grpc.RetrievalServiceStub:
    """A caller of the server at `address`."""
    return retrieval_pb2_grpc.RetrievalServiceStub(grpc.insecure_channel(address))


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    """The exit code and stderr of a process that ends by itself."""
    _, errors = process.communicate(timeout=PATIENCE_SECONDS)
    return process.returncode, errors


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_drains_and_loses_no_call(
    start: Start, search_request: retrieval_pb2.SearchNodesRequest, number: signal.Signals
) -> None:
    process, address = start()
    search_request.query = "slow"
    under_way = stub_of(address).SearchNodes.future(search_request)
    assert process.stdout is not None
    assert process.stdout.readline() == "searching\n"
    assert process.stderr is not None
    lines = [json.loads(process.stderr.readline())]
    process.send_signal(number)
    lines.append(json.loads(process.stderr.readline()))
    assert not under_way.done()
    assert process.stdin is not None
    process.stdin.write("go on\n")
    process.stdin.flush()
    assert under_way.result(timeout=PATIENCE_SECONDS).index == "v1"
    code, errors = ended(process)
    assert code == 0
    lines += map(json.loads, errors.splitlines())
    assert [line["event"] for line in lines] == ["listening", "draining", "call", "stopped"]
    assert lines[0]["address"] == address
    assert lines[1]["signal"] == number.name


def test_ctrl_c_does_not_pause_for_load_balancers(start: Start) -> None:
    """With the pause it would take longer than the test has patience."""
    process, _ = start(drain_pause_seconds=100 * PATIENCE_SECONDS)
    assert process.stderr is not None
    assert json.loads(process.stderr.readline())["event"] == "listening"
    process.send_signal(signal.SIGINT)
    code, errors = ended(process)
    assert code == 0
    assert [json.loads(line)["event"] for line in errors.splitlines()] == ["draining", "stopped"]


def test_a_second_signal_stops_at_once(start: Start, search_request: retrieval_pb2.SearchNodesRequest) -> None:
    process, address = start(drain_pause_seconds=60)
    search_request.query = "endless"
    endless = stub_of(address).SearchNodes.future(search_request)
    assert process.stdout is not None
    assert process.stdout.readline() == "searching\n"
    process.send_signal(signal.SIGTERM)
    assert process.stderr is not None
    while json.loads(process.stderr.readline())["event"] != "draining":
        pass
    process.send_signal(signal.SIGTERM)
    code, errors = ended(process)
    assert code == 128 + signal.SIGTERM
    lines = {line["event"]: line for line in map(json.loads, errors.splitlines())}
    assert set(lines) == {"stopped", "call"}
    assert lines["stopped"]["cut_short"] is True
    assert lines["call"]["code"] == "CANCELLED"
    assert endless.code() in (grpc.StatusCode.CANCELLED, grpc.StatusCode.UNAVAILABLE)


def test_a_server_whose_grpc_ends_by_itself_ends_too(start: Start) -> None:
    process, _ = start("grpc-ends", health_listen="127.0.0.1:0")
    code, errors = ended(process)
    assert code == 1
    assert [json.loads(line)["event"] for line in errors.splitlines()] == ["listening", "gRPC has ended by itself"]


@pytest.mark.parametrize("log_format", ["json", "console"])
def test_a_defect_is_logged_with_its_traceback_and_without_what_was_asked(
    start: Start, search_request: retrieval_pb2.SearchNodesRequest, log_format: str
) -> None:
    process, address = start(log_format=log_format)
    search_request.query = "defect"
    search_request.scope.branch = "secret-branch"
    assert stub_of(address).SearchNodes.future(search_request).code() is grpc.StatusCode.INTERNAL
    process.send_signal(signal.SIGTERM)
    _, errors = ended(process)
    assert "Traceback (most recent call last)" in errors
    assert "ZeroDivisionError: broken" in errors
    assert "secret-branch" not in errors


def test_the_console_format_is_for_eyes(start: Start) -> None:
    process, address = start(log_format="console")
    process.send_signal(signal.SIGTERM)
    _, errors = ended(process)
    assert "listening" in errors
    assert address in errors
    assert "{" not in errors


def test_a_server_that_cannot_start_says_why_in_one_line(start: Start) -> None:
    running, address = start()
    process, ready = start(listen=address)
    assert ready == ""
    assert ended(process) == (
        2,
        f"groundwire serve: listen: {address}: Address already in use; choose another address or free this one\n",
    )
    assert running.poll() is None


def test_a_server_without_its_data_says_so_in_its_last_line(tmp_path: Path) -> None:
    absent = tmp_path / "absent"
    code, errors = ended(started(*programs.command("serve_data", absent)))
    *steps, problem = errors.splitlines()
    assert [json.loads(step)["event"] for step in steps] == ["loading libraries", "loading models"]
    assert code == 2
    assert problem == f"groundwire serve: data: {absent}: is no folder; build an index into it with `groundwire index`"
