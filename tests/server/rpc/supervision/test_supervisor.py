"""The supervisor over stand-ins for workers: ready, restarts, signals, exit codes, and what stands on stderr."""

import json
import os
import queue
import signal
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from groundwire_server.config import Settings, SettingsError
from groundwire_server.rpc.serving.addresses import check_free
from groundwire_server.rpc.supervision.supervisor import (
    FIRST_DELAY_SECONDS,
    MAX_DELAY_SECONDS,
    YOUNG_SECONDS,
    RestartDelay,
)
from support import programs
from support.patience import PATIENCE_SECONDS, await_true


class Supervised:
    """A supervisor whose workers obey `orders`, and its log."""

    def __init__(self, data: Path, orders: dict[int, list[str]]) -> None:
        (data / "orders.json").write_text(json.dumps(orders))
        self.data = data
        self.process = subprocess.Popen(
            programs.command("supervisor_host", data), stderr=subprocess.PIPE, text=True, env=programs.variables()
        )
        self._lines: queue.Queue[str] = queue.Queue()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def next(self, event: str) -> dict[str, Any]:
        """The next line of that event; those between are dropped."""
        while True:
            line: dict[str, Any] = json.loads(self._lines.get(timeout=PATIENCE_SECONDS))
            if line["event"] == event:
                return line

    def pids(self) -> dict[int, int]:
        """The process ids of the two workers, once they listen."""
        return {line["worker"]: line["pid"] for line in (self.next("worker listening"), self.next("worker listening"))}

    def ended(self) -> tuple[int, list[str]]:
        """The exit code, and the lines that nobody has read."""
        code = self.process.wait(timeout=PATIENCE_SECONDS)
        self._reader.join()
        return code, [self._lines.get() for _ in range(self._lines.qsize())]

    def _read(self) -> None:
        assert self.process.stderr is not None
        with self.process.stderr as stream:
            for line in stream:
                self._lines.put(line)


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Any]:
    """`run(orders of worker 1, orders of worker 2)`: a supervisor of two."""
    started: list[Supervised] = []

    def start(first: str, second: str) -> Supervised:
        started.append(Supervised(tmp_path, {1: first.split(), 2: second.split()}))
        return started[-1]

    yield start
    for supervised in started:
        for number in (signal.SIGTERM, signal.SIGTERM):  # the second ends workers that take no notice
            supervised.process.send_signal(number)
        supervised.ended()


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_ready_is_told_once_when_all_listen_at_an_address_that_is_held(run: Any) -> None:
    server = run("listen", "listen")
    pids = server.pids()
    listening = server.next("listening")
    assert (len(pids), listening["workers"], listening["data"]) == (2, 2, str(server.data))
    with pytest.raises(SettingsError, match="Address already in use"):
        check_free("listen", listening["address"])
    server.process.terminate()
    code, lines = server.ended()
    assert (code, [json.loads(line)["event"] for line in lines]) == (0, ["draining", "stopped"])
    assert not any(map(alive, pids.values()))


def test_workers_get_the_settings_as_they_are_but_for_the_port(run: Any) -> None:
    server = run("listen", "listen")
    address = server.next("listening")["address"]
    expected = repr(Settings(data=server.data, workers=2, listen=address, embedders=("a,b", "c")))
    assert {(server.data / f"settings-{number}").read_text() for number in (1, 2)} == {expected}


def test_a_worker_that_is_killed_is_started_again_and_the_other_left_alone(run: Any) -> None:
    server = run("listen", "listen")
    pids = server.pids()
    server.next("listening")
    os.kill(pids[1], signal.SIGKILL)
    end = server.next("worker ended")
    assert (end["worker"], end["signal"], end["level"]) == (1, "SIGKILL", "error")
    again = server.next("worker listening")
    assert again["worker"] == 1
    assert again["pid"] != pids[1]
    assert alive(pids[2])
    server.process.terminate()
    code, lines = server.ended()
    assert (code, [json.loads(line)["event"] for line in lines]) == (0, ["draining", "stopped"])


def test_a_worker_that_keeps_dying_is_started_ever_later_and_a_drain_does_not_wait_for_it(run: Any) -> None:
    server = run("listen", "listen crash")
    pids = server.pids()
    os.kill(pids[2], signal.SIGKILL)
    ends = [server.next("worker ended") for _ in range(4)]
    assert [end.get("signal") or end["exit_code"] for end in ends] == ["SIGKILL", 7, 7, 7]
    assert [end["restart_in_seconds"] for end in ends] == [0.25, 0.5, 1, 2]
    server.process.terminate()
    assert server.ended()[0] == 0


@pytest.mark.parametrize("orders", [("refuse", "refuse"), ("refuse", "stay"), ("listen", "refuse")])
def test_settings_that_workers_cannot_use_end_the_server_with_one_line(run: Any, orders: tuple[str, str]) -> None:
    code, lines = run(*orders).ended()
    plain_lines = [line for line in lines if not line.startswith("{")]
    assert (code, plain_lines) == (2, ["groundwire serve: data: these: cannot be used\n"])
    assert {json.loads(line)["event"] for line in lines if line not in plain_lines} <= {"worker listening"}


def test_settings_that_a_restarted_worker_cannot_use_end_the_server_too(run: Any) -> None:
    server = run("listen", "listen refuse")
    pids = server.pids()
    server.next("listening")
    os.kill(pids[2], signal.SIGKILL)
    code, lines = server.ended()
    assert (code, lines[-1]) == (2, "groundwire serve: data: these: cannot be used\n")
    assert not alive(pids[1])


def test_a_server_that_was_never_ready_ends_with_the_worker_that_broke(run: Any) -> None:
    code, lines = run("crash", "stay").ended()
    (end,) = map(json.loads, lines)
    assert (code, end["event"], end["worker"], end["exit_code"]) == (7, "worker ended", 1, 7)


def test_a_signal_during_the_start_ends_it(run: Any) -> None:
    server = run("listen", "stay")
    server.next("worker listening")
    server.process.send_signal(signal.SIGINT)
    assert server.next("draining")["signal"] == "SIGINT"
    assert server.ended()[0] == 0


def test_a_second_signal_ends_workers_that_take_no_notice(run: Any) -> None:
    server = run("listen", "deaf")
    pids = server.pids()
    server.next("listening")
    server.process.terminate()
    server.next("draining")
    await_true(lambda: not alive(pids[1]))
    server.process.send_signal(signal.SIGINT)
    code, lines = server.ended()
    assert code == 128 + signal.SIGINT
    ended, stopped = map(json.loads, lines)
    assert (ended["worker"], ended["signal"]) == (2, "SIGKILL")
    assert stopped["cut_short"] is True
    assert not any(map(alive, pids.values()))


def test_a_system_that_does_not_spread_connections_is_refused() -> None:
    done = programs.run("supervise_elsewhere")
    assert (done.returncode, done.stderr) == (
        2,
        "groundwire serve: workers: 3: needs Linux, where SO_REUSEPORT spreads connections over processes; give 1\n",
    )


def test_a_worker_that_lived_for_a_while_is_started_at_once() -> None:
    delay = RestartDelay()
    assert [delay.after(YOUNG_SECONDS), delay.after(3_600)] == [0, 0]


def test_a_worker_that_dies_young_again_and_again_waits_twice_as_long_each_time_up_to_a_bound() -> None:
    delay = RestartDelay()
    delays = [delay.after(1) for _ in range(12)]
    assert delays[:4] == [FIRST_DELAY_SECONDS * 2**power for power in range(4)]
    assert delays[-2:] == [MAX_DELAY_SECONDS, MAX_DELAY_SECONDS]


def test_a_longer_life_makes_up_for_the_short_ones_before_it() -> None:
    delay = RestartDelay()
    for _ in range(3):
        delay.after(1)
    assert delay.after(YOUNG_SECONDS) == 0
    assert delay.after(1) == FIRST_DELAY_SECONDS
