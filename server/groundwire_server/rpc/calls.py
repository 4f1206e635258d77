"""Runs the blocking work of calls beside the event loop: worker threads, deadlines, cancellation."""

import asyncio
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import NoReturn, TypeVar

import grpc.aio
import structlog

from groundwire_server.domain.checkpoint import Checkpoint
from groundwire_server.domain.errors import CancelledError, DeadlineError, GroundwireError
from groundwire_server.domain.interpreter import give_way
from groundwire_server.domain.observation import observed_by, observer
from groundwire_server.rpc.admission.admission import Admission, AdmissionBounds, MethodLoad
from groundwire_server.rpc.admission.method_queue import Turn

Request = TypeVar("Request")
Response = TypeVar("Response")


@dataclass(frozen=True, slots=True)
class CallBounds:
    """How much work is taken on, and for how long.

    `default_seconds` is the deadline of a call that brings none, `max_seconds` the longest that any call may take.
    """

    admission: AdmissionBounds
    default_seconds: float
    max_seconds: float


class RunningCall:
    """The deadline of one call, in seconds of `time.monotonic`, and whether somebody still waits for its answer."""

    __slots__ = ("abandoned", "deadline")

    def __init__(self, seconds: float) -> None:
        self.deadline = time.monotonic() + seconds
        self.abandoned = False

    def abandon(self) -> None:
        """Nobody waits any more: the work stops at its next checkpoint."""
        self.abandoned = True

    def checkpoint(self) -> None:
        """Returns while the call is worth its work; raises DeadlineError or CancelledError otherwise.

        A call that takes long lets others compute here.
        """
        give_way()
        if time.monotonic() >= self.deadline:
            raise DeadlineError
        if self.abandoned:
            raise CancelledError


@dataclass(slots=True)
class _Failure:
    """How a call ended that has no response. The error can be taken out once."""

    error: BaseException | None

    def take(self) -> BaseException:
        """The error, which from now on is referred to from here no more."""
        assert self.error is not None
        error, self.error = self.error, None
        return error


class CallRunner:
    """Takes calls on as its admission allows, and runs their work in a pool of threads.

    A call that nobody waits for any more leaves its queue at once; when it runs already, it keeps its thread until
    its work has come to the next checkpoint. Make calls in one event loop.
    """

    def __init__(self, bounds: CallBounds) -> None:
        self._bounds = bounds
        self._admission = Admission(bounds.admission)
        self._pool = ThreadPoolExecutor(bounds.admission.worker_threads, thread_name_prefix="groundwire-worker")

    def check(self, method: str, remaining: float | None) -> None:
        """Raises LimitError when `run` would refuse a call now that has `remaining` seconds, None for no deadline."""
        self._admission.check(method, self._seconds_allowed(remaining))

    async def run(
        self,
        method: str,
        context: grpc.aio.ServicerContext[Request, Response],
        work: Callable[[Checkpoint], Response],
    ) -> Response:
        """What `work` returns or raises.

        Raises LimitError when the call is not taken on, and DeadlineError at the deadline, whether or not the work
        has noticed it by then.
        """
        seconds = self._seconds_allowed(context.time_remaining())
        loop = asyncio.get_running_loop()
        call = RunningCall(seconds)
        answer: asyncio.Future[Response | _Failure] = loop.create_future()
        heard_by = observer()

        def attempt(turn: Turn) -> Callable[[], None]:
            with observed_by(heard_by):
                heard_by.started()
                outcome = _attempt(call, work, turn.refusal)
            turn.cut_short = isinstance(outcome, _Failure) and isinstance(outcome.error, DeadlineError | CancelledError)
            return partial(_tell, loop, method, call, answer, outcome)

        turn = Turn(method, call.deadline, attempt)
        heard_by.queued()
        if self._admission.enter(turn):
            self._pool.submit(self._take_turns, turn)
        timer = loop.call_later(seconds, _settle, method, answer, _Failure(DeadlineError()))
        try:
            outcome = await answer
            if isinstance(outcome, _Failure):
                _raise(outcome)
            return outcome
        except (asyncio.CancelledError, DeadlineError):
            if not self._admission.leave(turn):
                call.abandon()
            raise
        finally:
            timer.cancel()
            turn.refusal = None  # an error must not be referred to from the frames of its own traceback

    def loads(self) -> Mapping[str, MethodLoad]:
        """How many calls of each method run and wait."""
        return self._admission.loads()

    def close(self) -> None:
        """Takes no more calls; the workers end after the calls they are at."""
        self._pool.shutdown(wait=False)

    def _seconds_allowed(self, remaining: float | None) -> float:
        return min(self._bounds.default_seconds if remaining is None else remaining, self._bounds.max_seconds)

    def _take_turns(self, first: Turn) -> None:
        """Works until no call waits for this thread."""
        turn: Turn | None = first
        while turn is not None:
            tell = turn.attempt(turn)
            turn = self._admission.finish(turn)
            tell()
            del tell  # the answer is not this thread's to keep while it works on the next call


def _raise(failure: _Failure) -> NoReturn:
    """Raises the error, without a cycle of it and its traceback, which would hold the call's request for long."""
    error = failure.take()
    try:
        raise error
    finally:
        del error


def _attempt(
    call: RunningCall, work: Callable[[Checkpoint], Response], refusal: GroundwireError | None
) -> Response | _Failure:
    """How the call ends, in its worker thread."""
    if refusal is not None:
        return _Failure(refusal)
    try:
        call.checkpoint()
        return work(call.checkpoint)
    except BaseException as error:  # noqa: BLE001 - raised where the call is awaited
        return _Failure(error)


def _tell(
    loop: asyncio.AbstractEventLoop,
    method: str,
    call: RunningCall,
    answer: asyncio.Future[Response | _Failure],
    outcome: Response | _Failure,
) -> None:
    """Brings the outcome from the worker thread to the event loop, which may be gone when nobody waits there."""
    if call.abandoned:
        _log_defect(method, outcome)
    else:
        loop.call_soon_threadsafe(_settle, method, answer, outcome)


def _settle(method: str, answer: asyncio.Future[Response | _Failure], outcome: Response | _Failure) -> None:
    if answer.done():
        _log_defect(method, outcome)
    else:
        answer.set_result(outcome)


def _log_defect(method: str, outcome: object) -> None:
    """Of calls that nobody waits for any more, the log gets what is no refusal and no missed deadline."""
    if isinstance(outcome, _Failure) and not isinstance(outcome.error, GroundwireError):
        structlog.get_logger().error("abandoned call failed", method=method, exc_info=outcome.error)
