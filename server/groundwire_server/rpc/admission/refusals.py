"""The errors of calls that are refused for load."""

from random import Random

from groundwire_server.domain.errors import LimitError, Reason
from groundwire_server.rpc.admission.method_queue import MethodQueue

LEAST_RETRY_SECONDS = 0.1
MOST_RETRY_SECONDS = 20.0
_UNKNOWN_WAIT_SECONDS = 1.0


class Refusals:
    """Makes the errors of calls that are refused for load.

    The time after which to try again is the time that the queue takes to drain, within 0.1 to 10 seconds. A random part
    of up to the same length is added, so that callers refused together do not return together.
    """

    def __init__(self) -> None:
        self._chance = Random()

    def full(self, method: str, queue: MethodQueue, now: float) -> LimitError:
        """No place is left in the queue."""
        message = f"{queue.running} calls of {method} are running and {len(queue.waiting)} waiting; try again later"
        return self._refusal("waiting", method, queue.wait_seconds(now), message)

    def too_late(self, method: str, queue: MethodQueue, now: float) -> LimitError:
        """The call would likely miss its deadline."""
        message = f"this call of {method} would not be done by its deadline; give it longer, or try again later"
        return self._refusal("deadline", method, queue.wait_seconds(now), message)

    def no_memory_for_request(self) -> LimitError:
        """The request would find no memory."""
        return self._no_memory("too many requests are being received; try again later")

    def no_memory_for_response(self) -> LimitError:
        """There is no memory for the call's response, because earlier responses have not been read yet."""
        return self._no_memory("too many responses wait to be taken; read them sooner, or try again later")

    def _no_memory(self, message: str) -> LimitError:
        seconds = _UNKNOWN_WAIT_SECONDS * self._chance.uniform(1, 2)
        return LimitError(Reason.OVERLOADED, message, seconds, {"rule": "memory"})

    def _refusal(self, rule: str, method: str, wait: float | None, message: str) -> LimitError:
        seconds = _UNKNOWN_WAIT_SECONDS if wait is None else wait
        bounded = min(max(seconds, LEAST_RETRY_SECONDS), MOST_RETRY_SECONDS / 2)
        retry_seconds = bounded * self._chance.uniform(1, 2)
        return LimitError(Reason.OVERLOADED, message, retry_seconds, {"method": method, "rule": rule})
