"""Calls of an admission that has a fake clock."""

from collections.abc import Callable
from contextlib import ExitStack

from groundwire_server.rpc.admission.admission import Admission
from groundwire_server.rpc.admission.method_queue import QueuedCall

NEVER = 1e9


class Clock:
    """A clock that goes on when told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Calls:
    """An admission, and the calls that are under way."""

    def __init__(self, clock: Callable[[], float], stack: ExitStack, waiting: int = 50, threads: int = 1) -> None:
        self.admission = Admission(waiting, clock, threads)
        self._stack = stack

    def come(self, method: str = "A", deadline: float = NEVER) -> tuple[QueuedCall, bool]:
        """A new call, and whether it begins at once. Raises LimitError."""
        call = QueuedCall(method, deadline)
        with ExitStack() as refused:
            refused.enter_context(self.admission.under_way(call))
            runs = self.admission.enter(call)
            self._stack.push(refused.pop_all())
        return call, runs

    def several(self, count: int, method: str = "A", deadline: float = NEVER) -> list[QueuedCall]:
        return [self.come(method, deadline)[0] for _ in range(count)]
