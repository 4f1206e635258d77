"""How long the stages of a query take."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from groundwire_server.domain.observation import stage
from groundwire_server.domain.query_result import StageTime


class StageTimer:
    """Collects the times of stages in the order they ran."""

    def __init__(self) -> None:
        self._took: list[StageTime] = []

    @property
    def took(self) -> tuple[StageTime, ...]:
        """The stages that have ended."""
        return tuple(self._took)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Times what runs while the context is open, and tells the call's observer of it."""
        start = time.perf_counter()
        with stage(name):
            yield
        self._took.append(StageTime(name, (time.perf_counter() - start) * 1000.0))
