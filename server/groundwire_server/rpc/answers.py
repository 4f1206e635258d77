"""The result of a part of a call, passed from the thread that runs the part to the event loop."""

import asyncio
from collections.abc import Callable
from contextvars import copy_context
from dataclasses import dataclass
from typing import Generic, NoReturn, TypeVar

import structlog

from groundwire_server.domain.errors import GroundwireError

Result = TypeVar("Result")


@dataclass(slots=True)
class _Failure:
    """How a part ended that has no result. The error can be taken out once."""

    error: BaseException | None


class Answer(Generic[Result]):
    """Make it and wait for it on the event loop, let a thread attempt it. The part runs in a context of its own."""

    def __init__(self, method: str, part: Callable[[], Result]) -> None:
        self._method = method
        self._part = part
        self._context = copy_context()
        self._loop = asyncio.get_running_loop()
        self._outcome: asyncio.Future[Result | _Failure] = self._loop.create_future()

    async def received(self) -> Result:
        """Returns or raises the outcome of the part."""
        outcome = await self._outcome
        if isinstance(outcome, _Failure):
            _raise(outcome)
        return outcome

    def attempt(self) -> None:
        """Runs the part, and brings its outcome to the event loop.

        By then the caller may have stopped waiting, and the loop may be closed.
        """
        outcome = self._context.run(self._attempted)
        if self._outcome.done():
            self._log_defect(outcome)
        else:
            self._loop.call_soon_threadsafe(self._settle, outcome)

    def _attempted(self) -> Result | _Failure:
        try:
            return self._part()
        except BaseException as error:  # noqa: BLE001 - raised where the call is awaited
            return _Failure(error)

    def _settle(self, outcome: Result | _Failure) -> None:
        if self._outcome.done():
            self._log_defect(outcome)
        else:
            self._outcome.set_result(outcome)

    def _log_defect(self, outcome: Result | _Failure) -> None:
        """Logs the error of a call that no caller waits for, unless it is a refusal or a missed deadline."""
        if isinstance(outcome, _Failure) and not isinstance(outcome.error, GroundwireError):
            structlog.get_logger().error("abandoned call failed", method=self._method, exc_info=outcome.error)


def _raise(failure: _Failure) -> NoReturn:
    """Raises the error, without a cycle of it and its traceback, which would hold the call's request for long."""
    error, failure.error = failure.error, None
    assert error is not None
    try:
        raise error
    finally:
        del error
