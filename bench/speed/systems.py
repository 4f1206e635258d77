"""The measured systems, each behind its adapter."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bench.speed.protocol import Measurement, Scenario, UnsupportedError

ROOT = Path(__file__).parents[2]


class AdapterError(Exception):
    """An adapter failed; the message is its system's."""


@dataclass(frozen=True, slots=True)
class System:
    """A system: its name in tables, and the command that starts its adapter."""

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str]


def own_system(name: str, adapter: str, options: Sequence[str] = ()) -> System:
    """A system whose adapter runs in this environment."""
    return System(name, (sys.executable, "-m", f"bench.speed.{adapter}", *options), dict(os.environ))


def peer_system(name: str, adapter: str, python: Path) -> System:
    """A system whose adapter runs in an environment of its own, with the benchmarks but without Groundwire."""
    kept = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}
    return System(name, (str(python), "-m", f"bench.peers.{adapter}"), {**kept, "PYTHONPATH": str(ROOT)})


@dataclass(frozen=True, slots=True)
class Loaded:
    """An adapter's notes on its system, and the time of loading and indexing."""

    settings: Mapping[str, str]
    seconds: float


class AdapterProcess:
    """A running adapter. Close it, or use it as a context manager."""

    def __init__(self, system: System, work: Path) -> None:
        """Starts it; `work` is the folder for the system's files and its log, `adapter.log`."""
        self.name = system.name
        self._work = work
        work.mkdir(parents=True, exist_ok=True)
        with (work / "adapter.log").open("w", encoding="utf-8") as log:
            self._process = subprocess.Popen(
                system.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                cwd=ROOT,
                env=dict(system.environment),
            )

    def __enter__(self) -> "AdapterProcess":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    @property
    def process_id(self) -> int:
        """The process id of the adapter."""
        return self._process.pid

    def load(self, corpus: Path) -> Loaded:
        """Loads a corpus. Raises AdapterError."""
        answer = self._request({"do": "load", "corpus": str(corpus), "work": str(self._work)})
        return Loaded(answer["settings"], answer["seconds"])

    def ask(self, scenario: Scenario, first: int, count: int, clients: int) -> Measurement:
        """Measures queries `first` to `first + count`. Raises UnsupportedError and AdapterError."""
        asked = {"scenario": asdict(scenario), "first": first, "count": count, "clients": clients}
        return Measurement(**self._request({"do": "ask", **asked}))

    def processes(self) -> list[int]:
        """The processes that serve calls. Raises AdapterError."""
        found: list[int] = self._request({"do": "processes"})["processes"]
        return found

    def close(self) -> None:
        """Lets the adapter end its system."""
        if self._process.poll() is None:
            try:
                self._request({"do": "close"})
            except AdapterError:
                self._process.kill()  # it is gone or going: there is nothing left to lose
        self._process.wait()
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with suppress(BrokenPipeError):  # what a dead adapter has not read
            self._process.stdin.close()
        self._process.stdout.close()

    def _request(self, request: Mapping[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            self._process.wait()
            raise AdapterError(f"the adapter ended; its last words: {self._last_words()}")
        answer: dict[str, Any] = json.loads(line)
        if "unsupported" in answer:
            raise UnsupportedError(answer["unsupported"])
        if "error" in answer:
            raise AdapterError(answer["error"])
        return answer

    def _last_words(self) -> str:
        lines = (self._work / "adapter.log").read_text(encoding="utf-8").strip().splitlines()
        return lines[-1] if lines else "none"
