"""The calls of one method: the accepted ones, the waiting ones, and the time that calls take."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from groundwire_server.domain.errors import GroundwireError
from groundwire_server.rpc.admission.service_time import ServiceTime

_ENOUGH_SERVED = 8


@dataclass(slots=True, eq=False)
class QueuedCall:
    """A call as admission knows it. Times are seconds of the admission's clock.

    `work` is the part that a thread computes next. With a `refusal` the call ends with that error instead of its work.
    `spent` is the time of all parts of the call so far, on any thread; `began` is when a thread took the first one.
    """

    method: str
    deadline: float
    work: Callable[[], None] | None = None
    entered: float = 0.0
    served_before: int = 0
    spent: float = 0.0
    began: float | None = None
    refusal: GroundwireError | None = None

    def compute(self) -> None:
        """Does the work and drops the reference to it."""
        work, self.work = self.work, None
        assert work is not None
        work()


@dataclass(slots=True, eq=False)
class MethodQueue:
    """The calls of one method, for a number of threads, first come first served.

    `under_way` counts the accepted calls, `served` those that a thread has begun. `last_served` orders methods by the
    last time that one of their calls began. `service_time` is the time of a call's parts. `time_to_end` is the time
    from a call's begin to its end, including parts of other calls between its own.
    """

    under_way: int = 0
    served: int = 0
    last_served: int = 0
    waiting: OrderedDict[QueuedCall, None] = field(default_factory=OrderedDict[QueuedCall, None])
    service_time: ServiceTime = field(default_factory=ServiceTime)
    time_to_end: ServiceTime = field(default_factory=ServiceTime)
    threads: int = 1

    @property
    def running(self) -> int:
        """The number of accepted calls that do not wait to begin."""
        return self.under_way - len(self.waiting)

    @property
    def most_seconds(self) -> float:
        """The seconds within which nearly every call ends after its begin; 0 while unknown.

        It is at least the time of the work: calls with only short parts needed no thread, and do not count in
        `time_to_end`.
        """
        return max(self.service_time.most, self.time_to_end.most)

    def wait_seconds(self, now: float) -> float | None:
        """The seconds that a new call would wait behind the waiting ones; None while unknown."""
        mean = self.service_time.mean
        return None if mean is None else (len(self.waiting) + 1) * self._seconds_each(now, mean / self.threads)

    def in_time(self, now: float, seconds_left: float) -> bool:
        """True if a new call that must wait will likely be done within `seconds_left`."""
        wait = self.wait_seconds(now)
        return wait is None or wait + self.most_seconds <= seconds_left

    def _seconds_each(self, now: float, least: float) -> float:
        """Seconds from one call to the next, as the first call in the queue has seen them, if it has seen enough.

        Before that, it is at least the average time of a call. That average does not include other methods, nor a
        machine that became slower a moment ago.
        """
        if not self.waiting:
            return least
        first = next(iter(self.waiting))
        served = self.served - first.served_before
        seen = (now - first.entered) / (served + 1)
        return seen if served >= _ENOUGH_SERVED else max(seen, least)
