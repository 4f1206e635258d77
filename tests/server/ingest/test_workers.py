"""Workers with limits: what becomes of tasks that exceed them, of others, and of the workers."""

import os
import pickle
import signal
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from groundwire_ingest import workers as limits
from groundwire_ingest.workers import GivenUp, Pickler, Unpickler, Workers
from support.build_jobs import die_once, do, process_id


def run(tasks: list[str], size: Callable[[str], int] = len) -> list[str | GivenUp]:
    with Workers("groundwire_ingest.tree.single_file") as workers:
        return list(workers.map(do, tasks, size))


def test_results_stand_in_the_order_of_the_tasks() -> None:
    tasks = [f"upper {number}" for number in range(100)]
    assert run(tasks) == [task.upper() for task in tasks]


def test_what_a_task_raises_is_raised_and_says_where() -> None:
    with pytest.raises(ValueError, match="torn") as raised:
        run(["upper", "raise", "upper"])
    assert "in do" in raised.value.__notes__[0]


def test_a_task_that_takes_too_much_memory_is_given_up_and_the_others_are_done() -> None:
    first, given_up, last = run(["upper a", "fill memory", "upper b"])
    assert (first, last) == ("UPPER A", "UPPER B")
    assert isinstance(given_up, GivenUp)
    assert "1024 MB" in given_up.why


def test_a_task_that_takes_too_long_is_given_up_wherever_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """The interpreter does not look for signals while the regular expression runs."""
    monkeypatch.setattr(limits, "SECONDS", 1)
    first, given_up, last = run(["upper a", "search for ever", "upper b"])
    assert (first, last) == ("UPPER A", "UPPER B")
    assert given_up == GivenUp("takes more than 2 s of processor time to read")


def test_a_task_that_waits_for_ever_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "WAITS_A_SECOND", 0)
    monkeypatch.setattr(limits, "WAIT_SECONDS", 1)
    with Workers("groundwire_ingest.tree.single_file") as workers:
        assert list(workers.map(do, ["wait for ever"], len)) == [GivenUp("is not read within 1 s")]
        monkeypatch.undo()
        assert list(workers.map(do, ["upper a"], len)) == ["UPPER A"]


def test_the_time_for_a_task_grows_with_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "SECONDS", 0)
    (given_up,) = run(["search for ever"], lambda _: 20_001)
    assert given_up == GivenUp("takes more than 2 s of processor time to read")


def test_a_worker_that_ended_by_chance_does_not_decide_what_is_read(tmp_path: Path) -> None:
    with Workers("groundwire_ingest.tree.single_file") as workers:
        assert list(workers.map(die_once, [tmp_path / "died"], lambda _: 0)) == ["alive"]
    assert (tmp_path / "died").exists()


def test_workers_that_ended_leave_no_open_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "SECONDS", 0)

    def open_files(tasks: int) -> int:
        results = workers.map(do, ["search for ever"] * tasks, lambda _: 1)
        assert all(isinstance(result, GivenUp) for result in results)
        return len(list(Path("/dev/fd").iterdir()))

    with Workers("groundwire_ingest.tree.single_file") as workers:
        assert open_files(3) == open_files(1)


def test_no_worker_is_left_when_results_are_not_awaited() -> None:
    with Workers("groundwire_ingest.tree.single_file") as workers:
        (worker,) = workers.map(process_id, [""], len)
        assert isinstance(worker, int)
        next(workers.map(do, ["upper"] + ["search for ever"] * 3, lambda _: 1_000_000_000))
    with pytest.raises(ProcessLookupError):
        os.kill(worker, signal.SIGCONT)


@dataclass(frozen=True, slots=True)
class _Plain:
    text: str
    parts: tuple["_Plain", ...] = ()


@dataclass(slots=True)
class _Counted:
    text: str
    count: int = field(init=False, default=1)


def test_dataclasses_are_sent_with_all_their_fields() -> None:
    counted = _Counted("a")
    counted.count = 3
    sent = [_Plain("a", (_Plain("b"), _Plain("b"))), counted, {"x": _Plain("c")}]
    assert pickle.loads(Pickler.dumps(sent)) == sent


@pytest.mark.parametrize("name", ["os.system", "git_tree", "TemporaryDirectory"])
def test_a_result_makes_no_objects_but_those_of_own_types(name: str) -> None:
    """A worker reads files that are not trusted, and may be made to return anything."""
    module = "groundwire_ingest.git_trees"
    strings = b"".join(b"\x8c" + bytes([len(text)]) + text.encode() for text in (module, name))
    calls_it = b"\x80\x04" + strings + b"\x93\x8c\x04true\x85R."
    with pytest.raises(pickle.UnpicklingError, match="is no type of a result"):
        Unpickler(calls_it).load()
