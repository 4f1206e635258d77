"""Stands in for a worker: it obeys `<data>/orders.json` instead of serving, and loads in an instant.

Orders are a list for each worker's number, one order a life, the last for all lives that follow: `listen`, `stay` (and
never listen), `refuse`, `crash`, `deaf` (listen, and take no notice of SIGTERM).
"""

import json
import os
import signal
import sys
import threading
from multiprocessing.connection import Connection

from groundwire_server.rpc.supervision.worker_process import CannotStart, Listening


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
    told_to_end = threading.Event()
    signal.signal(signal.SIGTERM, signal.SIG_IGN if order == "deaf" else lambda *_: told_to_end.set())
    if order == "crash":
        os._exit(7)
    if order == "refuse":
        pipe.send(CannotStart("data: these: cannot be used"))
        return 2
    if order != "stay":
        pipe.send(Listening())
    told_to_end.wait(600)
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
