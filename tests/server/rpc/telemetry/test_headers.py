"""Trace contexts of callers, by the rules of the W3C."""

import grpc.aio
import pytest

from groundwire_server.rpc.telemetry.call_record import read_headers

TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736"
SPAN_ID = "00f067aa0ba902b7"


def caller_trace_id(*values: str) -> str:
    return read_headers(grpc.aio.Metadata(*(("traceparent", value) for value in values))).caller_trace_id


@pytest.mark.parametrize(
    "value",
    [
        f"00-{TRACE_ID}-{SPAN_ID}-01",
        f"00-{TRACE_ID}-{SPAN_ID}-00",
        f"cc-{TRACE_ID}-{SPAN_ID}-01-what-the-future-will-be-like",
    ],
    ids=["sampled", "not-sampled", "later-version"],
)
def test_a_trace_context_gives_its_trace_id(value: str) -> None:
    assert caller_trace_id(value) == TRACE_ID


@pytest.mark.parametrize(
    "value",
    [
        "",
        "nonsense",
        f"ff-{TRACE_ID}-{SPAN_ID}-01",
        f"00-{'0' * 32}-{SPAN_ID}-01",
        f"00-{TRACE_ID}-{'0' * 16}-01",
        f"00-{TRACE_ID.upper()}-{SPAN_ID}-01",
        f"00-{TRACE_ID}-{SPAN_ID}",
        f"00-{TRACE_ID}-{SPAN_ID}-01\n",
    ],
    ids=["empty", "words", "version-ff", "no-trace", "no-span", "upper-case", "no-flags", "newline"],
)
def test_what_is_no_trace_context_gives_none(value: str) -> None:
    assert caller_trace_id(value) == ""


def test_of_two_trace_contexts_the_first_counts() -> None:
    assert caller_trace_id(f"00-{TRACE_ID}-{SPAN_ID}-01", f"00-{'a' * 32}-{SPAN_ID}-01") == TRACE_ID


def test_values_of_bytes_are_no_headers() -> None:
    headers = read_headers(grpc.aio.Metadata(("x-request-id", b"abc"), ("traceparent", b"\xff")))
    assert (len(headers.request_id), headers.trace) == (32, {})


def test_a_call_without_metadata_gets_an_id() -> None:
    assert len(read_headers(None).request_id) == 32
