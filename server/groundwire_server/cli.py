"""The `groundwire` program, and what Ctrl-C does to it.

Nothing but the standard library is imported here, so that Ctrl-C works while the commands are loaded.
"""

import os
import signal
import sys
import threading

INTERRUPTED = 130
"""The exit status of a program that Ctrl-C ended, as shells have it."""
_SECONDS_TO_TIDY_UP = 3.0


def main() -> None:
    """Runs the command line.

    Ctrl-C ends it without a traceback. While commands are loaded, and after one has ended, the system ends the process.
    A command in between is interrupted, tidies up for three seconds at most, and ends with the exit status 130. `serve`
    handles the signal by itself, as it handles SIGTERM. Where SIGINT is ignored, as by `nohup`, it stays ignored.
    """
    is_handled = signal.getsignal(signal.SIGINT) is not signal.SIG_IGN
    if is_handled:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from groundwire_server.command_line import commands

    app = commands(sys.argv[1] if len(sys.argv) > 1 else "")
    try:
        if is_handled:
            signal.signal(signal.SIGINT, _interrupt)
        app()
    except KeyboardInterrupt:  # between typer's own handlers
        sys.exit(INTERRUPTED)
    finally:
        if is_handled:
            signal.signal(signal.SIGINT, signal.SIG_DFL)


def _interrupt(number: int, frame: object) -> None:
    """Interrupts the command. A second Ctrl-C ends the process, and so does time.

    A library may catch the interruption, or a thread may wait for input that does not come.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    watchdog = threading.Timer(_SECONDS_TO_TIDY_UP, os._exit, (INTERRUPTED,))
    watchdog.daemon = True
    watchdog.start()
    raise KeyboardInterrupt
