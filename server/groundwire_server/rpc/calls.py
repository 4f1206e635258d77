"""Runs the calls that are accepted.

The coroutine of a call runs on the event loop like any other. It hands its parts to the methods of `RunningCall`. A
part that computes runs on the loop if the call is expected to be short. Otherwise a thread computes it when the call's
turn comes. A part that waits for a disk or a model runs on a thread that may wait. docs/calls.md shows the states.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import Context, copy_context
from math import inf
from typing import TYPE_CHECKING, Generic, TypeVar, cast

import structlog

from groundwire_server.config import Settings
from groundwire_server.domain.errors import CancelledError, DeadlineError, GroundwireError
from groundwire_server.execution.observation import observer, stage
from groundwire_server.rpc.admission.call_kinds import CallDurations, CallKind, kind_of
from groundwire_server.rpc.admission.call_queue import MOST_LONG, SECONDS_ALONE, CallQueue, MethodLoad, QueuedCall
from groundwire_server.rpc.loop_turns import LoopTurns

if TYPE_CHECKING:  # it loads numpy, which must not happen before a server has settled how many threads it uses
    from groundwire_server.domain.search.search import NodesRequest

Response = TypeVar("Response")
Result = TypeVar("Result")

MOST_ENTRIES_ON_LOOP = 100
"""It takes about a millisecond to encode as many."""
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
        self.durations = CallDurations()
        self.turns = LoopTurns()
        self.waiting = ThreadPoolExecutor(_MOST_THAT_WAIT, thread_name_prefix="groundwire-wait")
        self.models = ThreadPoolExecutor(_MOST_AT_MODELS, thread_name_prefix="groundwire-model")

    @contextmanager
    def admitted(self, method: str, subject: str, remaining: float | None) -> Iterator["RunningCall"]:
        """Accepts a call, which lasts while the context is open.

        It has `remaining` seconds, None for no deadline, and is made by the identity `subject`, "" for none. Raises
        LimitError when the server cannot accept it now.
        """
        settings = self._settings
        seconds = settings.default_deadline_seconds if remaining is None else remaining
        call = RunningCall(self, method, subject, min(seconds, settings.max_deadline_seconds))
        with self._queue.accepted(call):
            is_answered = False
            try:
                yield call
                is_answered = True
            finally:
                call.end(is_answered=is_answered)

    def computes_on_loop(self, kind: CallKind, subject: str) -> bool:
        """True if the event loop is to compute a call of the kind by an identity."""
        return self._threads == 1 and self.durations.is_short(kind, subject)

    def enter(self, call: "RunningCall") -> None:
        """Lets a thread compute the next part of the call when its turn comes."""
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

    def _start(self, call: QueuedCall | None) -> None:
        if call is not None:
            self._computing.submit(self._compute, call)

    def _compute(self, call: QueuedCall | None) -> None:
        """Computes the call's part, and then those of other calls while some wait."""
        while call is not None:
            assert isinstance(call, RunningCall)
            part = call.compute_part()
            call = self._queue.turn_over(call)
            if part is not None:
                part.pass_on()
            del part  # its outcome may be an error, whose traceback leads to this frame


class RunningCall(QueuedCall):
    """A call under way, as `execution.call.Call` describes it. One thread at a time computes its parts."""

    __slots__ = ("_calls", "_context", "_give_way_at", "_kind", "_part", "_seconds", "abandoned")

    def __init__(self, calls: Calls, method: str, subject: str, seconds: float) -> None:
        super().__init__(method, subject, time.monotonic() + seconds)
        self._calls = calls
        self._context: Context | None = None
        self._give_way_at = inf
        self._kind: CallKind | None = None
        self._part: _ComputedPart[object] | None = None
        self._seconds = 0.0
        self.abandoned = False
        """The caller has stopped waiting: the work ends at its next checkpoint."""

    async def run(self, answering: Awaitable[Response]) -> Response:
        """The response that `answering` gives by the call's deadline.

        Raises what it raises, LimitError when the call is refused while it waits for its turn, and DeadlineError at the
        deadline, whether or not the work has noticed it by then.
        """
        timeout = asyncio.timeout(self.deadline - time.monotonic())
        try:
            async with timeout:
                return await answering
        except TimeoutError:
            if timeout.expired():
                raise DeadlineError from None
            raise
        finally:
            self.abandoned = True

    def end(self, *, is_answered: bool) -> None:
        """The call has been answered or given up. The estimates of its kind take account of it if it has computed."""
        self.abandoned, self._part = True, None
        if self._kind is None or not self.has_begun:
            return
        if is_answered:
            self._calls.durations.add(self._kind, self._seconds)
        else:
            self._calls.durations.add_unfinished(self._kind)

    def estimate(self, request: "NodesRequest") -> None:
        """Tells the kind of the call: the event loop computes it if calls of its kind are short, else a thread."""
        self._kind = kind_of(self.method, request)

    def checkpoint(self) -> None:
        """Raises DeadlineError or CancelledError."""
        now = time.monotonic()
        if now >= self.deadline:
            raise DeadlineError
        if self.abandoned:
            raise CancelledError
        if now >= self._give_way_at:
            self._calls.give_way(self)
            self._give_way_at = now + SECONDS_ALONE if self.has_place else inf

    async def compute(self, part: Callable[[], Result]) -> Result:
        observer().queued()
        if self._kind is not None and self._calls.computes_on_loop(self._kind, self.subject):
            await self._calls.turns.turn(self.line)
            # Others of its identity may have taken long meanwhile.
            if self._calls.computes_on_loop(self._kind, self.subject):
                return self._computed_on_loop(part)
        return await self._compute_on_thread(part)

    async def encode(self, encode: Callable[[Result], Response], result: Result, entries: int) -> Response:
        """The response that `encode` makes of a result with so many entries.

        Few entries are encoded on the event loop, where the response is sent from: under load, a further turn on a
        thread would take longer.
        """

        def encoded() -> Response:
            with stage("encode"):
                return encode(result)

        if entries <= MOST_ENTRIES_ON_LOOP:
            self.checkpoint()
            return encoded()
        return await self.compute(encoded)

    async def wait_for(self, part: Callable[[], Result]) -> Result:
        return await self._wait(self._calls.waiting, part)

    async def wait_until_done(self, work: Future[Result]) -> Result:
        self.checkpoint()
        return work.result() if work.done() else await asyncio.shield(asyncio.wrap_future(work))

    async def ask_model(self, part: Callable[[], Result]) -> Result:
        return await self._wait(self._calls.models, part)

    def compute_part(self) -> "_ComputedPart[object] | None":
        """Computes the part that waits for this thread, and returns it; None if the call has ended meanwhile."""
        part, self._part = self._part, None
        if part is None:
            return None
        self._give_way_at = self.turn_began + SECONDS_ALONE
        began = time.thread_time()
        try:
            part.compute(self)
            return part
        finally:
            self._seconds += time.thread_time() - began
            self._give_way_at = inf

    def _computed_on_loop(self, part: Callable[[], Result]) -> Result:
        observer().started()
        self.checkpoint()
        if not self.has_begun:
            self.has_begun, self.turn_began = True, time.monotonic()
        began = time.thread_time()
        try:
            with self._calls.turns.computing():
                return part()
        finally:
            seconds = time.thread_time() - began
            self._seconds += seconds
            self._calls.durations.add_on_loop(self.subject, seconds)

    async def _compute_on_thread(self, part: Callable[[], Result]) -> Result:
        computed = _ComputedPart(part, self._thread_context())
        outcome = asyncio.wrap_future(computed.outcome)
        self._part = cast("_ComputedPart[object]", computed)
        self._calls.enter(self)
        try:
            return await outcome
        finally:
            del outcome, computed  # the outcome may be an error, whose traceback leads to this frame

    async def _wait(self, pool: ThreadPoolExecutor, part: Callable[[], Result]) -> Result:
        def checked() -> Result:
            self.checkpoint()
            return part()

        return await asyncio.get_running_loop().run_in_executor(pool, self._thread_context().run, checked)

    def _thread_context(self) -> Context:
        """The context variables of the call's task, for the threads that work for it one after another."""
        if self._context is None:
            self._context = copy_context()
        return self._context


class _ComputedPart(Generic[Result]):
    """A part of a call that a thread computes, and its outcome."""

    __slots__ = ("_context", "_error", "_part", "_result", "outcome")

    def __init__(self, part: Callable[[], Result], context: Context) -> None:
        self._part = part
        self._context = context
        self._error: BaseException | None = None
        self._result: Result | None = None
        self.outcome: Future[Result] = Future()
        """What the call awaits."""

    def compute(self, call: RunningCall) -> None:
        """Computes the part, unless no caller waits for it any more."""
        if not self.outcome.set_running_or_notify_cancel():
            return
        try:
            self._result = self._context.run(self._computed, call)
        except BaseException as error:  # noqa: BLE001 - raised where the call awaits the outcome
            self._error = error
            if call.abandoned and not isinstance(error, GroundwireError):
                structlog.get_logger().error("abandoned call failed", method=call.method, exc_info=error)

    def pass_on(self) -> None:
        """Wakes the call, after its turn is over: it may then wait for the next one."""
        outcome, error, result = self.outcome, self._error, self._result
        # An error leads to this object by its traceback, so this object must not lead to the error any more.
        del self.outcome, self._error, self._result
        if outcome.cancelled():
            return
        if error is not None:
            outcome.set_exception(error)
        else:
            outcome.set_result(cast("Result", result))

    def _computed(self, call: RunningCall) -> Result:
        observer().started()
        if call.refusal is not None:
            raise call.refusal
        call.checkpoint()
        return self._part()
