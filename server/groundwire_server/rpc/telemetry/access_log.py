"""The access log: one line a call, except for calls refused for load, which may be too many.

A line has the call's outcome, its time, its waiting time, and the ids that find it elsewhere. It never holds what was
answered, a vector, an id, a credential, or an error's message, which may quote the request. The caller's address and
the query's text are in it only where the settings ask for them. Only an unexpected exception is logged with its
traceback.
"""

import asyncio
from collections import Counter

import structlog
from structlog.typing import FilteringBoundLogger

from groundwire_server.domain.errors import BackendUnavailableError, PreconditionError
from groundwire_server.rpc.error_table import INTERNAL_REASON, OVERLOADED_REASON
from groundwire_server.rpc.telemetry.call_record import CallRecord, Outcome

REFUSED_PERIOD_SECONDS = 1.0


class AccessLog:
    """Writes the lines."""

    def __init__(self, *, peers: bool) -> None:
        """`peers` says whether a line has the caller's address."""
        self._peers = peers
        # Bound once: the logger that is not makes a new one for each line.
        self._log: FilteringBoundLogger = structlog.get_logger().bind()
        self._refused = RefusedCalls()

    def write(self, call: CallRecord, outcome: Outcome, nanoseconds: int, trace_id: str) -> None:
        """Logs a call that has ended after so long; of a defect the log gets everything, its caller the request id.

        Calls that were refused for load are counted together.
        """
        if outcome.reason == OVERLOADED_REASON:
            self._refused.note(call.method)
            return
        fields = _fields(call, outcome, nanoseconds, trace_id)
        if self._peers:
            fields["peer"] = call.peer
        if outcome.reason == INTERNAL_REASON:
            self._log.error("call", **fields, exc_info=outcome.error)
        elif isinstance(outcome.error, PreconditionError) and outcome.error.__cause__ is not None:
            self._log.error("call", **fields, cause=str(outcome.error.__cause__))
        elif isinstance(outcome.error, BackendUnavailableError):
            self._log.warning("call", **fields, cause=outcome.error.cause)
        else:
            self._log.info("call", **fields)


def _fields(call: CallRecord, outcome: Outcome, nanoseconds: int, trace_id: str) -> dict[str, str | float]:
    fields: dict[str, str | float] = {"method": call.method, "code": outcome.code.name}
    if outcome.reason:
        fields["reason"] = outcome.reason
    fields["duration_ms"] = _milliseconds(nanoseconds)
    if call.queue_nanoseconds is not None:
        fields["queue_ms"] = _milliseconds(call.queue_nanoseconds)
    fields["request_id"] = call.headers.request_id
    if trace_id:
        fields["trace_id"] = trace_id
    if outcome.index:
        fields["index"] = outcome.index
    if call.query:
        fields["query"] = call.query
    return fields


def _milliseconds(nanoseconds: int) -> float:
    return round(nanoseconds / 1e6, 3)


class RefusedCalls:
    """Logs refusals for load by their number, `period_seconds` after the first. Use it in one event loop.

    A line costs more than the rest of a refusal that is Groundwire's; under a flood that would come out of the calls
    that are answered.
    """

    def __init__(self, period_seconds: float = REFUSED_PERIOD_SECONDS) -> None:
        self._period_seconds = period_seconds
        self._counts: Counter[str] = Counter()

    def note(self, method: str) -> None:
        """A call of the method was refused."""
        if not self._counts:
            asyncio.get_running_loop().call_later(self._period_seconds, self.tell)
        self._counts[method] += 1

    def tell(self) -> None:
        """Logs what was counted and is not logged yet."""
        for method, count in self._counts.items():
            structlog.get_logger().warning("calls refused", method=method, count=count)
        self._counts.clear()
