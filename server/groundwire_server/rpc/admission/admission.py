"""Accepts and refuses calls by load, and decides which part of a call runs next on the compute thread."""

import asyncio
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from groundwire_server.domain.errors import CancelledError, DeadlineError
from groundwire_server.rpc.admission.method_queue import MethodQueue, QueuedCall
from groundwire_server.rpc.admission.refusals import Refusals


@dataclass(frozen=True, slots=True)
class MethodLoad:
    """The accepted calls of one method: `waiting` ones have not begun on the compute thread; others are running."""

    running: int
    waiting: int


class Admission:
    """Accepts calls, and orders their parts on one thread or on several.

    - Of each method, one call may run and `max_waiting` others may be accepted; the next is refused.
    - A thread first takes parts of calls that have begun. Then it takes a call of the waiting method that was served
      least recently; calls of one method are served in their order. So no method starves.
    - A call that must wait is refused at once if it would likely miss its deadline. It is also refused if too little
      time is left when a thread takes it. A call that finds an idle thread is never refused for its deadline.

    Thread-safe: a thread takes its next part here directly, without the event loop, which is slowest under load. No
    method blocks for longer than one look at all methods takes.
    """

    def __init__(self, max_waiting: int, clock: Callable[[], float] = time.monotonic, threads: int = 1) -> None:
        self._max_waiting = max_waiting
        self._threads = threads
        self._clock = clock
        self._refusals = Refusals()
        self._methods: dict[str, MethodQueue] = {}
        self._begun: OrderedDict[QueuedCall, None] = OrderedDict()
        self._idle = threads
        self._served = 0
        self._lock = threading.Lock()

    @contextmanager
    def under_way(self, call: QueuedCall) -> Iterator[None]:
        """Counts the call as accepted while the context is open. Raises LimitError when its method has too many."""
        with self._lock:
            queue = self._methods.setdefault(call.method, MethodQueue(threads=self._threads))
            self._check_room(call.method, queue, self._clock())
            queue.under_way += 1
        is_cut_short = False
        try:
            yield
        except (DeadlineError, CancelledError, asyncio.CancelledError):
            is_cut_short = True
            raise
        finally:
            with self._lock:
                queue.under_way -= 1
                if call.spent:
                    queue.service_time.add(call.spent, at_least=is_cut_short)
                    if call.began is not None:
                        queue.time_to_end.add(self._clock() - call.began, at_least=is_cut_short)

    def check(self, method: str, seconds_left: float) -> None:
        """Raises LimitError if a call that must end within this number of seconds would be refused now."""
        with self._lock:
            queue = self._methods.get(method)
            if queue is not None:
                now = self._clock()
                self._check_room(method, queue, now)
                if not self._idle:
                    self._check_deadline(method, queue, now, seconds_left)

    def enter(self, call: QueuedCall) -> bool:
        """True when an idle thread must compute its part; False when it waits. Raises LimitError.

        The call must be under way.
        """
        with self._lock:
            queue, now = self._methods[call.method], self._clock()
            if self._idle:
                self._idle -= 1
                self._begin(queue, call)
                return True
            if call.began is not None:
                self._begun[call] = None
                return False
            self._check_deadline(call.method, queue, now, call.deadline - now)
            call.entered, call.served_before = now, queue.served
            queue.waiting[call] = None
            return False

    def leave(self, call: QueuedCall) -> None:
        """Removes a call from the queue if it still waits."""
        with self._lock:
            self._methods[call.method].waiting.pop(call, None)
            self._begun.pop(call, None)

    def next(self) -> QueuedCall | None:
        """The call whose part an idle thread computes next; None when none waits."""
        with self._lock:
            call = self._next(besides=None)
            self._idle += call is None
            return call

    def next_besides(self, method: str | None) -> QueuedCall | None:
        """The call whose part a thread computes on top of a long one, not of `method`; None when none waits."""
        with self._lock:
            return self._next(method)

    def loads(self) -> Mapping[str, MethodLoad]:
        """The load of every method that has been called."""
        with self._lock:
            return {method: MethodLoad(queue.running, len(queue.waiting)) for method, queue in self._methods.items()}

    def _check_room(self, method: str, queue: MethodQueue, now: float) -> None:
        if queue.under_way > self._max_waiting:
            raise self._refusals.full(method, queue, now)

    def _check_deadline(self, method: str, queue: MethodQueue, now: float, seconds_left: float) -> None:
        if not queue.in_time(now, seconds_left):
            raise self._refusals.too_late(method, queue, now)

    def _next(self, besides: str | None) -> QueuedCall | None:
        begun = next((call for call in self._begun if call.method != besides), None)
        if begun is not None:
            del self._begun[begun]
            return begun
        waiting = [queue for method, queue in self._methods.items() if queue.waiting and method != besides]
        if not waiting:
            return None
        queue, now = min(waiting, key=lambda queue: queue.last_served), self._clock()
        call, _ = queue.waiting.popitem(last=False)
        if now >= call.deadline:
            call.refusal = DeadlineError()
        elif now + queue.most_seconds > call.deadline:
            call.refusal = self._refusals.too_late(call.method, queue, now)
        self._begin(queue, call)
        return call

    def _begin(self, queue: MethodQueue, call: QueuedCall) -> None:
        if call.began is None:
            call.began = self._clock()
            self._served += 1
            queue.served += call.refusal is None
            queue.last_served = self._served
