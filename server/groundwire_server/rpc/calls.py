"""Runs the calls that admission accepts."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import grpc.aio

from groundwire_server.domain.errors import DeadlineError
from groundwire_server.execution.observation import stage
from groundwire_server.rpc.admission.admission import Admission, MethodLoad
from groundwire_server.rpc.running_call import RunningCall, Threads

Request = TypeVar("Request")
Response = TypeVar("Response")
Asked = TypeVar("Asked")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class CallBounds:
    """The limits of accepted work, in calls and in time.

    At most `max_waiting` calls of a method are accepted in addition to the one that runs. `default_seconds` is the
    deadline of a call that brings none, `max_seconds` the longest that any call may take. Calls share a number of
    `threads`: one if their parts compute, more if they mostly wait for other machines.
    """

    max_waiting: int
    default_seconds: float
    max_seconds: float
    threads: int = 1


class CallRunner:
    """Runs calls that its admission accepts. Use it in one event loop, which runs short parts itself.

    A call that no caller waits for leaves its queue at once. If it runs already, it ends at its next checkpoint.
    """

    def __init__(self, bounds: CallBounds) -> None:
        self._bounds = bounds
        self._admission = Admission(bounds.max_waiting, threads=bounds.threads)
        self._threads = Threads(self._admission, bounds.threads)

    def check(self, method: str, remaining: float | None) -> None:
        """Raises LimitError when `run` would refuse a call now that has `remaining` seconds, None for no deadline."""
        self._admission.check(method, self._seconds_allowed(remaining))

    async def run(
        self,
        method: str,
        context: grpc.aio.ServicerContext[Request, Response],
        decode: Callable[[], Asked],
        act: Callable[[Asked, RunningCall], Awaitable[Result]],
        encode: Callable[[Result], Response],
    ) -> Response:
        """The response to a call: its request decoded, one call of the engine, the result encoded.

        Raises what these raise, LimitError when the call is refused, and DeadlineError at the deadline, whether
        or not the work has noticed it by then.
        """
        seconds = self._seconds_allowed(context.time_remaining())
        call = RunningCall(self._threads, method, seconds)
        with self._admission.under_way(call.queued):
            timeout = asyncio.timeout(seconds)
            try:
                async with timeout:
                    with stage("decode"):
                        asked = decode()
                    result = await act(asked, call)
                    return await call.compute(lambda: _encoded(encode, result))
            except TimeoutError:
                if timeout.expired():
                    raise DeadlineError from None
                raise
            finally:
                call.abandoned = True

    def loads(self) -> Mapping[str, MethodLoad]:
        """How many calls of each method run and wait."""
        return self._admission.loads()

    def close(self) -> None:
        """Accepts no more calls; the threads end after their current parts."""
        self._threads.close()

    def _seconds_allowed(self, remaining: float | None) -> float:
        return min(self._bounds.default_seconds if remaining is None else remaining, self._bounds.max_seconds)


def _encoded(encode: Callable[[Result], Response], result: Result) -> Response:
    with stage("encode"):
        return encode(result)
