"""Stands in for a worker: it obeys `<data>/orders.json` instead of serving, and loads in an instant.

Orders are a list for each worker's number, one order a life, the last for all lives that follow: `listen`, `stay` (and
never listen), `refuse`, `crash`, `deaf` (listen, and take no notice of SIGTERM).
"""

import json
import os
import signal
import sys
import time
from multiprocessing.connection import Connection

from groundwire_server.rpc.supervision.worker_process import CannotStart, Listening

_LIFE_SECONDS = 600


def main(descriptor: int) -> int:
    pipe = Connection(descriptor)
    assignment = pipe.recv()
    data, number = assignment.settings.data, assignment.number
    lives = data / f"lives-{number}"
    life = int(lives.read_text()) if lives.exists() else 0
    lives.write_text(str(life + 1))
    (data / f"settings-{number}").write_text(repr(assignment.settings))
    orders = json.loads((data / "orders.json").read_text())[str(number)]
    order = orders[min(life, len(orders) - 1)]
    # Blocked from here on, so that a signal between the message and the wait for it is not lost.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    if order == "crash":
        os._exit(7)
    if order == "refuse":
        pipe.send(CannotStart("data: these: cannot be used"))
        return 2
    if order != "stay":
        pipe.send(Listening())
    if order == "deaf":
        time.sleep(_LIFE_SECONDS)
    signal.sigtimedwait({signal.SIGTERM}, _LIFE_SECONDS)
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
