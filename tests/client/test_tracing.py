"""Calls hand the current trace on, through both clients, and nothing where there is none."""

from typing import TYPE_CHECKING

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import format_span_id, format_trace_id

from support import programs

if TYPE_CHECKING:
    from client.conftest import Caller, FakeServer

TRACER = TracerProvider(shutdown_on_exit=False).get_tracer("tests")


def test_the_current_span_is_the_callers(server: "FakeServer", call: "Caller") -> None:
    with TRACER.start_as_current_span("question") as span:
        call(server.target, lambda client: client.list_indexes())
    current = span.get_span_context()
    expected = f"00-{format_trace_id(current.trace_id)}-{format_span_id(current.span_id)}-{current.trace_flags:02x}"
    assert server.attempts[0].metadata["traceparent"] == expected


def test_without_a_span_nothing_is_sent(server: "FakeServer", call: "Caller") -> None:
    call(server.target, lambda client: client.list_indexes())
    assert "traceparent" not in server.attempts[0].metadata


@pytest.mark.parametrize("module", ["groundwire_client", "groundwire_client._transport"])
def test_the_client_does_not_load_opentelemetry(module: str) -> None:
    assert programs.output("untraced_client", module) == ""
