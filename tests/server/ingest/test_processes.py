"""Jobs of a build in this process and in others: what they give, and what is left of them when one is ended."""

import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType

import pytest

from groundwire_ingest.ingest_errors import IngestError
from groundwire_ingest.processes import Job, runner
from support import hold_in_processes, hold_in_workers
from support.build_jobs import die, double, fail
from support.patience import PATIENCE_SECONDS, await_true


@pytest.mark.parametrize("processes", [1, 2])
def test_results_stand_in_the_order_of_the_jobs_and_progress_is_told(processes: int) -> None:
    seen: list[int] = []
    with runner(processes) as runs:
        assert runs.run([partial(double, number) for number in range(5)], seen.append) == [0, 2, 4, 6, 8]
        assert runs.run([partial(double, 7)], seen.append) == [14]
    assert seen == sorted(seen[:-1]) + seen[-1:]
    assert (10 in seen, seen[-1]) == (True, 7)


@pytest.mark.parametrize("processes", [1, 2])
def test_what_a_job_raises_is_raised(processes: int) -> None:
    jobs: list[Job[object]] = [partial(double, 1), partial(fail, "torn")]
    with pytest.raises(ValueError, match="torn"), runner(processes) as runs:
        runs.run(jobs, lambda done: None)


def test_a_process_that_was_killed_is_told() -> None:
    jobs: list[Job[object]] = [die, partial(double, 1)]
    with pytest.raises(IngestError, match="ended from outside"), runner(2) as runs:
        runs.run(jobs, lambda done: None)


def test_nothing_is_imported_from_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tree is often indexed from inside it, and may have modules with names of the standard library."""
    (tmp_path / "multiprocessing.py").write_text("open('imported', 'w')", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with runner(2) as runs:
        assert runs.run([partial(double, 2)], lambda done: None) == [4]
    assert not (tmp_path / "imported").exists()
    assert "PYTHONSAFEPATH" not in os.environ


@pytest.mark.slow
@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGINT], ids=["killed", "Ctrl-C"])
@pytest.mark.parametrize("holding", [hold_in_processes, hold_in_workers], ids=["processes", "workers"])
def test_no_process_outlives_the_one_that_started_it(
    tmp_path: Path, ending: signal.Signals, holding: ModuleType
) -> None:
    paths = [tmp_path / "a", tmp_path / "b"]
    program = subprocess.Popen(
        [sys.executable, str(holding.__file__), *paths],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        _wait_until(lambda: all(path.with_suffix(".held").exists() for path in paths))
        if ending == signal.SIGINT:
            os.killpg(program.pid, ending)  # as a terminal does
        else:
            program.send_signal(ending)
        assert program.wait(timeout=PATIENCE_SECONDS) != 0
        _wait_until(lambda: all(map(_is_free, paths)))
    finally:
        program.kill()
        program.wait()


def _is_free(path: Path) -> bool:
    with path.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def _wait_until(condition: Callable[[], bool]) -> None:
    await_true(condition)
