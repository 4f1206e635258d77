"""Which call may use a worker thread now, which waits, and which is refused."""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from groundwire_server.domain.errors import DeadlineError
from groundwire_server.rpc.admission.method_queue import MethodQueue, Turn
from groundwire_server.rpc.admission.refusals import Refusals


@dataclass(frozen=True, slots=True)
class AdmissionBounds:
    """How much work is taken on: by all methods together, and by each of them."""

    worker_threads: int
    max_running: int
    max_waiting: int


@dataclass(frozen=True, slots=True)
class MethodLoad:
    """The calls of one method that run and that wait."""

    running: int
    waiting: int


class Admission:
    """Deals a number of threads out to calls.

    - At most `max_running` calls of a method run, so that a flood of one leaves threads to the others, and at most
      `max_waiting` of it wait, first come first served.
    - A thread that gets free goes to the waiting method of which the fewest calls run, among equals to the one that
      has gone without for longest. So no method starves.
    - A call that has to wait is refused at once when it would likely miss its deadline, and when its turn comes and
      too little time is left after all. One that finds a thread free is always let try.

    Thread-safe: threads take their next turn here themselves, without a detour over the event loop, which is at its
    slowest when there is most to do. Nothing here blocks for longer than it takes to look at the methods.
    """

    def __init__(self, bounds: AdmissionBounds, clock: Callable[[], float] = time.monotonic) -> None:
        self._bounds = bounds
        self._clock = clock
        self._refusals = Refusals()
        self._methods: dict[str, MethodQueue] = {}
        self._free = bounds.worker_threads
        self._served = 0
        self._lock = threading.Lock()

    def enter(self, turn: Turn) -> bool:
        """True when the turn has come, and a thread must take it; False when it waits. Raises LimitError."""
        with self._lock:
            queue = self._methods.setdefault(turn.method, MethodQueue())
            now = self._clock()
            if self._has_thread(queue):
                self._begin(queue, turn, now)
                return True
            self._check_queue(turn.method, queue, now, turn.deadline - now)
            turn.entered, turn.served_before = now, queue.served
            queue.waiting[turn] = None
            return False

    def check(self, method: str, seconds_left: float) -> None:
        """Raises LimitError when `enter` would refuse a call now that must be done in so many seconds."""
        with self._lock:
            queue = self._methods.get(method)
            if queue is not None and not self._has_thread(queue):
                self._check_queue(method, queue, self._clock(), seconds_left)

    def leave(self, turn: Turn) -> bool:
        """Gives a waiting turn up; False when it waits no longer, and so may run."""
        with self._lock:
            waiting = self._methods[turn.method].waiting
            if turn not in waiting:
                return False
            del waiting[turn]
            return True

    def finish(self, turn: Turn) -> Turn | None:
        """The turn is over; returns the one that its thread must take next, if any."""
        with self._lock:
            now = self._clock()
            queue = self._methods[turn.method]
            queue.running -= 1
            self._free += 1
            if turn.cut_short and turn.refusal is None:
                queue.service_time.add_at_least(now - turn.began)
            elif turn.refusal is None:
                queue.service_time.add(now - turn.began)
            return self._next(now)

    def loads(self) -> Mapping[str, MethodLoad]:
        """The load of every method that has been called."""
        with self._lock:
            return {method: MethodLoad(queue.running, len(queue.waiting)) for method, queue in self._methods.items()}

    def _has_thread(self, queue: MethodQueue) -> bool:
        """No call of a method waits while this holds for it."""
        return self._free > 0 and queue.running < self._bounds.max_running

    def _check_queue(self, method: str, queue: MethodQueue, now: float, seconds_left: float) -> None:
        if len(queue.waiting) >= self._bounds.max_waiting:
            raise self._refusals.full(method, queue, now)
        if not queue.in_time(now, seconds_left):
            raise self._refusals.too_late(method, queue, now)

    def _next(self, now: float) -> Turn | None:
        able = [queue for queue in self._methods.values() if queue.waiting and queue.running < self._bounds.max_running]
        if not able:
            return None
        queue = min(able, key=lambda queue: (queue.running, queue.last_served))
        turn, _ = queue.waiting.popitem(last=False)
        if now >= turn.deadline:
            turn.refusal = DeadlineError()
        elif now + queue.service_time.most > turn.deadline:
            turn.refusal = self._refusals.too_late(turn.method, queue, now)
        self._begin(queue, turn, now)
        return turn

    def _begin(self, queue: MethodQueue, turn: Turn, now: float) -> None:
        self._free -= 1
        self._served += 1
        queue.running += 1
        queue.served += turn.refusal is None
        queue.last_served = self._served
        turn.began = now
