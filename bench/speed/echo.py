"""`python -m bench.speed.echo FILE`: the echo server behind the transport floor.

It is Groundwire's server class on Groundwire's loop with its options, interceptor and log, and answers a request with
the response that was recorded for its request id: what is missing is the work, and the thread that does it.
"""

import asyncio
import base64
import json
import signal
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import structlog
import uvloop
from google.protobuf.message import Message

from bench.speed.calls import Calls
from bench.speed.protocol import Scenario
from bench.speed.wire import REQUEST_ID, method, request_id
from groundwire.v1 import query_pb2, query_pb2_grpc, retrieval_pb2, retrieval_pb2_grpc
from groundwire_server.config import Settings
from groundwire_server.rpc.admission.call_memory import CallMemory
from groundwire_server.rpc.identity.authenticator import TrustedCallers
from groundwire_server.rpc.interceptors import CallInterceptor
from groundwire_server.rpc.serving.transport import server_options
from groundwire_server.rpc.telemetry.logs import configure_logging
from groundwire_server.rpc.telemetry.telemetry import Telemetry

RECORDED = 16
"""How many queries of a scenario are recorded; clients of the echo server ask these in turn."""
_MESSAGES: Mapping[str, type[Message]] = {
    one.DESCRIPTOR.name: one
    for one in (
        retrieval_pb2.SearchNodesResponse,
        retrieval_pb2.ExpandDependencyTreeResponse,
        retrieval_pb2.FetchNodeTextsResponse,
        query_pb2.QueryResponse,
    )
}


def record(address: str, calls: Calls, scenarios: Iterable[Scenario], path: Path) -> None:
    """Asks a server the first queries of each scenario and writes its responses, one a line. Raises grpc.RpcError."""
    with grpc.insecure_channel(address) as channel, path.open("w", encoding="utf-8") as file:
        for scenario in scenarios:
            call = method(channel, scenario.kind)
            for number, request in enumerate(calls.requests(scenario)[:RECORDED]):
                response: Message = call(request)
                content = base64.b64encode(response.SerializeToString()).decode("ascii")
                line = {"id": request_id(scenario, number), "type": response.DESCRIPTOR.name, "content": content}
                file.write(json.dumps(line) + "\n")


class _Echo:
    """A servicer of both services, with recorded responses by request id."""

    def __init__(self, path: Path) -> None:
        self._responses: dict[str, Message] = {}
        for line in path.read_text(encoding="utf-8").splitlines():
            recorded = json.loads(line)
            content = base64.b64decode(recorded["content"])
            self._responses[recorded["id"]] = _MESSAGES[recorded["type"]].FromString(content)
        self.SearchNodes = self._answer
        self.ExpandDependencyTree = self._answer
        self.FindPaths = self._answer
        self.FetchNodeTexts = self._answer
        self.Query = self._answer

    async def _answer(self, request: Message, context: grpc.aio.ServicerContext[Message, Message]) -> Message:
        metadata = dict(context.invocation_metadata() or ())
        return self._responses[str(metadata[REQUEST_ID])]


def _admit_all(_: str, __: float | None) -> None:
    """There is no work that a call could wait for."""


async def _serve(path: Path) -> None:
    settings = Settings(listen="127.0.0.1:0")
    server = grpc.aio.server(
        interceptors=[
            CallInterceptor(
                Telemetry(settings),
                None,
                _admit_all,
                TrustedCallers(),
                CallMemory(settings.call_memory_bytes),
                settings.max_receive_bytes,
                settings.receive_seconds,
            )
        ],
        options=server_options(settings),
    )
    echo: Any = _Echo(path)  # its methods are one, for whatever messages
    retrieval_pb2_grpc.add_RetrievalServiceServicer_to_server(echo, server)
    query_pb2_grpc.add_QueryServiceServicer_to_server(echo, server)
    port = server.add_insecure_port(settings.listen)
    await server.start()
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    structlog.get_logger().info("listening", address=f"127.0.0.1:{port}")
    await stopped.wait()
    await server.stop(None)


if __name__ == "__main__":
    configure_logging("json", "info")
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(Path(sys.argv[1])))
