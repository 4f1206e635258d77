"""How `groundwire serve` ends, with one process or with several."""

import signal
import sys

from groundwire_server.config import SettingsError

EXIT_DRAINED = 0
EXIT_CANNOT_START = 2
EXIT_SIGNAL_BASE = 128


def cannot_start(error: SettingsError) -> int:
    """Writes to stderr which settings cannot be used, and returns the exit code for it."""
    sys.stderr.write(f"groundwire serve: {error}\n")
    return EXIT_CANNOT_START


def exit_code(second_signal: signal.Signals | None) -> int:
    """The exit code of a server that was signalled to end, once or twice."""
    return EXIT_DRAINED if second_signal is None else EXIT_SIGNAL_BASE + second_signal
