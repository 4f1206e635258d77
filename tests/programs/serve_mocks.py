"""A server over a mocked engine, as `groundwire serve` runs it: `serve_mocks SETTINGS [grpc-ends]`.

A search for `slow` goes on until a line comes on standard input, one for `endless` until it is stopped, and one for
`defect` fails.
"""

import asyncio
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING
from unittest.mock import Mock, patch

from groundwire_server.config import Settings
from groundwire_server.domain.search.search import SearchRequest, SearchResult, SearchType
from groundwire_server.execution.call import Call, Checkpoint
from groundwire_server.rpc.serving import serve
from groundwire_server.rpc.telemetry.logs import configure_logging

if TYPE_CHECKING:
    from groundwire_server.rpc.serving.server import GroundwireServer

    Announce = Callable[[GroundwireServer], None]

RELEASED = threading.Event()


def await_release() -> None:
    sys.stdin.readline()
    RELEASED.set()


async def search(request: SearchRequest, call: Call) -> SearchResult:
    return await call.compute(lambda: result_of(request, call.checkpoint))


def result_of(request: SearchRequest, checkpoint: Checkpoint) -> SearchResult:
    if request.query == "defect":
        raise ZeroDivisionError("broken")
    print("searching", flush=True)
    while request.query == "endless" or not RELEASED.is_set():
        checkpoint()
        RELEASED.wait(0.005)
    return SearchResult((), "v1", SearchType.BM25)


def serve_mocks(settings: Settings, announce: "Announce") -> int:
    def announce_twice(server: "GroundwireServer") -> None:
        announce(server)
        print(server.address, flush=True)
        if "grpc-ends" in sys.argv:
            tasks.append(asyncio.get_running_loop().create_task(server._server.stop(None)))

    tasks: list[asyncio.Task[None]] = []
    configure_logging(settings.log_format, settings.log_level)
    return serve.serve_engine(settings, Mock(search=search), Mock(), announce_twice)


threading.Thread(target=await_release, daemon=True).start()
with patch.object(serve, "serve_indexes", serve_mocks):
    sys.exit(serve.serve(Settings.model_validate_json(sys.argv[1])))
