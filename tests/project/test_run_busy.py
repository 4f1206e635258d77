"""The command that runs tests on a busy machine counts failures and leaves no process behind."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from project.tools import ROOT
from support.patience import PATIENCE_SECONDS, await_true

COMMAND = (sys.executable, "-W", "error", str(ROOT / "tests" / "run_busy.py"), "--busy", "2")


def children(pid: int) -> list[int]:
    """The processes that a process has started."""
    return list(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()))


def alive(pid: int) -> bool:
    """Whether a process runs; one that nobody has waited for may be left as a name."""
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except FileNotFoundError:
        return False


def test_it_tells_which_runs_failed(tmp_path: Path) -> None:
    once = f"test -e {tmp_path}/ran || {{ touch {tmp_path}/ran; exit 3; }}"
    done = subprocess.run(
        [*COMMAND, "--runs", "3", "--", "sh", "-c", once], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (1, "")
    codes = [line.partition(" after ")[0] for line in done.stdout.splitlines()[:-1]]
    assert codes == ["run 1 of 3: exit code 3", "run 2 of 3: exit code 0", "run 3 of 3: exit code 0"]
    assert done.stdout.splitlines()[-1] == "1 of 3 runs failed beside 2 busy processes: [1]"
    assert subprocess.run([*COMMAND, "--runs", "1", "--", "true"], capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_whatever_ends_it_ends_the_busy_processes(tmp_path: Path, number: signal.Signals) -> None:
    command = f"echo $$ > {tmp_path}/command; exec sleep 600"
    with subprocess.Popen([*COMMAND, "--runs", "1", "--", "sh", "-c", command], stderr=subprocess.DEVNULL) as runner:
        await_true(lambda: (tmp_path / "command").exists() and len(children(runner.pid)) >= 3)
        started = children(runner.pid)
        runner.send_signal(number)
        assert runner.wait(PATIENCE_SECONDS) != 0
    if number is signal.SIGKILL:  # which leaves the command no chance
        os.kill(int((tmp_path / "command").read_text(encoding="ascii")), signal.SIGKILL)
    await_true(lambda: not any(map(alive, started)), lambda: started)
