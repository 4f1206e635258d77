"""The one table from domain errors to gRPC statuses with google.rpc details.

A status travels in HTTP/2 trailers, and clients accept 8 KiB of trailers by default. The message and the list of
violations are therefore cut, so that the whole stays below that, whatever a request held.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import grpc
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2

from groundwire.v1 import errors_pb2
from groundwire_server.domain.errors import FieldViolation, GroundwireError, InvalidRequestError, LimitError, Reason

ERROR_DOMAIN = "groundwire"
DETAILS_KEY = "grpc-status-details-bin"
REASON_PREFIX = "ERROR_REASON_"
INTERNAL_REASON = errors_pb2.ErrorReason.Name(errors_pb2.ERROR_REASON_INTERNAL)
OVERLOADED_REASON = errors_pb2.ErrorReason.Name(errors_pb2.ERROR_REASON_OVERLOADED)
MAX_MESSAGE_BYTES = 512
MAX_DESCRIPTION_BYTES = 512
MAX_VIOLATIONS_BYTES = 1_536

STATUS_CODES: Mapping[Reason, grpc.StatusCode] = {
    Reason.FIELD_REQUIRED: grpc.StatusCode.INVALID_ARGUMENT,
    Reason.VALUE_OUT_OF_RANGE: grpc.StatusCode.INVALID_ARGUMENT,
    Reason.VALUE_MALFORMED: grpc.StatusCode.INVALID_ARGUMENT,
    Reason.VALUE_UNKNOWN: grpc.StatusCode.INVALID_ARGUMENT,
    Reason.FIELDS_CONFLICT: grpc.StatusCode.INVALID_ARGUMENT,
    Reason.SCOPE_NOT_FOUND: grpc.StatusCode.NOT_FOUND,
    Reason.INDEX_NOT_FOUND: grpc.StatusCode.NOT_FOUND,
    Reason.INDEX_GONE: grpc.StatusCode.FAILED_PRECONDITION,
    Reason.INDEX_DAMAGED: grpc.StatusCode.FAILED_PRECONDITION,
    Reason.INDEX_ACTIVE: grpc.StatusCode.FAILED_PRECONDITION,
    Reason.VECTORS_MISSING: grpc.StatusCode.FAILED_PRECONDITION,
    Reason.LEXICAL_MISSING: grpc.StatusCode.FAILED_PRECONDITION,
    Reason.SOURCES_MISSING: grpc.StatusCode.FAILED_PRECONDITION,
    Reason.EMBEDDER_MISMATCH: grpc.StatusCode.FAILED_PRECONDITION,
    Reason.RERANKER_NOT_CONFIGURED: grpc.StatusCode.FAILED_PRECONDITION,
    Reason.PHRASING_NOT_CONFIGURED: grpc.StatusCode.FAILED_PRECONDITION,
    Reason.OVERLOADED: grpc.StatusCode.RESOURCE_EXHAUSTED,
    Reason.DEADLINE_EXCEEDED: grpc.StatusCode.DEADLINE_EXCEEDED,
    Reason.CANCELLED: grpc.StatusCode.CANCELLED,
    Reason.ADMINISTRATION_DISABLED: grpc.StatusCode.PERMISSION_DENIED,
    Reason.NO_MATCHES: grpc.StatusCode.NOT_FOUND,
    Reason.LIFECYCLE_NOT_GRANTED: grpc.StatusCode.PERMISSION_DENIED,
    Reason.IDENTITY_REQUIRED: grpc.StatusCode.UNAUTHENTICATED,
    Reason.IDENTITY_REFUSED: grpc.StatusCode.UNAUTHENTICATED,
    Reason.IDENTITY_UNAVAILABLE: grpc.StatusCode.UNAVAILABLE,
    Reason.SCOPE_NOT_GRANTED: grpc.StatusCode.PERMISSION_DENIED,
    Reason.TENANT_NOT_GRANTED: grpc.StatusCode.PERMISSION_DENIED,
    Reason.ADMINISTRATION_NOT_GRANTED: grpc.StatusCode.PERMISSION_DENIED,
    Reason.AUDIT_UNAVAILABLE: grpc.StatusCode.UNAVAILABLE,
    Reason.RERANKER_UNAVAILABLE: grpc.StatusCode.UNAVAILABLE,
    Reason.PHRASING_UNAVAILABLE: grpc.StatusCode.UNAVAILABLE,
    Reason.BACKEND_UNAVAILABLE: grpc.StatusCode.UNAVAILABLE,
    Reason.EMBEDDER_UNAVAILABLE: grpc.StatusCode.UNAVAILABLE,
}


@dataclass(frozen=True, slots=True)
class WireError:
    """An error as it leaves the server: status code, reason (an ErrorReason's full name), message, Status bytes."""

    code: grpc.StatusCode
    reason: str
    message: str
    details: bytes


def wire_error(error: Exception, request_id: str) -> WireError:
    """The status and details of an error for the caller; of what is no GroundwireError, only the request id."""
    if not isinstance(error, GroundwireError):
        message = f"internal error; the server's log has it under request id {request_id}"
        return _assemble(grpc.StatusCode.INTERNAL, INTERNAL_REASON, message, {"request_id": request_id}, ())
    details: tuple[Message, ...] = ()
    if isinstance(error, InvalidRequestError):
        details = (_bad_request(error.violations),)
    elif isinstance(error, LimitError):
        details = (_retry_info(error.retry_after_seconds),)
    return _assemble(
        STATUS_CODES[error.reason], REASON_PREFIX + error.reason.value, error.message, error.metadata, details
    )


def _assemble(
    code: grpc.StatusCode, reason: str, message: str, metadata: Mapping[str, str], details: tuple[Message, ...]
) -> WireError:
    info = error_details_pb2.ErrorInfo(reason=reason, domain=ERROR_DOMAIN, metadata=metadata)
    status = status_pb2.Status(
        code=code.value[0],
        message=_clip(message, MAX_MESSAGE_BYTES),
        details=[_pack(detail) for detail in (info, *details)],
    )
    return WireError(code, reason, status.message, status.SerializeToString())


def _pack(detail: Message) -> AnyMessage:
    packed = AnyMessage()
    packed.Pack(detail, deterministic=True)
    return packed


def _bad_request(violations: tuple[FieldViolation, ...]) -> error_details_pb2.BadRequest:
    """The first violations, as many as the size limit allows; always at least one."""
    bad_request = error_details_pb2.BadRequest()
    for violation in violations:
        bad_request.field_violations.add(
            field=violation.field,
            reason=REASON_PREFIX + violation.reason.value,
            description=_clip(violation.description, MAX_DESCRIPTION_BYTES),
        )
        if bad_request.ByteSize() > MAX_VIOLATIONS_BYTES:
            del bad_request.field_violations[-1]
            break
    return bad_request


def _retry_info(seconds: float) -> error_details_pb2.RetryInfo:
    delay = Duration()
    delay.FromMilliseconds(round(seconds * 1000))
    return error_details_pb2.RetryInfo(retry_delay=delay)


def _clip(text: str, max_bytes: int) -> str:
    encoded = text.encode()
    if len(encoded) <= max_bytes:
        return text
    return encoded[: max_bytes - 3].decode(errors="ignore") + "…"
