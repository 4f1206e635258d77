"""Jobs for processes of a build, where those can import them."""

import fcntl
import os
import signal
import time
from pathlib import Path

from groundwire_ingest.build.processes import Advance


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
