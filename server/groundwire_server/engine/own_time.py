"""How long a call's own work takes, which may be shown to its caller."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from groundwire_server.execution.observation import stage


class OwnTime:
    """Adds up processor time that a call's own work takes, in milliseconds.

    The time must not depend on calls of others, so opening an index, embedding a query and waiting are left out.
    """

    def __init__(self, milliseconds: float = 0.0) -> None:
        """`milliseconds` were measured before."""
        self.milliseconds = milliseconds

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Adds the time while the context is open, and reports it as a stage to the call's observer."""
        start = time.thread_time()
        with stage(name):
            yield
        self.milliseconds += (time.thread_time() - start) * 1000.0
