"""The transport floor: recorded responses to the same requests, from a server that does no work."""

import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from bench.shared.programs import RunningProgram, process_tree, running, serve_command
from bench.speed.calls import Calls
from bench.speed.corpus import Corpus
from bench.speed.echo import RECORDED, record
from bench.speed.index import ensure_index
from bench.speed.protocol import Adapter, Measurement, Scenario, UnsupportedError, serve
from bench.speed.scenarios import SCENARIOS
from bench.speed.wire import measure


class TransportAdapter(Adapter):
    """Records what a real server answers, then stands in its place."""

    def __init__(self) -> None:
        self._exit = ExitStack()
        self._calls: Calls
        self._server: RunningProgram

    def load(self, corpus: Corpus, work: Path) -> Mapping[str, str]:
        """See `Adapter.load`."""
        self._calls = Calls(corpus)
        responses = work / "responses.jsonl"
        with running(serve_command(ensure_index(corpus)), work / "recorded.log") as real:
            record(real.address, self._calls, SCENARIOS, responses)
        command = [sys.executable, "-m", "bench.speed.echo", str(responses)]
        self._server = self._exit.enter_context(running(command, work / "server.log"))
        return {"server": "grpc.aio on uvloop with Groundwire's options, interceptor and log"}

    def measure(self, scenario: Scenario, numbers: Sequence[int], clients: int) -> Measurement:
        """See `Adapter.measure`."""
        if scenario not in SCENARIOS:
            raise UnsupportedError("nothing was recorded for it")
        requests = self._calls.requests(scenario)[:RECORDED]
        return measure(self._server.address, scenario, requests, numbers, clients)

    def processes(self) -> list[int]:
        """The echo server's."""
        return process_tree(self._server.process)

    def close(self) -> None:
        """See `Adapter.close`."""
        self._exit.close()


if __name__ == "__main__":
    serve(TransportAdapter())
