"""Requests that must be refused, as rows of a table, and how a refusal is checked over the wire."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import grpc
import pytest
from google.protobuf.message import Message
from google.rpc import error_details_pb2
from grpc_status import rpc_status

INVALID = grpc.StatusCode.INVALID_ARGUMENT
NOT_FOUND = grpc.StatusCode.NOT_FOUND
FAILED = grpc.StatusCode.FAILED_PRECONDITION
DENIED = grpc.StatusCode.PERMISSION_DENIED
UNAVAILABLE = grpc.StatusCode.UNAVAILABLE

Request = TypeVar("Request", bound=Message)


@dataclass(frozen=True)
class Row:
    """A request, and the error it must end with."""

    rule: str
    request: Message
    code: grpc.StatusCode
    reason: str
    field: str = ""


def with_fields(request: Request, fields: dict[str, object]) -> Request:
    """The request with some fields replaced; None clears one."""
    for name in fields:
        request.ClearField(name)
    request.MergeFrom(type(request)(**{name: value for name, value in fields.items() if value is not None}))
    return request


def check_refused(row: Row, call: Callable[..., Message]) -> error_details_pb2.ErrorInfo:
    """Makes the call, which must end as the row says: status, reason and the field that is named first."""
    with pytest.raises(grpc.RpcError) as raised:
        call(row.request, timeout=300)
    error = raised.value
    assert isinstance(error, grpc.Call)
    assert error.code() is row.code, error.details()
    status = rpc_status.from_call(error)
    assert status is not None
    info, bad_request = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest()
    for detail in status.details:
        detail.Unpack(info)
        detail.Unpack(bad_request)
    assert (info.domain, info.reason) == ("groundwire", f"ERROR_REASON_{row.reason}")
    named = [row.field] if row.field and row.code is INVALID else []
    assert [violation.field for violation in bad_request.field_violations][:1] == named
    assert info.metadata["field"] == row.field if row.field else "field" not in info.metadata
    return info
