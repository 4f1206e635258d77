"""Every domain error has one place on the wire, and no request can make an error too large to send."""

import re
from importlib.resources import files
from typing import TYPE_CHECKING
from unittest.mock import Mock

import grpc
import pytest

from groundwire.v1 import errors_pb2, retrieval_pb2, retrieval_pb2_grpc
from groundwire_server.domain.errors import (
    CancelledError,
    DeadlineError,
    FieldViolation,
    GroundwireError,
    InvalidRequestError,
    LimitError,
    NotFoundError,
    PermissionDeniedError,
    PreconditionError,
    Reason,
)
from groundwire_server.rpc.error_table import STATUS_CODES, wire_error

if TYPE_CHECKING:
    from server.rpc.conftest import Failed, Serving


def test_every_reason_of_the_contract_has_its_domain_reason_and_back() -> None:
    names = {name.removeprefix("ERROR_REASON_") for name in errors_pb2.ErrorReason.keys()}  # noqa: SIM118
    assert names - {"UNSPECIFIED", "INTERNAL"} == {reason.value for reason in Reason}


def test_every_domain_reason_has_a_status() -> None:
    assert set(STATUS_CODES) == set(Reason)


def test_the_statuses_are_those_that_the_contract_states() -> None:
    contract = files("groundwire.v1").joinpath("errors_pb2.pyi").read_text()
    stated = dict(re.findall(r'^ {4}ERROR_REASON_(\w+): .*\n(?: {4}"""([A-Z_]+)\. )', contract, flags=re.MULTILINE))
    assert stated.pop("INTERNAL") == "INTERNAL"
    assert {reason.value: code.name for reason, code in STATUS_CODES.items()} == stated


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("error", "code", "metadata"),
    [
        (NotFoundError(Reason.SCOPE_NOT_FOUND, "m", {"repository": "shop"}), "NOT_FOUND", {"repository": "shop"}),
        (
            PreconditionError(Reason.VECTORS_MISSING, "m", {"active_index": "v"}),
            "FAILED_PRECONDITION",
            {"active_index": "v"},
        ),
        (NotFoundError(Reason.NO_MATCHES, "m", {"branch": "main"}), "NOT_FOUND", {"branch": "main"}),
        (PermissionDeniedError(Reason.ADMINISTRATION_DISABLED, "m"), "PERMISSION_DENIED", {}),
        (
            PermissionDeniedError(Reason.LIFECYCLE_NOT_GRANTED, "m", {"field": "visibility"}),
            "PERMISSION_DENIED",
            {"field": "visibility"},
        ),
        (LimitError(Reason.OVERLOADED, "m", 2.5, {"method": "x"}), "RESOURCE_EXHAUSTED", {"method": "x"}),
        (DeadlineError(), "DEADLINE_EXCEEDED", {}),
        (CancelledError(), "CANCELLED", {}),
        (
            InvalidRequestError(
                (
                    FieldViolation("top_k", Reason.VALUE_OUT_OF_RANGE, "is 0; give 1 to 1000"),
                    FieldViolation("query", Reason.FIELD_REQUIRED, "is required"),
                )
            ),
            "INVALID_ARGUMENT",
            {"field": "top_k"},
        ),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, GroundwireError) else "",
)
async def test_an_error_of_the_engine_reaches_the_caller_with_its_details(
    serving: "Serving",
    engine: Mock,
    failed: "Failed",
    search_request: retrieval_pb2.SearchNodesRequest,
    error: GroundwireError,
    code: str,
    metadata: dict[str, str],
) -> None:
    engine.search.side_effect = error
    async with serving() as server, grpc.aio.insecure_channel(server.address) as channel:
        failure = await failed(retrieval_pb2_grpc.RetrievalServiceStub(channel).SearchNodes(search_request))
    assert failure.code.name == code
    assert failure.message == error.message
    assert failure.info.reason == f"ERROR_REASON_{error.reason.value}"
    assert dict(failure.info.metadata) == metadata
    assert failure.retry_seconds == (2.5 if isinstance(error, LimitError) else None)
    assert failure.violations == (
        [("top_k", "ERROR_REASON_VALUE_OUT_OF_RANGE"), ("query", "ERROR_REASON_FIELD_REQUIRED")]
        if isinstance(error, InvalidRequestError)
        else []
    )


@pytest.mark.asyncio
@pytest.mark.parametrize("filler", ["x", "\N{GRINNING FACE}", "%"])
async def test_the_largest_error_still_fits_the_trailers_a_client_accepts(
    serving: "Serving", engine: Mock, failed: "Failed", search_request: retrieval_pb2.SearchNodesRequest, filler: str
) -> None:
    violations = [FieldViolation(f"ids[{n}]", Reason.VALUE_MALFORMED, filler * 5_000) for n in range(1_000)]
    error = InvalidRequestError(tuple(violations))
    error.metadata = {"repository": filler * 200, "branch": filler * 200, "active_index": "v" * 128}
    engine.search.side_effect = error
    async with serving() as server, grpc.aio.insecure_channel(server.address) as channel:
        failure = await failed(retrieval_pb2_grpc.RetrievalServiceStub(channel).SearchNodes(search_request))
    assert failure.code is grpc.StatusCode.INVALID_ARGUMENT
    assert failure.violations[0] == ("ids[0]", "ERROR_REASON_VALUE_MALFORMED")
    assert failure.message.startswith("ids[0]: ")
    assert failure.message.endswith("…")


def test_the_same_error_gives_the_same_bytes() -> None:
    metadata = {str(number): "x" for number in range(20)}
    forwards = PreconditionError(Reason.INDEX_GONE, "gone", metadata)
    backwards = PreconditionError(Reason.INDEX_GONE, "gone", dict(reversed(metadata.items())))
    assert wire_error(forwards, "id").details == wire_error(backwards, "id").details


@pytest.mark.asyncio
async def test_of_an_unexpected_exception_the_caller_learns_only_the_request_id(
    serving: "Serving", engine: Mock, failed: "Failed", search_request: retrieval_pb2.SearchNodesRequest
) -> None:
    engine.search.side_effect = ZeroDivisionError("secret")
    async with serving() as server, grpc.aio.insecure_channel(server.address) as channel:
        failure = await failed(
            retrieval_pb2_grpc.RetrievalServiceStub(channel).SearchNodes(
                search_request, metadata=(("x-request-id", "r-1"),)
            )
        )
    assert failure.code is grpc.StatusCode.INTERNAL
    assert failure.message == "internal error; the server's log has it under request id r-1"
    assert failure.info.reason == "ERROR_REASON_INTERNAL"
    assert dict(failure.info.metadata) == {"request_id": "r-1"}


@pytest.mark.asyncio
async def test_a_timeout_error_of_the_engine_is_a_defect_and_no_deadline(
    serving: "Serving", engine: Mock, failed: "Failed", search_request: retrieval_pb2.SearchNodesRequest
) -> None:
    engine.search.side_effect = TimeoutError("a disk did not answer")
    async with serving() as server, grpc.aio.insecure_channel(server.address) as channel:
        failure = await failed(retrieval_pb2_grpc.RetrievalServiceStub(channel).SearchNodes(search_request))
    assert failure.code is grpc.StatusCode.INTERNAL


def test_the_contract_names_every_rule_by_which_an_identity_is_refused() -> None:
    modules = [file for file in files("groundwire_server.rpc.identity").iterdir() if file.name.endswith(".py")]
    code = "".join(module.read_text(encoding="utf-8") for module in modules)
    rules = set(re.findall(r'refused\(\s*"(\w+)"', code)) | set(re.findall(r'\("(\w+)", f?"the token', code))
    contract = files("groundwire.v1").joinpath("errors.proto").read_text(encoding="utf-8")
    comment, _, _ = contract.partition("ERROR_REASON_IDENTITY_REFUSED = ")
    _, _, comment = comment.rpartition("ERROR_REASON_IDENTITY_REQUIRED = ")
    assert {"expired", "malformed", "certificate_revoked", "lifetime"} <= rules
    assert rules <= set(re.findall(r"`(\w+)`", comment))
