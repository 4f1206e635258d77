"""The `groundwire` program, and what Ctrl-C does to it.

Nothing but the standard library is imported here, so that Ctrl-C works while the commands are loaded.
"""

import os
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType

INTERRUPTED = 130
"""The exit status of a program that Ctrl-C ended, as shells have it."""
_SECONDS_TO_TIDY_UP = 3.0
_SECONDS_OF_IMPORT = 0.02
_interrupted = threading.Event()


def main() -> None:
    """Runs the command line.

    Ctrl-C ends it without a traceback. While commands are loaded, and after one has ended, the system ends the process.
    A command in between is interrupted, tidies up for three seconds at most, and ends with the exit status 130, or with
    0 if it goes on until Ctrl-C. `serve` handles the signal by itself, as it handles SIGTERM. Where SIGINT is ignored,
    as by `nohup`, it stays ignored.
    """
    is_handled = signal.getsignal(signal.SIGINT) is not signal.SIG_IGN
    if is_handled:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from groundwire_cli.command_line import commands

    app = commands(sys.argv[1] if len(sys.argv) > 1 else "")
    try:
        if is_handled:
            signal.signal(signal.SIGINT, _interrupt)
        app()
    except BaseException as ending:
        # Some commands go on until Ctrl-C, which is no failure of theirs. Others end by an exception.
        is_done = isinstance(ending, SystemExit) and not ending.code
        if is_done or not _interrupted.is_set():
            raise
        sys.exit(INTERRUPTED)
    finally:
        if is_handled:
            signal.signal(signal.SIGINT, signal.SIG_DFL)


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Interrupts the command. A second Ctrl-C ends the process, and so does time.

    A library may catch the interruption, or a thread may wait for input that does not come. The tasks of an event loop
    are cancelled: an exception that is raised in the loop would reach any of them, and asyncio would print it.
    """
    if not _interrupted.is_set():
        _interrupted.set()
        _start(_SECONDS_TO_TIDY_UP, lambda: os._exit(INTERRUPTED))
    if _imports(frame):
        # Python would print an exception that is raised in its own functions for imports.
        _start(_SECONDS_OF_IMPORT, lambda: signal.raise_signal(signal.SIGINT))
        return
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if not _cancelled_tasks():
        raise KeyboardInterrupt


def _start(seconds: float, action: Callable[[], None]) -> None:
    """Does something after some seconds, if the process is still there."""
    timer = threading.Timer(seconds, action)
    timer.daemon = True
    timer.start()


def _imports(frame: FrameType | None) -> bool:
    """True if the frame belongs to the import of a module."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def _cancelled_tasks() -> bool:
    """Cancels the tasks of the event loop that runs in this thread; False if there is none.

    What libraries would log of the tasks is of no use to a person.
    """
    asyncio, logging = sys.modules.get("asyncio"), sys.modules.get("logging")
    if asyncio is None:
        return False
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return False
    if logging is not None:
        logging.disable()
    for task in asyncio.all_tasks(loop):
        loop.call_soon_threadsafe(task.cancel)
    return True
