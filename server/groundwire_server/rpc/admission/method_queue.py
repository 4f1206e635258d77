"""The calls of one method: how many run, which wait, how long they take."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from groundwire_server.domain.errors import GroundwireError
from groundwire_server.rpc.admission.service_time import ServiceTime

_ENOUGH_SERVED = 8


@dataclass(slots=True, eq=False)
class Turn:
    """A call's turn on a worker thread. `deadline`, `entered` and `began` are seconds of the admission's clock.

    Its thread calls `attempt` with the turn itself. With a `refusal` the call is not worth its work any more, and ends
    with that error. What `attempt` returns tells the outcome to whoever waits for it; the turn is over before that.
    `cut_short` says that the work ended at its deadline or because nobody waited any more.
    """

    method: str
    deadline: float
    attempt: Callable[["Turn"], Callable[[], None]]
    entered: float = 0.0
    served_before: int = 0
    began: float = 0.0
    refusal: GroundwireError | None = None
    cut_short: bool = False


@dataclass(slots=True, eq=False)
class MethodQueue:
    """The turns of one method, first come first served.

    `served` is how many have come so far; `last_served` orders methods by when one of theirs last did.
    """

    running: int = 0
    served: int = 0
    last_served: int = 0
    waiting: OrderedDict[Turn, None] = field(default_factory=OrderedDict[Turn, None])
    service_time: ServiceTime = field(default_factory=ServiceTime)

    def wait_seconds(self, now: float) -> float | None:
        """How long a call that comes now would wait, behind those that do; None while that is not known."""
        mean = self.service_time.mean
        if mean is None:
            return None
        return (len(self.waiting) + 1) * self._seconds_each(now, mean / max(1, self.running))

    def in_time(self, now: float, seconds_left: float) -> bool:
        """Whether a call that comes now and has to wait will likely be done within `seconds_left`."""
        wait = self.wait_seconds(now)
        return wait is None or wait + self.service_time.most <= seconds_left

    def _seconds_each(self, now: float, expected: float) -> float:
        """Seconds from one turn to the next: what the first in the queue has lived to see, once that is enough.

        Before, it is what is `expected` of calls that take their mean, as many side by side as now. That knows
        nothing of threads that go to other methods, nor of a machine that became slower a moment ago.
        """
        if not self.waiting:
            return expected
        first = next(iter(self.waiting))
        served = self.served - first.served_before
        seen = (now - first.entered) / (served + 1)
        return seen if served >= _ENOUGH_SERVED else max(seen, expected)
