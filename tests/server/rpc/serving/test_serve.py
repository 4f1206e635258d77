"""`serve` as a process: ready, signals, exit codes, and what stands on stderr."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import grpc
import pytest

from groundwire.v1 import retrieval_pb2, retrieval_pb2_grpc

SCRIPT = """
import asyncio, sys, time
from unittest.mock import Mock
from groundwire_server.config import Settings
from groundwire_server.domain.search.search import SearchResult, SearchType
from groundwire_server.rpc.serving import serve
from groundwire_server.rpc.telemetry.logs import configure_logging

async def search(request, call):
    return await call.compute(lambda: found(request, call.checkpoint))

def found(request, checkpoint):
    if request.query == "defect":
        raise ZeroDivisionError("broken")
    print("searching", flush=True)
    end = time.monotonic() + {"slow": 1, "endless": 30}[request.query]
    while time.monotonic() < end:
        checkpoint()
        time.sleep(0.005)
    return SearchResult((), "v1", SearchType.BM25)

def serve_mocks(settings, announce):
    def announce_twice(server):
        announce(server)
        print(server.address, flush=True)
        if "grpc-ends" in sys.argv:
            asyncio.get_running_loop().create_task(server._server.stop(None))

    configure_logging(settings.log_format, settings.log_level)
    return serve.serve_engine(settings, Mock(search=search), Mock(), announce_twice)

serve.serve_indexes = serve_mocks
sys.exit(serve.serve(Settings.model_validate_json(sys.argv[1])))
"""

Start: TypeAlias = Callable[..., tuple[subprocess.Popen[str], str]]


def python(*arguments: str) -> subprocess.Popen[str]:
    """A process of this interpreter that finds the same packages."""
    return subprocess.Popen(
        [sys.executable, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


@pytest.fixture
def start() -> Iterator[Start]:
    """`start(**settings)`: a server process and its address, once it is ready."""
    processes: list[subprocess.Popen[str]] = []

    def run(*words: str, **settings: object) -> tuple[subprocess.Popen[str], str]:
        values = json.dumps({"listen": "127.0.0.1:0", "drain_pause_seconds": 0.3, **settings})
        process = python("-W", "error", "-c", SCRIPT, values, *words)
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
    _, errors = process.communicate(timeout=20)
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
    process.send_signal(number)
    assert under_way.result(timeout=20).index == "v1"
    code, errors = ended(process)
    assert code == 0
    lines = [json.loads(line) for line in errors.splitlines()]
    assert [line["event"] for line in lines] == ["listening", "draining", "call", "stopped"]
    assert lines[0]["address"] == address
    assert lines[1]["signal"] == number.name


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
    script = """
import sys
from pathlib import Path
from groundwire_server.config import Settings
from groundwire_server.rpc.serving.serve import serve
sys.exit(serve(Settings(data=Path(sys.argv[1]))))
"""
    absent = tmp_path / "absent"
    code, errors = ended(python("-c", script, str(absent)))
    *steps, problem = errors.splitlines()
    assert [json.loads(step)["event"] for step in steps] == ["loading libraries", "loading models"]
    assert code == 2
    assert problem == f"groundwire serve: data: {absent}: is no folder; build an index into it with `groundwire index`"
