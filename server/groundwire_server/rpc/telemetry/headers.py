"""The ids in a call's metadata: its own, and that of its trace."""

import re
import uuid
from dataclasses import dataclass

import grpc.aio

REQUEST_ID_KEY = "x-request-id"
TRACE_PARENT_KEY = "traceparent"
TRACE_STATE_KEY = "tracestate"
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
# https://www.w3.org/TR/trace-context/#traceparent-header; versions after 00 may append fields.
_TRACE_PARENT = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?")


@dataclass(frozen=True, slots=True)
class CallHeaders:
    """`request_id` is the caller's own where it is fit for a log, else a new one; `trace` is the W3C context as given.

    `caller_trace_id` is the 32 hex digits of a well-formed `traceparent`, else "".
    """

    request_id: str
    trace: dict[str, str]
    caller_trace_id: str


def read_headers(metadata: grpc.aio.Metadata | None) -> CallHeaders:
    """Of a key that is given twice, the first valid value is used."""
    request_id, trace = "", dict[str, str]()
    for key, value in metadata or ():
        if not isinstance(value, str):
            continue
        if key == REQUEST_ID_KEY and not request_id and _REQUEST_ID.fullmatch(value):
            request_id = value
        elif key in (TRACE_PARENT_KEY, TRACE_STATE_KEY):
            trace.setdefault(key, value)
    parent = _TRACE_PARENT.fullmatch(trace.get(TRACE_PARENT_KEY, ""))
    return CallHeaders(request_id or uuid.uuid4().hex, trace, parent[1] if parent else "")
