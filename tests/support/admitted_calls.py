"""Calls of a queue that has a fake clock."""

from contextlib import ExitStack, suppress

from groundwire_server.domain.errors import DeadlineError
from groundwire_server.rpc.admission.call_queue import KNOWN_AFTER, CallQueue, QueuedCall

NEVER = 1e9


class Clock:
    """A clock that goes on when told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Calls:
    """A queue, and the calls that it has accepted, until each has ended."""

    def __init__(self, clock: Clock, stack: ExitStack, waiting: int = 50, places: int = 1) -> None:
        self.queue = CallQueue(waiting, places, clock)
        self._clock = clock
        self._accepted = dict[QueuedCall, ExitStack]()
        self._stack = stack

    def come(self, method: str = "A", deadline: float = NEVER, subject: str = "") -> tuple[QueuedCall, bool]:
        """A new call that must compute, and whether it does at once. Raises LimitError."""
        call, accepted = QueuedCall(method, subject, deadline), ExitStack()
        accepted.enter_context(self.queue.accepted(call))
        self._accepted[call] = self._stack.enter_context(accepted)
        return call, self.queue.enter(call) is call

    def several(self, count: int, method: str = "A", deadline: float = NEVER, subject: str = "") -> list[QueuedCall]:
        return [self.come(method, deadline, subject)[0] for _ in range(count)]

    def serve(self, call: QueuedCall, seconds: float = 0.0) -> QueuedCall | None:
        """The call computes for `seconds` and ends. Returns the one that computes next."""
        self._clock.now += seconds
        following = self.queue.turn_over(call)
        self.give_up(call)
        return following

    def give_up(self, call: QueuedCall, error: BaseException | None = None) -> None:
        """The call ends, by an error if there is one."""
        with suppress(DeadlineError), self._accepted.pop(call):
            if error is not None:
                raise error

    def learn(self, seconds: float, method: str = "A", subject: str = "") -> QueuedCall:
        """Lets calls of a line end after `seconds` each. Returns one that computes now, and keeps the line known."""
        call, *waiting = self.several(KNOWN_AFTER + 1, method, subject=subject)
        for following in waiting:
            assert self.serve(call, seconds) is following
            call = following
        return call
