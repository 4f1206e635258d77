"""A call under way: its deadline, and where each of its parts computes or waits."""

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from math import inf
from typing import NoReturn, TypeVar

from groundwire_server.domain.errors import CancelledError, DeadlineError
from groundwire_server.execution.observation import observer
from groundwire_server.rpc.admission.admission import Admission
from groundwire_server.rpc.admission.method_queue import QueuedCall
from groundwire_server.rpc.admission.service_time import ServiceTime
from groundwire_server.rpc.answers import Answer

Result = TypeVar("Result")

SHORT_SECONDS = 0.0025
"""A part that nearly always takes less of the processor runs on the event loop."""
SECONDS_ON_LOOP = 0.005
"""A part that was expected to be short leaves the event loop after this time."""
SECONDS_BEFORE_OTHERS = 0.01
"""After this time a part on the compute thread lets waiting parts compute for the same time."""
SECONDS_BEFORE_OWN = 1.0
"""After this time it does so for its own method too, whose calls end sooner one after another than in parallel."""
MOST_NESTED = 4
"""The most parts that may run on the compute thread on top of another."""
_MOST_THAT_WAIT = 4
_MOST_AT_MODELS = 32  # the number of queries that are embedded together


class TakesLong(BaseException):
    """Stops a part that takes too long for the event loop. Not an error: only the runner of parts catches it."""


class Threads:
    """The threads that run parts of calls outside the event loop: some compute, some wait.

    With a single computing thread, short parts run on the event loop, and a long part is interrupted: at its
    checkpoints, waiting parts run on top of it. With several computing threads, parts wait for other machines and must
    not block the event loop; the interpreter shares the processor.
    """

    def __init__(self, admission: Admission, computing: int = 1) -> None:
        self.admission = admission
        self.is_single = computing == 1
        self.waiting = ThreadPoolExecutor(_MOST_THAT_WAIT, thread_name_prefix="groundwire-wait")
        self.models = ThreadPoolExecutor(_MOST_AT_MODELS, thread_name_prefix="groundwire-model")
        self.times: dict[tuple[str, int], ServiceTime] = defaultdict(ServiceTime)
        """The processor time of each method's parts: first parts, second ones and so on are counted apart."""
        self._computing = ThreadPoolExecutor(computing, thread_name_prefix="groundwire-compute")
        self._nested = 0

    def enter(self, call: QueuedCall) -> None:
        """Queues the call's part for a free thread. Raises LimitError when that would be too late."""
        if self.admission.enter(call):
            self._computing.submit(self._compute, call)

    def give_way(self, method: str, began: float) -> float:
        """Computes parts that wait on top of one that began then; returns when to do so again.

        Until then it may compute for at least the time that they took.
        """
        now = time.monotonic()
        if self._nested < MOST_NESTED:
            besides = method if now - began < SECONDS_BEFORE_OWN else None
            self._nested += 1
            try:
                while time.monotonic() < now + SECONDS_BEFORE_OTHERS and (call := self.admission.next_besides(besides)):
                    call.compute()
            finally:
                self._nested -= 1
        after = time.monotonic()
        return after + max(SECONDS_BEFORE_OTHERS, after - now)

    def close(self) -> None:
        """The threads end after their current parts."""
        for pool in (self._computing, self.waiting, self.models):
            pool.shutdown(wait=False)

    def _compute(self, first: QueuedCall) -> None:
        call: QueuedCall | None = first
        while call is not None:
            call.compute()
            call = self.admission.next()


class RunningCall:
    """See `execution.call.Call`. One thread at a time works on it.

    Where calls share several computing threads, no call runs parts of others at its checkpoints.
    """

    __slots__ = ("_give_way", "_given_away", "_limit", "_parts", "_seconds", "_threads", "abandoned", "queued")

    def __init__(self, threads: Threads, method: str, seconds: float) -> None:
        self._threads = threads
        self._limit = inf
        self._give_way: Callable[[], float] = _take_long
        self._given_away = 0.0
        self._parts = 0
        self._seconds = 0.0
        self.queued = QueuedCall(method, time.monotonic() + seconds)
        self.abandoned = False
        """The caller has stopped waiting: the work ends at its next checkpoint."""

    def checkpoint(self) -> None:
        """See `Call.checkpoint`. Raises DeadlineError or CancelledError."""
        now = time.monotonic()
        if now >= self.queued.deadline:
            raise DeadlineError
        if self.abandoned:
            raise CancelledError
        if now >= self._limit:
            processor = time.thread_time()
            self._limit = self._give_way()
            self._given_away += time.thread_time() - processor

    def processor_seconds(self) -> float:
        """See `Call.processor_seconds`."""
        return time.thread_time() - self._given_away

    async def compute(self, part: Callable[[], Result]) -> Result:
        """See `Call.compute`. Raises LimitError when the call is refused."""
        times = self._threads.times[self.queued.method, self._parts]
        self._parts += 1
        observer().queued()
        is_short = self._threads.is_single and times.mean is not None and times.most < SHORT_SECONDS
        result = await (self._at_once(part) if is_short else self._on_thread(part))
        times.add(self._seconds)
        return result

    async def wait_for(self, part: Callable[[], Result]) -> Result:
        """See `Call.wait_for`."""
        return await self._beside(self._threads.waiting, part)

    async def ask_model(self, part: Callable[[], Result]) -> Result:
        """See `Call.ask_model`."""
        return await self._beside(self._threads.models, part)

    async def _at_once(self, part: Callable[[], Result]) -> Result:
        try:
            return self._attempt(part, SECONDS_ON_LOOP, _take_long)
        except TakesLong:
            return await self._on_thread(part)

    async def _on_thread(self, part: Callable[[], Result]) -> Result:
        queued = self.queued

        def attempt() -> Result:
            if queued.refusal is not None:
                raise queued.refusal
            give_way = partial(self._threads.give_way, queued.method, time.monotonic())
            return self._attempt(part, SECONDS_BEFORE_OTHERS if self._threads.is_single else inf, give_way)

        answer = Answer(queued.method, attempt)
        queued.work = answer.attempt
        self._threads.enter(queued)
        try:
            return await answer.received()
        except asyncio.CancelledError:
            self._threads.admission.leave(queued)
            raise
        finally:
            queued.refusal = None  # an error must not be referred to from the frames of its own traceback

    async def _beside(self, pool: ThreadPoolExecutor, part: Callable[[], Result]) -> Result:
        def attempt() -> Result:
            self.checkpoint()
            return part()

        answer = Answer(self.queued.method, attempt)
        waiting = pool.submit(answer.attempt)
        try:
            return await answer.received()
        except asyncio.CancelledError:
            waiting.cancel()
            raise

    def _attempt(self, part: Callable[[], Result], seconds: float, give_way: Callable[[], float]) -> Result:
        """Returns or raises the outcome of the part.

        After `seconds`, checkpoints call `give_way`, which returns the time of the next such call.
        """
        observer().started()
        began, processor = time.monotonic(), self.processor_seconds()
        self._limit, self._give_way = began + seconds, give_way
        try:
            self.checkpoint()
            return part()
        finally:
            self._limit = inf
            self.queued.spent += time.monotonic() - began
            self._seconds = self.processor_seconds() - processor


def _take_long() -> NoReturn:
    raise TakesLong
