"""Each status with its details becomes its typed exception; absent and malformed details do no harm."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING

import grpc
import pytest
from google.protobuf import any_pb2, duration_pb2
from google.rpc import error_details_pb2
from grpc.aio import AioRpcError, Metadata

import groundwire_client
from groundwire.v1 import errors_pb2
from groundwire_client import (
    FieldViolation,
    GroundwireError,
    IndexScope,
    InvalidRequestError,
    OverloadedError,
    UnexpectedStatusError,
)
from groundwire_client._errors import error_from

if TYPE_CHECKING:
    from client.conftest import Caller, FakeServer

SCOPE = IndexScope(repository="shop", branch="main")

CLASSES = {
    grpc.StatusCode.INVALID_ARGUMENT: InvalidRequestError,
    grpc.StatusCode.NOT_FOUND: groundwire_client.NotFoundError,
    grpc.StatusCode.FAILED_PRECONDITION: groundwire_client.FailedPreconditionError,
    grpc.StatusCode.PERMISSION_DENIED: groundwire_client.PermissionDeniedError,
    grpc.StatusCode.UNAUTHENTICATED: groundwire_client.UnauthenticatedError,
    grpc.StatusCode.RESOURCE_EXHAUSTED: OverloadedError,
    grpc.StatusCode.DEADLINE_EXCEEDED: groundwire_client.DeadlineExceededError,
    grpc.StatusCode.CANCELLED: groundwire_client.CancelledError,
    grpc.StatusCode.UNAVAILABLE: groundwire_client.UnavailableError,
    grpc.StatusCode.INTERNAL: groundwire_client.InternalError,
}
REASONS = [value.name for value in errors_pb2.ErrorReason.DESCRIPTOR.values if value.number != 0]
FAILURES = [code for code in grpc.StatusCode if code is not grpc.StatusCode.OK]


def error_info(reason: str, domain: str = "groundwire", **metadata: str) -> error_details_pb2.ErrorInfo:
    return error_details_pb2.ErrorInfo(reason=reason, domain=domain, metadata=metadata)


def caught(server: FakeServer, call: Caller) -> GroundwireError:
    """The error of a call that is never retried."""
    with pytest.raises(GroundwireError) as raised:
        call(server.target, lambda client: client.activate_index(SCOPE))
    return raised.value


@pytest.mark.parametrize("code", FAILURES, ids=lambda code: code.name)
def test_the_status_picks_the_class_and_the_details_fill_it(
    server: FakeServer, call: Caller, code: grpc.StatusCode
) -> None:
    server.fail(code, "it says so", [error_info("ERROR_REASON_SCOPE_NOT_FOUND", repository="shop", branch="main")])
    error = caught(server, call)
    assert type(error) is CLASSES.get(code, UnexpectedStatusError)
    assert (error.code, error.reason, error.message) == (code, "SCOPE_NOT_FOUND", "it says so")
    assert error.metadata == {"repository": "shop", "branch": "main"}
    assert str(error) == "SCOPE_NOT_FOUND: it says so"
    assert isinstance(error.__cause__, grpc.RpcError)


@pytest.mark.parametrize("code", FAILURES, ids=lambda code: code.name)
def test_a_status_without_details_stands_alone(server: FakeServer, call: Caller, code: grpc.StatusCode) -> None:
    server.fail(code, "a proxy says so")
    error = caught(server, call)
    assert type(error) is CLASSES.get(code, UnexpectedStatusError)
    assert (error.reason, error.message, error.metadata) == ("", "a proxy says so", {})
    assert str(error) == f"{code.name}: a proxy says so"


@pytest.mark.parametrize("reason", REASONS)
def test_every_reason_of_the_contract_arrives_by_its_short_name(server: FakeServer, call: Caller, reason: str) -> None:
    server.fail(grpc.StatusCode.FAILED_PRECONDITION, details=[error_info(reason)])
    assert caught(server, call).reason == reason.removeprefix("ERROR_REASON_")


def test_the_request_id_is_at_hand(server: FakeServer, call: Caller) -> None:
    server.fail(grpc.StatusCode.INTERNAL, details=[error_info("ERROR_REASON_INTERNAL")])
    assert caught(server, call).request_id == "request 1"


def test_violations_name_each_field(server: FakeServer, call: Caller) -> None:
    violation = error_details_pb2.BadRequest.FieldViolation
    request = error_details_pb2.BadRequest(
        field_violations=[
            violation(field="top_k", reason="ERROR_REASON_VALUE_OUT_OF_RANGE", description="0 is below 1"),
            violation(field="query", reason="ERROR_REASON_FIELD_REQUIRED", description="is empty"),
        ]
    )
    info = error_info("ERROR_REASON_VALUE_OUT_OF_RANGE", field="top_k")
    server.fail(grpc.StatusCode.INVALID_ARGUMENT, details=[info, request])
    error = caught(server, call)
    assert isinstance(error, InvalidRequestError)
    assert error.violations == (
        FieldViolation("top_k", "VALUE_OUT_OF_RANGE", "0 is below 1"),
        FieldViolation("query", "FIELD_REQUIRED", "is empty"),
    )


@pytest.mark.parametrize(
    ("details", "seconds"),
    [
        ([error_details_pb2.RetryInfo(retry_delay=duration_pb2.Duration(seconds=1, nanos=500_000_000))], 1.5),
        ([error_details_pb2.RetryInfo()], None),
        ([], None),
    ],
)
def test_an_overload_says_when_to_try_again(
    server: FakeServer, call: Caller, details: list[error_details_pb2.RetryInfo], seconds: float | None
) -> None:
    server.fail(grpc.StatusCode.RESOURCE_EXHAUSTED, details=details)
    error = caught(server, call)
    assert isinstance(error, OverloadedError)
    assert error.retry_after == seconds


def test_reasons_of_another_domain_are_not_ours(server: FakeServer, call: Caller) -> None:
    server.fail(grpc.StatusCode.UNAVAILABLE, details=[error_info("NO_UPSTREAM", domain="proxy.example", field="x")])
    error = caught(server, call)
    assert (error.reason, error.metadata) == ("", {})


@pytest.mark.parametrize("name", ["ErrorInfo", "BadRequest", "RetryInfo"])
@pytest.mark.parametrize("code", [grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.RESOURCE_EXHAUSTED])
def test_a_malformed_detail_leaves_its_fields_empty(
    server: FakeServer, call: Caller, code: grpc.StatusCode, name: str
) -> None:
    server.fail(code, "it says so")
    torn = any_pb2.Any(type_url=f"type.googleapis.com/google.rpc.{name}", value=b"\x0a\xff")
    server.failures[0].details.append(torn)
    error = caught(server, call)
    assert type(error) is CLASSES[code]
    assert (error.message, error.reason) == ("it says so", "")
    assert getattr(error, "violations", ()) == ()
    assert getattr(error, "retry_after", None) is None


@pytest.mark.parametrize(
    "trailer",
    [
        None,
        (),
        (("grpc-status-details-bin", b"\x0a\xff"),),
        (("grpc-status-details-bin", b""),),
        (("grpc-status-details-bin", "text"),),
        (("other-bin", b"\x08\x05"),),
    ],
)
def test_a_torn_trailer_leaves_the_status(trailer: tuple[tuple[str, str | bytes], ...] | None) -> None:
    metadata = None if trailer is None else Metadata(*trailer)
    error = error_from(AioRpcError(grpc.StatusCode.NOT_FOUND, trailing_metadata=metadata))
    assert type(error) is groundwire_client.NotFoundError
    assert (error.reason, error.metadata) == ("", {})
    assert (error.message, error.request_id) == ("the status has no message", "")


@pytest.mark.parametrize(
    "error",
    [
        groundwire_client.NotFoundError(grpc.StatusCode.NOT_FOUND, "SCOPE_NOT_FOUND", "m", {"branch": "b"}, "r"),
        OverloadedError(grpc.StatusCode.RESOURCE_EXHAUSTED, "OVERLOADED", "m", {}, "", 1.5),
        InvalidRequestError(
            grpc.StatusCode.INVALID_ARGUMENT, "FIELD_REQUIRED", "m", {}, "", (FieldViolation("f", "r", "d"),)
        ),
    ],
)
def test_errors_travel_between_processes(error: GroundwireError) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert vars(copy) == vars(error)
