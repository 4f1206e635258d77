"""The errors of calls that are refused for load."""

from random import Random

from groundwire_server.domain.errors import LimitError, Reason

LEAST_RETRY_SECONDS = 0.1
MOST_RETRY_SECONDS = 20.0
_UNKNOWN_WAIT_SECONDS = 1.0
_CHANCE = Random()


def overloaded(message: str, metadata: dict[str, str], wait_seconds: float | None = None) -> LimitError:
    """The error of a call that may be tried again after `wait_seconds`, within 0.1 to 10 seconds.

    A random part of up to the same length is added, so that callers refused together do not return together.
    """
    seconds = _UNKNOWN_WAIT_SECONDS if wait_seconds is None else wait_seconds
    bounded = min(max(seconds, LEAST_RETRY_SECONDS), MOST_RETRY_SECONDS / 2)
    return LimitError(Reason.OVERLOADED, message, bounded * _CHANCE.uniform(1, 2), metadata)
