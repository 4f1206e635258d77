"""Groundwire over the wire: `groundwire serve` in its own processes, called through the generated stubs."""

import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from importlib.metadata import version
from pathlib import Path

from bench.shared.programs import RunningProgram, process_tree, running, serve_command
from bench.speed.calls import Calls
from bench.speed.corpus import Corpus
from bench.speed.index import ensure_index
from bench.speed.protocol import Adapter, Measurement, Scenario, serve
from bench.speed.wire import measure


class GroundwireAdapter(Adapter):
    """The server, with the options on the command line."""

    def __init__(self, options: Sequence[str]) -> None:
        self._options = options
        self._exit = ExitStack()
        self._calls: Calls
        self._server: RunningProgram

    def load(self, corpus: Corpus, work: Path) -> Mapping[str, str]:
        """See `Adapter.load`."""
        self._calls = Calls(corpus)
        data = ensure_index(corpus)
        self._server = self._exit.enter_context(running(serve_command(data, self._options), work / "server.log"))
        return {"groundwire": version("groundwire"), "grpcio": version("grpcio"), "options": " ".join(self._options)}

    def measure(self, scenario: Scenario, numbers: Sequence[int], clients: int) -> Measurement:
        """See `Adapter.measure`."""
        return measure(self._server.address, scenario.kind, self._calls.requests(scenario), numbers, clients)

    def processes(self) -> list[int]:
        """The server's processes."""
        return process_tree(self._server.process)

    def close(self) -> None:
        """See `Adapter.close`."""
        self._exit.close()


if __name__ == "__main__":
    serve(GroundwireAdapter(sys.argv[1:]))
