"""The client's half of the error table: every failed call raises a subclass of `GroundwireError`.

The status code picks the class. The google.rpc details that the server attaches fill its fields. If they are absent (a
proxy answered, or no server did) or malformed, the fields are empty, and the status is still valid.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar, cast

import grpc
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.message import DecodeError, Message
from google.rpc import error_details_pb2, status_pb2

_DETAILS_KEY = "grpc-status-details-bin"
_REQUEST_ID_KEY = "x-request-id"
_DOMAIN = "groundwire"
_REASON_PREFIX = "ERROR_REASON_"

_Detail = TypeVar("_Detail", bound=Message)


@dataclass(frozen=True, slots=True)
class FieldViolation:
    """One broken rule: the request's field as a proto path, the reason, and what was wrong and what to do."""

    field: str
    reason: str
    description: str


@dataclass(eq=False, repr=False)
class GroundwireError(Exception):
    """Base of every error of a call.

    Attributes:
        code: The gRPC status code.
        reason: The name of a `groundwire.v1.ErrorReason` without `ERROR_REASON_`, for the reason stated there; empty
            when no Groundwire server sent the error. A newer server may send names that this client does not know.
        message: The problem, for people to read.
        metadata: Details by the keys that `errors.proto` states at each reason.
        request_id: Finds the call in the server's log; empty when the server sent none.
    """

    code: grpc.StatusCode
    reason: str
    message: str
    metadata: Mapping[str, str]
    request_id: str

    def __str__(self) -> str:
        return f"{self.reason or self.code.name}: {self.message}"


@dataclass(eq=False, repr=False)
class InvalidRequestError(GroundwireError):
    """INVALID_ARGUMENT: the request violates the contract. `violations` names each field."""

    violations: tuple[FieldViolation, ...]


class NotFoundError(GroundwireError):
    """NOT_FOUND: there is no such scope or index, or the caller may see no node of it."""


class FailedPreconditionError(GroundwireError):
    """FAILED_PRECONDITION: the index or the server lacks what the call needs, or the pinned version is gone."""


class PermissionDeniedError(GroundwireError):
    """PERMISSION_DENIED: the server's configuration does not allow the call."""


class UnauthenticatedError(GroundwireError):
    """UNAUTHENTICATED: the server could not verify who calls."""


@dataclass(eq=False, repr=False)
class OverloadedError(GroundwireError):
    """RESOURCE_EXHAUSTED: a limit or overload. `retry_after` is in seconds, None when the server gave no time."""

    retry_after: float | None


class DeadlineExceededError(GroundwireError):
    """DEADLINE_EXCEEDED: the call's timeout, or the server's own maximum, passed."""


class CancelledError(GroundwireError):
    """CANCELLED: the call was given up. A cancelled asyncio task raises `asyncio.CancelledError` as ever."""


class UnavailableError(GroundwireError):
    """UNAVAILABLE: the server is out of reach, starting or draining; the retries of the call are used up."""


class InternalError(GroundwireError):
    """INTERNAL: a defect of the server. Report `request_id`."""


class UnexpectedStatusError(GroundwireError):
    """Any status code that Groundwire does not send, such as UNIMPLEMENTED from an older server."""


_PLAIN_ERRORS: Mapping[grpc.StatusCode, type[GroundwireError]] = {
    grpc.StatusCode.NOT_FOUND: NotFoundError,
    grpc.StatusCode.FAILED_PRECONDITION: FailedPreconditionError,
    grpc.StatusCode.PERMISSION_DENIED: PermissionDeniedError,
    grpc.StatusCode.UNAUTHENTICATED: UnauthenticatedError,
    grpc.StatusCode.DEADLINE_EXCEEDED: DeadlineExceededError,
    grpc.StatusCode.CANCELLED: CancelledError,
    grpc.StatusCode.UNAVAILABLE: UnavailableError,
    grpc.StatusCode.INTERNAL: InternalError,
}


def error_from(error: grpc.RpcError) -> GroundwireError:
    """The typed error of a failed call of either gRPC stack."""
    code = error.code()
    message = error.details() or "the status has no message"
    # The stubs know only the named tuples of the sync stack; grpc.aio has plain ones.
    trailer = dict(cast("Iterable[tuple[str, str | bytes]]", error.trailing_metadata() or ()))
    details = _details(trailer)
    info = _first(details, error_details_pb2.ErrorInfo)
    if info.domain != _DOMAIN:
        info = error_details_pb2.ErrorInfo()
    reason = info.reason.removeprefix(_REASON_PREFIX)
    metadata = dict(info.metadata)
    request_id = str(trailer.get(_REQUEST_ID_KEY, ""))
    if code is grpc.StatusCode.INVALID_ARGUMENT:
        return InvalidRequestError(code, reason, message, metadata, request_id, _violations(details))
    if code is grpc.StatusCode.RESOURCE_EXHAUSTED:
        return OverloadedError(code, reason, message, metadata, request_id, _retry_after(details))
    return _PLAIN_ERRORS.get(code, UnexpectedStatusError)(code, reason, message, metadata, request_id)


def _details(trailer: Mapping[str, str | bytes]) -> tuple[AnyMessage, ...]:
    packed = trailer.get(_DETAILS_KEY)
    if not isinstance(packed, bytes):
        return ()
    try:
        return tuple(status_pb2.Status.FromString(packed).details)
    except DecodeError:
        return ()


def _first(details: tuple[AnyMessage, ...], kind: type[_Detail]) -> _Detail:
    """The first detail of a kind; an empty one when there is none or it is malformed."""
    for detail in details:
        if detail.TypeName() == kind.DESCRIPTOR.full_name:
            try:
                return kind.FromString(detail.value)
            except DecodeError:
                return kind()
    return kind()


def _violations(details: tuple[AnyMessage, ...]) -> tuple[FieldViolation, ...]:
    return tuple(
        FieldViolation(violation.field, violation.reason.removeprefix(_REASON_PREFIX), violation.description)
        for violation in _first(details, error_details_pb2.BadRequest).field_violations
    )


def _retry_after(details: tuple[AnyMessage, ...]) -> float | None:
    info = _first(details, error_details_pb2.RetryInfo)
    return info.retry_delay.seconds + info.retry_delay.nanos / 1e9 if info.HasField("retry_delay") else None
