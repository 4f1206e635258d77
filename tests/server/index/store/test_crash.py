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

from groundwire_index.scope import Scope
from groundwire_index.store.loaded import verify
from groundwire_index.store.store import IndexStore
from groundwire_server.backends.embedded.backend import EmbeddedBackend
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.access.grants import UNLIMITED
from groundwire_server.domain.search.search import SearchRequest, SearchType
from support.calls import never_stop
from support.engines import engine_over
from support.listed_candidates import texts_of

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

    def build(self, data: Path, number: int, die_at_step: int = 0) -> None:
        """Has a worker build a version, activate it and delete the one before, or die at a touch of the disk."""
        self._start(data, number, 1, die_at_step)
        assert self._answer() == "ended"

    def build_for(self, data: Path, number: int, seconds: float) -> None:
        """Has a worker build one version after the other, and kills it after so long."""
        worker = self._start(data, number, 1_000, 0)
        time.sleep(seconds)
        os.kill(worker, signal.SIGKILL)
        assert self._answer() == "ended"

    def close(self) -> None:
        """Ends the host."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(timeout=300)
        self._process.stdout.close()

    def _start(self, data: Path, number: int, versions: int, step: int) -> int:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{data} {number} {versions} {step}\n")
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
    search = SearchRequest(SCOPE, PUBLIC, SearchType.HYBRID, f"text {version}", 20, query_vector=(1.0, 0.0))
    ids = [hit.label.id for hit in engine_over(backend).search(search, never_stop).hits]
    assert len(ids) == 10
    assert {stored.text for stored in texts_of(snapshot, ids)} == {f"text {version}"}
    assert backend.get_index(replace(SCOPE, active_index=version), PUBLIC)[0].edge_count == 9
    return version


def number_of(version: str) -> int:
    return int(version.removeprefix("v"))


def check_after_a_crash(data: Path, serving: EmbeddedBackend, before: str) -> str:
    """Nothing torn is accepted, and what answers is the version before or a later, whole one; returns it."""
    store = IndexStore(data)
    for version in store.versions(SCOPE):
        verify(store.directory(replace(SCOPE, active_index=version)))
    listed = [
        summary.version for summary in EmbeddedBackend(data).list_indexes("", "", PUBLIC, UNLIMITED.scopes, never_stop)
    ]
    assert listed == store.versions(SCOPE)
    answered = answered_version(EmbeddedBackend(data))
    assert answered == answered_version(serving) == store.active(SCOPE)
    assert number_of(answered) >= number_of(before)
    return answered


def branch_of(data: Path) -> Path:
    return IndexStore(data).directory(replace(SCOPE, active_index="x")).parent


def unused_number(data: Path) -> int:
    """A number above every version that is there or was deleted."""
    return 1 + max(number_of(path.name) for path in branch_of(data).glob("**/v*") if path.is_dir())


def beyond_the_tombstones(data: Path) -> list[Path]:
    """What is left of deleted versions besides their tombstones."""
    return [path for path in branch_of(data).glob(".removed-*/**/*") if path.is_file()]


def check_the_next_build_works(host: CrashHost, data: Path) -> None:
    number = unused_number(data)
    host.build(data, number)
    assert answered_version(EmbeddedBackend(data)) == f"v{number:05}"
    assert not list(branch_of(data).glob(".building-*"))


@pytest.fixture
def data(host: CrashHost, tmp_path: Path) -> Path:
    """A data directory with a first version, active."""
    host.build(tmp_path, 1)
    return tmp_path


@pytest.fixture
def serving(data: Path) -> EmbeddedBackend:
    """A server's backend that was there before every crash."""
    return EmbeddedBackend(data)


@pytest.fixture(scope="module")
def steps(host: CrashHost, tmp_path_factory: pytest.TempPathFactory) -> int:
    """How often the data is touched in building and activating a version and deleting the one before."""
    scratch = tmp_path_factory.mktemp("scratch")
    host.build(scratch, 1)
    host.build(scratch, 2)
    return int((scratch / ".steps").read_text())


@pytest.mark.parametrize("share", [place / 16 for place in range(16)])
def test_a_writer_killed_at_any_step_changes_nothing_or_everything(
    host: CrashHost, data: Path, serving: EmbeddedBackend, steps: int, share: float
) -> None:
    host.build(data, 2, die_at_step=1 + int(share * steps))
    assert check_after_a_crash(data, serving, "v00001") in ("v00001", "v00002")
    check_the_next_build_works(host, data)


def test_the_files_of_a_killed_deletion_are_removed_by_the_next_build(host: CrashHost, data: Path, steps: int) -> None:
    host.build(data, 2, die_at_step=steps - 5)
    assert beyond_the_tombstones(data) != []
    host.build(data, 3)
    assert beyond_the_tombstones(data) == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(15))
def test_a_writer_killed_at_any_time_leaves_whole_versions_only(
    host: CrashHost, data: Path, serving: EmbeddedBackend, seed: int
) -> None:
    before = answered_version(serving)
    host.build_for(data, unused_number(data), random.Random(seed).uniform(0.005, 0.2))
    check_after_a_crash(data, serving, before)
    check_the_next_build_works(host, data)
