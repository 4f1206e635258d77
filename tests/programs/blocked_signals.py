"""Prints whether SIGINT is blocked in the processes that a build starts, and then in the one that started them."""

import signal

from groundwire_ingest.processes import Advance, runner
from groundwire_ingest.workers import Workers


def is_blocked(_: object) -> bool:
    """True where this process never gets SIGINT."""
    return signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, set())


def is_blocked_in_job(advance: Advance) -> bool:
    """The same as a job."""
    return is_blocked(advance)


if __name__ == "__main__":
    with Workers("groundwire_ingest.ingest_errors") as workers:
        print("workers", *workers.map(is_blocked, [1, 2], lambda task: 1))
    with runner(2) as jobs:
        print("jobs", *jobs.run([is_blocked_in_job, is_blocked_in_job], lambda done: None))
    print("here", is_blocked(None))
