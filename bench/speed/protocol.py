"""The protocol of adapters: one JSON object per line, requests on stdin, responses on stdout.

`{"do": "load", "corpus": folder, "work": folder}` -> `{"settings": {name: text}, "seconds": number}`
`{"do": "ask", "scenario": {"kind": ..., "filter": ...}, "first": n, "count": n, "clients": n}`
    -> `{"milliseconds": [...], "answers": [[row, ...], ...], "seconds": number}`
`{"do": "processes"}` -> `{"processes": [id, ...]}`
`{"do": "close"}` -> `{}`, and the program ends.

A response may be `{"unsupported": why}` for a scenario that the system does not support, or `{"error": what}`.
"""

import json
import os
import sys
import threading
import time
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeAlias

from bench.speed.corpus import Corpus

Ask: TypeAlias = Callable[[int], Sequence[int]]
"""Runs one query by its number; returns the rows found, best first."""


WARMING = 5
"""The number of unmeasured calls that each client makes first."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """A kind of call, and the name of a filter or ""."""

    kind: str
    filter: str = ""

    def __str__(self) -> str:
        return f"{self.kind}, {self.filter}" if self.filter else self.kind


@dataclass(frozen=True, slots=True)
class Measurement:
    """The times and results of consecutive queries, in their order, and the time of all of them together."""

    milliseconds: list[float]
    answers: list[list[int]]
    seconds: float


class UnsupportedError(Exception):
    """The system does not support the scenario; says why."""


class Adapter(ABC):
    """One system. `load` is called once, first."""

    @abstractmethod
    def load(self, corpus: Corpus, work: Path) -> Mapping[str, str]:
        """Loads the corpus and builds the indexes; returns versions and settings, for the report."""

    @abstractmethod
    def measure(self, scenario: Scenario, numbers: Sequence[int], clients: int) -> Measurement:
        """Runs the queries in a closed loop of `clients`. Raises UnsupportedError."""

    def processes(self) -> list[int]:
        """The ids of the processes that serve calls."""
        return [os.getpid()]

    @abstractmethod
    def close(self) -> None:
        """Ends what `load` started."""


class ThreadedAdapter(Adapter):
    """A system whose clients are threads of the adapter, each with a session of its own."""

    @abstractmethod
    def session(self, scenario: Scenario) -> Ask:
        """A connection of its own, ready for a scenario. Raises UnsupportedError."""

    def measure(self, scenario: Scenario, numbers: Sequence[int], clients: int) -> Measurement:
        """See `Adapter.measure`."""
        return closed_loop([self.session(scenario) for _ in range(clients)], numbers)


def closed_loop(sessions: Sequence[Ask], numbers: Sequence[int]) -> Measurement:
    """Each session runs the next query as soon as its previous one has ended. Raises what a session raises.

    Before measuring, each session has run the last five queries, so that connections are open and caches warm.
    """
    for ask in sessions:
        for number in numbers[-WARMING:]:
            ask(number)
    milliseconds = [0.0] * len(numbers)
    answers: list[list[int]] = [[]] * len(numbers)
    failures: list[Exception] = []
    places = iter(range(len(numbers)))

    def work(ask: Ask) -> None:
        try:
            for place in places:  # a C iterator: each place is taken once
                started = time.perf_counter()
                answer = ask(numbers[place])
                milliseconds[place] = 1_000.0 * (time.perf_counter() - started)
                answers[place] = list(answer)
        except Exception as error:  # noqa: BLE001 - raised again by the thread that waits
            failures.append(error)

    started = time.perf_counter()
    if len(sessions) == 1:
        work(sessions[0])
    else:
        threads = [threading.Thread(target=work, args=(ask,)) for ask in sessions]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    if failures:
        raise failures[0]
    return Measurement(milliseconds, answers, time.perf_counter() - started)


def serve(adapter: Adapter) -> None:
    """Serves requests until `close` or the end of stdin."""
    # Output of libraries must not appear between the responses.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    try:
        for line in sys.stdin:
            request = json.loads(line)
            if request["do"] == "close":
                break
            answers.write(json.dumps(_answer(adapter, request)) + "\n")
            answers.flush()
    finally:
        adapter.close()
    answers.write("{}\n")
    answers.flush()


def _answer(adapter: Adapter, request: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        return _ACTIONS[request["do"]](adapter, request)
    except UnsupportedError as error:
        return {"unsupported": str(error)}
    except Exception as error:  # noqa: BLE001 - every failure of a system is reported, none ends the bench
        traceback.print_exc()
        return {"error": " ".join(f"{type(error).__name__}: {error}".split())}


def _load(adapter: Adapter, request: Mapping[str, Any]) -> Mapping[str, Any]:
    work = Path(request["work"])
    work.mkdir(parents=True, exist_ok=True)
    started = time.perf_counter()
    settings = adapter.load(Corpus(Path(request["corpus"])), work)
    return {"settings": dict(settings), "seconds": time.perf_counter() - started}


def _ask(adapter: Adapter, request: Mapping[str, Any]) -> Mapping[str, Any]:
    first = request["first"]
    numbers = range(first, first + request["count"])
    return asdict(adapter.measure(Scenario(**request["scenario"]), numbers, request["clients"]))


def _processes(adapter: Adapter, request: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"processes": adapter.processes()}


_ACTIONS: Mapping[str, Callable[[Adapter, Mapping[str, Any]], Mapping[str, Any]]] = {
    "load": _load,
    "ask": _ask,
    "processes": _processes,
}
