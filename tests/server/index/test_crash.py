"""Builds, activations and deletions that are killed: whatever was answered before is answered after."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from groundwire_server.backends.embedded.backend import EmbeddedBackend
from groundwire_server.backends.interface import BackendSearch
from groundwire_server.domain.access import AccessContext
from groundwire_server.domain.checkpoint import never_stop
from groundwire_server.domain.scope import Scope
from groundwire_server.domain.search import Filter, SearchType
from groundwire_server.index.loaded import verify
from groundwire_server.index.store import IndexStore

SCOPE = Scope("shop", "main")
PUBLIC = AccessContext()


class CrashHost:
    """The process of `crash_host.py`: starts a worker on a data directory, which dies by itself or is killed."""

    def __init__(self) -> None:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("crash_host.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        assert self._answer() == "ready"

    def run_to_step(self, data: Path, first: int, step: int) -> None:
        """Lets a worker run until it is about to touch the disk for the `step`-th time."""
        self._start(data, first, step)
        assert self._answer() == "ended"

    def run_for(self, data: Path, first: int, seconds: float) -> None:
        """Lets a worker run for a while and kills it."""
        worker = self._start(data, first, 0)
        time.sleep(seconds)
        os.kill(worker, signal.SIGKILL)
        assert self._answer() == "ended"

    def close(self) -> None:
        """Ends the host."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(timeout=10)
        self._process.stdout.close()

    def _start(self, data: Path, first: int, step: int) -> int:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{data} {first} {step}\n")
        self._process.stdin.flush()
        return int(self._answer())

    def _answer(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()


@pytest.fixture(scope="module")
def host() -> Iterator[CrashHost]:
    running = CrashHost()
    yield running
    running.close()


def answered_version(backend: EmbeddedBackend) -> str:
    """The version that answers, after checking that its hits, texts and edges are its own and complete."""
    snapshot = backend.open(SCOPE, PUBLIC)
    version = snapshot.index
    search = BackendSearch(SearchType.HYBRID, f"text {version}", (1.0, 0.0), 20, 60, Filter(), explain=False)
    ids = [hit.id for hit in snapshot.search(search, never_stop).hits]
    assert len(ids) == 10
    assert {stored.text for stored in snapshot.fetch_texts(ids).values()} == {f"text {version}"}
    assert backend.get_index(replace(SCOPE, active_index=version), PUBLIC).edge_count == 9
    return version


def number_of(version: str) -> int:
    return int(version.removeprefix("v"))


def check_after_a_crash(data: Path, serving: EmbeddedBackend, before: str) -> str:
    """Nothing torn is accepted, and what answers is the version before or a later, whole one; returns it."""
    store = IndexStore(data)
    for version in store.versions(SCOPE):
        verify(store.directory(replace(SCOPE, active_index=version)))
    listed = [summary.version for summary in EmbeddedBackend(data, []).list_indexes("", "", PUBLIC)]
    assert listed == store.versions(SCOPE)
    answered = answered_version(EmbeddedBackend(data, []))
    assert answered == answered_version(serving) == store.active(SCOPE)
    assert number_of(answered) >= number_of(before)
    return answered


def unused_number(data: Path) -> int:
    """A number above every version that is there or was deleted."""
    branch = IndexStore(data).directory(replace(SCOPE, active_index="x")).parent
    return 1 + max(number_of(path.name) for path in branch.glob("**/v*") if path.is_dir())


def check_the_next_build_works(host: CrashHost, data: Path, before: str) -> str:
    """A later worker builds on; what a killed build left behind is gone."""
    seconds = 0.2
    while IndexStore(data).active(SCOPE) == before:
        host.run_for(data, unused_number(data), seconds)
        seconds *= 2
    return IndexStore(data).active(SCOPE)


@pytest.fixture(scope="module")
def data(host: CrashHost, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with a first version, active."""
    directory = tmp_path_factory.mktemp("data")
    seconds = 0.2
    while not IndexStore(directory).active(SCOPE):
        host.run_for(directory, 1, seconds)
        seconds *= 2
    return directory
