"""How long a call's own work takes, which may be shown to its caller."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from groundwire_server.domain.observation import stage


class OwnTime:
    """Adds up processor time of the call's thread, in milliseconds.

    What is added must not depend on what other callers have asked, so opening an index and embedding a query are left
    out, and so is waiting.
    """

    def __init__(self) -> None:
        self.milliseconds = 0.0

    def add(self, milliseconds: float) -> None:
        """Adds what was measured elsewhere."""
        self.milliseconds += milliseconds

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Adds what runs while the context is open, a stage of which the call's observer is told."""
        start = time.thread_time()
        with stage(name):
            yield
        self.add((time.thread_time() - start) * 1000.0)
