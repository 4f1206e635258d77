"""Jobs for processes of a build, where those can import them."""

import fcntl
import os
import re
import signal
import time
from pathlib import Path
from threading import Event

from groundwire_ingest.processes import Advance


def double(number: int, advance: Advance) -> int:
    advance(number)
    return 2 * number


def fail(message: str, advance: Advance) -> None:
    raise ValueError(message)


def die(advance: Advance) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def hold(path: Path, advance: Advance) -> None:
    """Locks a file for as long as the process lives."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        path.with_suffix(".held").touch()
        time.sleep(600)


def do(task: str) -> str:
    """The task in capitals; some tasks raise, take memory, run or wait for ever."""
    match task:
        case "raise":
            raise ValueError("torn")
        case "fill memory":
            return str(len(bytearray(2 << 30)))
        case "search for ever":
            re.match("(a|a)*b", "a" * 64)
        case "wait for ever":
            Event().wait()
    return task.upper()


def hold_locked(path: Path) -> None:
    """Locks a file for as long as the process lives, as a task."""
    hold(path, lambda _: None)


def die_once(marker: Path) -> str:
    """Ends the process, unless `marker` says that one has been ended already."""
    if not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return "alive"


def process_id(_: str) -> int:
    """The process that does the task."""
    return os.getpid()
