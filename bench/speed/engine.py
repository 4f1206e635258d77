"""The engine floor: the same calls in this process, with requests decoded beforehand and nothing encoded."""

import os
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from groundwire_server.rpc.serving.threads import bound_native_threads

bound_native_threads()  # what the server does too, before the numeric libraries are loaded

from bench.speed.calls import SEARCHES, WALKS, Calls, Request  # noqa: E402
from bench.speed.corpus import Corpus  # noqa: E402
from bench.speed.index import ensure_index, row_of  # noqa: E402
from bench.speed.protocol import Ask, Measurement, Scenario, ThreadedAdapter, closed_loop, serve  # noqa: E402
from groundwire_server.config import Settings  # noqa: E402
from groundwire_server.engine.engine import RetrievalEngine  # noqa: E402
from groundwire_server.execution.checkpoint import never_stop  # noqa: E402
from groundwire_server.rpc.conversions.expansion import decode_expand  # noqa: E402
from groundwire_server.rpc.conversions.query import decode_query  # noqa: E402
from groundwire_server.rpc.conversions.scope import decode_access  # noqa: E402
from groundwire_server.rpc.conversions.search import decode_search  # noqa: E402
from groundwire_server.rpc.conversions.texts import decode_fetch  # noqa: E402
from groundwire_server.rpc.serving.compose import compose  # noqa: E402


class _AtOnce:
    """A Call that runs each part where it is awaited."""

    checkpoint = staticmethod(never_stop)
    processor_seconds = staticmethod(time.thread_time)

    async def compute(self, part: Callable[[], Any]) -> Any:  # noqa: ANN401 - what the part gives
        return part()

    wait_for = ask_model = compute


def _done(action: Coroutine[Any, Any, Any]) -> Any:  # noqa: ANN401 - what the action gives
    """What an action gives that waits for nothing."""
    try:
        action.send(None)
    except StopIteration as end:
        return end.value
    raise AssertionError("the action waits")


class EngineAdapter(ThreadedAdapter):
    """The engine that `groundwire serve` composes, called directly."""

    def __init__(self) -> None:
        self._calls: Calls
        self._engine: RetrievalEngine

    def load(self, corpus: Corpus, work: Path) -> Mapping[str, str]:
        """See `Adapter.load`."""
        self._calls = Calls(corpus)
        self._engine, _ = compose(Settings(data=ensure_index(corpus), embedders=()))
        return {"numpy": version("numpy"), "faiss-cpu": version("faiss-cpu")}

    def session(self, scenario: Scenario) -> Ask:
        """See `ThreadedAdapter.session`."""
        run, ids = self._action(scenario.kind)
        decoded = [_decode(scenario.kind, request) for request in self._calls.requests(scenario)]
        return lambda number: [row_of(id_) for id_ in ids(_done(run(decoded[number % len(decoded)], _AtOnce())))]

    def measure(self, scenario: Scenario, numbers: Sequence[int], clients: int) -> Measurement:
        """See `Adapter.measure`; for several clients every time is the mean wait that Little's law gives.

        The calls are done by one thread and by one a core, and the faster counts: more of them contend for Python's
        lock. How long a single thread's calls take says nothing of how long callers would wait for it.
        """
        if clients == 1:
            return super().measure(scenario, numbers, clients)
        ask = self.session(scenario)
        runs = [closed_loop([ask] * threads, numbers) for threads in {1, min(os.cpu_count() or 1, clients)}]
        fastest = min(runs, key=lambda run: run.seconds)
        mean = 1_000.0 * clients * fastest.seconds / len(numbers)
        return replace(fastest, milliseconds=[mean] * len(numbers))

    def _action(self, kind: str) -> tuple[Callable[[Any, Any], Any], Callable[[Any], list[str]]]:
        """The engine's method for a kind of call, and how its result names nodes."""
        if kind in SEARCHES:
            return self._engine.search, lambda result: [hit.id for hit in result.hits]
        if kind in WALKS:
            return self._engine.expand, lambda result: [node.id for node in result.nodes]
        if kind == "fetch":
            return self._engine.fetch, lambda result: [text.id for text in result.texts]
        return self._engine.query, lambda result: [match.node.id for match in result.matches]

    def close(self) -> None:
        """See `Adapter.close`: nothing runs beside this process."""


def _decode(kind: str, request: Request) -> Any:  # noqa: ANN401 - each action has its own type of request
    access = decode_access(request.access)
    message: Any = request
    if kind in SEARCHES:
        return decode_search(message, access)
    if kind in WALKS:
        return decode_expand(message, access)
    if kind == "fetch":
        return decode_fetch(message, access)
    return decode_query(message, access, datetime.now(UTC))


if __name__ == "__main__":
    serve(EngineAdapter())
