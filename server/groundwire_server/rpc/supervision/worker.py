"""One worker: `python -m groundwire_server.rpc.supervision.worker DESCRIPTOR`, as the supervisor starts it."""

import os
import signal
import sys
import threading
from multiprocessing.connection import Connection

from groundwire_server.config import SettingsError
from groundwire_server.rpc.serving.exit_codes import EXIT_CANNOT_START, EXIT_DRAINED
from groundwire_server.rpc.serving.serve import serve_indexes
from groundwire_server.rpc.supervision.worker_process import Assignment, CannotStart, Listening


def main(descriptor: int) -> int:
    """Serves as the supervisor's messages say, and returns the exit code."""
    pipe: Connection[Listening | CannotStart, Assignment] = Connection(descriptor)
    try:
        assignment = pipe.recv()
    except EOFError:
        return EXIT_DRAINED  # the supervisor is gone, and nothing was begun
    threading.Thread(target=_drain_when_alone, args=(pipe,), name="groundwire-supervisor", daemon=True).start()
    try:
        return serve_indexes(
            assignment.settings, lambda _: pipe.send(Listening()), assignment.number, assignment.metrics
        )
    except SettingsError as error:
        pipe.send(CannotStart(str(error)))
        return EXIT_CANNOT_START


def _drain_when_alone(pipe: "Connection[Listening | CannotStart, Assignment]") -> None:
    """Ends this process as a signal would once the supervisor is gone, however it went: it says nothing more."""
    try:
        pipe.recv()
    except (EOFError, ConnectionResetError):
        os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
