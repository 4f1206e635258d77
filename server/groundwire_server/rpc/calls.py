"""Runs the blocking work of calls beside the event loop: admission, worker threads, deadlines, cancellation."""

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar, cast

import grpc.aio
import structlog

from groundwire_server.domain.checkpoint import Checkpoint
from groundwire_server.domain.errors import CancelledError, DeadlineError, GroundwireError, LimitError, Reason

Request = TypeVar("Request")
Response = TypeVar("Response")

RETRY_AFTER_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class CallBounds:
    """How much work is taken on, and for how long.

    `max_calls` counts running and waiting calls of one method. `default_seconds` is the deadline of a call that
    brings none, `max_seconds` the longest that any call may take.
    """

    worker_threads: int
    max_calls: int
    default_seconds: float
    max_seconds: float


class RunningCall:
    """The deadline of one call, and whether somebody still waits for its answer."""

    __slots__ = ("_abandoned", "_deadline")

    def __init__(self, seconds: float) -> None:
        self._deadline = time.monotonic() + seconds
        self._abandoned = False

    def abandon(self) -> None:
        """Nobody waits any more: the work stops at its next checkpoint."""
        self._abandoned = True

    def checkpoint(self) -> None:
        """Returns while the call is worth its work; raises DeadlineError or CancelledError otherwise."""
        if time.monotonic() >= self._deadline:
            raise DeadlineError
        if self._abandoned:
            raise CancelledError


class CallRunner:
    """Takes calls on, up to a limit for each method, and runs their work in a pool of threads.

    A call that nobody waits for any more keeps its place until a worker has dropped it, so that the limit also
    bounds the memory that waiting requests hold.
    """

    def __init__(self, bounds: CallBounds) -> None:
        self._bounds = bounds
        self._pool = ThreadPoolExecutor(bounds.worker_threads, thread_name_prefix="groundwire-worker")
        self._taken: Counter[str] = Counter()
        self._lock = threading.Lock()

    async def run(
        self,
        method: str,
        context: grpc.aio.ServicerContext[Request, Response],
        work: Callable[[Checkpoint], Response],
    ) -> Response:
        """What `work` returns or raises.

        Raises LimitError when too many calls of `method` are running or waiting, and DeadlineError at the deadline,
        whether or not the work has noticed it by then.
        """
        seconds = self._seconds_allowed(context)
        call = RunningCall(seconds)
        self._admit(method)
        answer = asyncio.wrap_future(self._pool.submit(self._work, method, call, work))
        deadline = asyncio.timeout(seconds)
        try:
            async with deadline:
                return await asyncio.shield(answer)
        except TimeoutError:
            if not deadline.expired():
                raise
            _abandon(call, method, answer)
            raise DeadlineError from None
        except asyncio.CancelledError:
            _abandon(call, method, answer)
            raise

    def close(self) -> None:
        """Takes no more calls; the workers end after the calls they are at."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _seconds_allowed(self, context: grpc.aio.ServicerContext[Request, Response]) -> float:
        remaining = cast("float | None", context.time_remaining())  # its stubs know no call without a deadline
        return min(self._bounds.default_seconds if remaining is None else remaining, self._bounds.max_seconds)

    def _admit(self, method: str) -> None:
        with self._lock:
            if self._taken[method] >= self._bounds.max_calls:
                raise LimitError(
                    Reason.OVERLOADED,
                    f"{self._bounds.max_calls} calls of {method} are running or waiting; try again later",
                    RETRY_AFTER_SECONDS,
                    {"method": method},
                )
            self._taken[method] += 1

    def _work(self, method: str, call: RunningCall, work: Callable[[Checkpoint], Response]) -> Response:
        try:
            call.checkpoint()
            return work(call.checkpoint)
        finally:
            with self._lock:
                self._taken[method] -= 1


def _abandon(call: RunningCall, method: str, answer: asyncio.Future[Response]) -> None:
    """Lets the work stop, and sees to it that a defect it still runs into is logged."""

    def end(answer: asyncio.Future[Response]) -> None:
        error = answer.exception()
        if error is not None and not isinstance(error, GroundwireError):
            structlog.get_logger().error("abandoned call failed", method=method, exc_info=error)

    call.abandon()
    answer.add_done_callback(end)
