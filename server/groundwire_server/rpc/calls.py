"""Runs the calls that are accepted: each computes on one thread at a time, and waits in threads of its own."""

import asyncio
import time
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import Context, ContextVar, copy_context
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import Generic, TypeAlias, TypeVar, cast

import structlog

from groundwire_server.config import Settings
from groundwire_server.domain.errors import CancelledError, DeadlineError, GroundwireError
from groundwire_server.execution.observation import CallObserver, observer, stage
from groundwire_server.rpc.admission.call_queue import MOST_LONG, SECONDS_ALONE, CallQueue, MethodLoad, QueuedCall
from groundwire_server.rpc.loop_turns import LoopTurns

Response = TypeVar("Response")
Asked = TypeVar("Asked")
Result = TypeVar("Result")
Work: TypeAlias = "Coroutine[_Wait[object], Future[object] | None, object]"

SHORT_SECONDS = 0.005
"""A method is short if nearly all of its last calls took less of the processor up to their first wait or end."""
SECONDS_ON_LOOP = 0.01
"""A call of a short method leaves the event loop after this time, and begins again on a thread."""
_LAST = 16
_MOST_THAT_WAIT = 4
_MOST_AT_MODELS = 32  # the number of queries that are embedded together


class Calls:
    """Admits calls and runs them. Use it in one event loop.

    A call that no caller waits for leaves its queue at once. If it runs already, it ends at its next checkpoint.
    """

    def __init__(self, settings: Settings, threads: int) -> None:
        """A number of `threads` compute: one if calls compute, more if they mostly wait for other machines."""
        self._settings = settings
        self._threads = threads
        self._queue = CallQueue(settings.max_waiting_calls, threads)
        self._computing = ThreadPoolExecutor(threads + MOST_LONG, thread_name_prefix="groundwire-compute")
        self._on_loop = LoopTurns[RunningCall](self._compute_on_loop)
        self._seconds = defaultdict[str, deque[float]](lambda: deque(maxlen=_LAST))
        self.waiting = ThreadPoolExecutor(_MOST_THAT_WAIT, thread_name_prefix="groundwire-wait")
        self.models = ThreadPoolExecutor(_MOST_AT_MODELS, thread_name_prefix="groundwire-model")

    @contextmanager
    def admitted(self, method: str, subject: str, remaining: float | None) -> Iterator[None]:
        """Accepts a call while the context is open; `running_call` is the call.

        It has `remaining` seconds, None for no deadline, and is made by the identity `subject`, "" for none. Raises
        LimitError when the server cannot accept it now.
        """
        settings = self._settings
        seconds = settings.default_deadline_seconds if remaining is None else remaining
        seconds = min(seconds, settings.max_deadline_seconds)
        call = RunningCall(self, method, subject, seconds)
        with self._queue.accepted(call):
            token = _RUNNING.set(call)
            try:
                yield
            finally:
                _RUNNING.reset(token)

    def enter(self, call: "RunningCall", *, on_loop: bool) -> None:
        """Lets a thread compute the call when its turn comes. The event loop computes a call of a short method."""
        if on_loop and self._is_short(call.method):
            self._on_loop.enter(call)
        else:
            self._start(self._queue.enter(call))

    def give_way(self, call: "RunningCall") -> None:
        """Lets another call compute at the same time as one that takes long."""
        self._start(self._queue.give_way(call))

    def loads(self) -> Mapping[str, MethodLoad]:
        """How many calls of each method run and wait."""
        return self._queue.loads()

    def close(self) -> None:
        """Accepts no more calls; the threads end after their current calls."""
        for pool in (self._computing, self.waiting, self.models):
            pool.shutdown(wait=False)

    def _is_short(self, method: str) -> bool:
        last = self._seconds[method]
        return self._threads == 1 and len(last) == _LAST and sorted(last)[-2] < SHORT_SECONDS

    def _start(self, call: QueuedCall | None) -> None:
        if call is not None:
            self._computing.submit(self._compute, call)

    def _compute_on_loop(self, call: "RunningCall") -> None:
        call.has_begun, call.turn_began = True, time.monotonic()
        self._turn(call, SECONDS_ON_LOOP)()

    def _compute(self, call: QueuedCall | None) -> None:
        while call is not None:
            assert isinstance(call, RunningCall)
            pass_on = self._turn(call)
            call = self._queue.turn_over(call)
            pass_on()
            del pass_on  # it may refer to an error, whose traceback leads to this frame

    def _turn(self, call: "RunningCall", seconds_on_loop: float | None = None) -> Callable[[], object]:
        began = time.thread_time()
        try:
            return call.take_turn(seconds_on_loop)
        finally:
            self._seconds[call.method].append(time.thread_time() - began)


class _TakesLong(BaseException):
    """Ends a turn on the event loop. Not an error: only calls catch it."""


_RUNNING: ContextVar["RunningCall"] = ContextVar("groundwire_running_call")


def running_call() -> "RunningCall":
    """The call that this task has admitted."""
    return _RUNNING.get()


@dataclass(frozen=True, slots=True)
class _Wait(Generic[Result]):
    """A part of a call that a thread of `pool` runs, while others compute."""

    pool: ThreadPoolExecutor
    part: Callable[[], Result]

    def __await__(self) -> Generator["_Wait[Result]", "Future[Result]", Result]:
        waited = yield self
        try:
            return waited.result()
        finally:
            del waited  # it refers to an error, whose traceback refers to this frame


class RunningCall(QueuedCall):
    """See `execution.call.Call`. One thread at a time works on it."""

    __slots__ = ("_calls", "_give_way_at", "_is_on_loop", "_turn", "_work", "abandoned")

    def __init__(self, calls: Calls, method: str, subject: str, seconds: float) -> None:
        super().__init__(method, subject, time.monotonic() + seconds)
        self._calls = calls
        self._give_way_at = inf
        self._is_on_loop = False
        self._turn: Callable[[], Callable[[], object]] | None = None
        self._work: Work | None = None
        self.abandoned = False
        """The caller has stopped waiting: the work ends at its next checkpoint."""

    async def run(
        self,
        decode: Callable[[], Asked],
        act: Callable[[Asked, "RunningCall"], Awaitable[Result]],
        encode: Callable[[Result], Response],
    ) -> Response:
        """The response: the request decoded, one call of the engine, the result encoded.

        Raises what these raise, LimitError when the call is refused, and DeadlineError at the deadline, whether
        or not the work has noticed it by then.
        """
        with stage("decode"):
            asked = decode()
        timeout = asyncio.timeout(self.deadline - time.monotonic())
        try:
            async with timeout:
                return cast("Response", await self._outcome(partial(_work, asked, act, encode, self)))
        except TimeoutError:
            if timeout.expired():
                raise DeadlineError from None
            raise
        finally:
            self.abandoned, self._turn = True, None

    def checkpoint(self) -> None:
        """See `Call.checkpoint`. Raises DeadlineError or CancelledError."""
        now = time.monotonic()
        if now >= self.deadline:
            raise DeadlineError
        if self.abandoned:
            raise CancelledError
        if now >= self._give_way_at:
            if self._is_on_loop:
                raise _TakesLong
            self._calls.give_way(self)
            self._give_way_at = now + SECONDS_ALONE if self.has_place else inf

    async def compute(self, part: Callable[[], Result]) -> Result:
        """See `Call.compute`."""
        self.checkpoint()
        return part()

    async def wait_for(self, part: Callable[[], Result]) -> Result:
        """See `Call.wait_for`."""
        result: Result = await _Wait(self._calls.waiting, part)
        return result

    async def ask_model(self, part: Callable[[], Result]) -> Result:
        """See `Call.ask_model`."""
        result: Result = await _Wait(self._calls.models, part)
        return result

    def take_turn(self, seconds_on_loop: float | None) -> Callable[[], object]:
        """Computes until the call ends or must wait; the function returned passes the outcome on."""
        turn, self._turn = self._turn, None
        self._is_on_loop = seconds_on_loop is not None
        self._give_way_at = self.turn_began + (seconds_on_loop or SECONDS_ALONE)
        try:
            return turn() if turn else bool
        finally:
            self._give_way_at = inf
            del turn  # the traceback of an error leads to this frame too

    async def _outcome(self, start: Callable[[], Work]) -> object:
        task = _Task(start, Future(), copy_context(), observer())
        task.outcome.set_running_or_notify_cancel()
        try:
            self._enter(task, on_loop=True)
            return task.outcome.result() if task.outcome.done() else await asyncio.wrap_future(task.outcome)
        finally:
            del task  # it refers to an error, whose traceback refers to this frame

    def _enter(self, task: "_Task", waited: "Future[object] | None" = None, *, on_loop: bool = False) -> None:
        if self.abandoned:
            self._work = None
            return
        task.observer.queued()
        turn = partial(task.context.run, self._advance, task, waited)
        self._turn = cast("Callable[[], Callable[[], object]]", turn)  # too many steps for type checkers
        self._calls.enter(self, on_loop=on_loop)

    def _advance(self, task: "_Task", waited: "Future[object] | None") -> Callable[[], object]:
        try:
            task.observer.started()
            if self.refusal is not None:
                raise self.refusal
            self.checkpoint()
            self._work = self._work or task.start()
            return partial(self._wait, task, self._work.send(waited))
        except StopIteration as end:
            return partial(task.outcome.set_result, end.value)
        except _TakesLong:
            self._work, self.has_begun = None, False
            return partial(self._enter, task)
        except BaseException as error:  # noqa: BLE001 - raised where the call is awaited
            if self.abandoned and not isinstance(error, GroundwireError):
                structlog.get_logger().error("abandoned call failed", method=self.method, exc_info=error)
            return partial(task.outcome.set_exception, error)
        finally:
            del task, waited

    def _wait(self, task: "_Task", wait: "_Wait[object]") -> None:
        waiting = wait.pool.submit(task.context.run, self._checked, wait.part)
        waiting.add_done_callback(partial(self._enter, task))

    def _checked(self, part: Callable[[], Result]) -> Result:
        self.checkpoint()
        return part()


@dataclass(frozen=True, slots=True)
class _Task:
    """The data that the threads of a call share."""

    start: Callable[[], Work]
    outcome: "Future[object]"
    context: Context
    observer: CallObserver


async def _work(
    asked: Asked,
    act: Callable[[Asked, RunningCall], Awaitable[Result]],
    encode: Callable[[Result], object],
    call: RunningCall,
) -> object:
    result = await act(asked, call)
    call.checkpoint()
    with stage("encode"):
        return encode(result)
