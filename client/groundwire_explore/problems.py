"""The message of a page about an error: what happened, and what to do."""

from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from pydantic import ValidationError

from groundwire_client import (
    DeadlineExceededError,
    FailedPreconditionError,
    GroundwireError,
    InternalError,
    InvalidRequestError,
    NotFoundError,
    OverloadedError,
    PermissionDeniedError,
    UnauthenticatedError,
    UnavailableError,
)

FAILURES = (GroundwireError, ValueError, OSError)
"""The exceptions that a call of the client, or a parameter of a page, may raise."""

_Answer = TypeVar("_Answer")

_ADVICE: Mapping[type[GroundwireError], str] = {
    NotFoundError: "Choose another index above, or start groundwire explore with an access that sees this one.",
    FailedPreconditionError: "Choose another kind of search or another index; the message says what is missing.",
    PermissionDeniedError: "Start groundwire explore with a token or access that is granted this.",
    UnauthenticatedError: "Start groundwire explore with --token-file and a token that is valid now.",
    OverloadedError: "Load the page again in a moment.",
    DeadlineExceededError: "Load the page again, or start groundwire explore with a longer --timeout.",
    UnavailableError: "Check that the server runs, and that --server and the --tls options are right; then load again.",
    InternalError: "Report this to the operator of the server, with the request id.",
}


@dataclass(frozen=True, slots=True)
class Problem:
    """A failure in words.

    Attributes:
        title: The rule that was broken, or the kind of failure.
        messages: What happened, one sentence or more each.
        advice: What to do; empty where the messages say it.
        request_id: Finds the call in the server's log; empty for a failure of this program.
        is_request: True if the request itself was wrong.
    """

    title: str
    messages: tuple[str, ...]
    advice: str = ""
    request_id: str = ""
    is_request: bool = False


def problem(error: Exception) -> Problem:
    """The problem that one of `FAILURES` is."""
    if isinstance(error, ValidationError):
        broken = tuple(
            f"{'.'.join(map(str, detail['loc']))}: {detail['msg'].removeprefix('Value error, ')}"
            for detail in error.errors()
        )
        return Problem(
            "The address of this page cannot be used", broken, "Change the address, or start over.", is_request=True
        )
    if isinstance(error, InvalidRequestError) and error.violations:
        lines = tuple(f"{detail.field}: {detail.description}" for detail in error.violations)
        return Problem("The server refused the request", lines, "", error.request_id, is_request=True)
    if isinstance(error, GroundwireError):
        advice = next((advice for kind, advice in _ADVICE.items() if isinstance(error, kind)), "")
        return Problem(error.reason or error.code.name, (error.message,), advice, error.request_id)
    return Problem("The request could not be sent", (str(error),), is_request=True)


async def attempted(call: Awaitable[_Answer]) -> _Answer | Problem:
    """The answer of a call, or why there is none: one part of a page may fail while the others are shown."""
    try:
        return await call
    except FAILURES as error:
        return problem(error)
