"""A flood of refusals makes a few lines of log, which tell how many there were."""

import asyncio

import pytest
import structlog

from groundwire_server.rpc.telemetry.refused_calls import RefusedCalls


@pytest.mark.asyncio
async def test_refusals_are_told_once_in_a_while_by_method() -> None:
    refused = RefusedCalls(period_seconds=0.05)
    with structlog.testing.capture_logs() as lines:
        for _ in range(3):
            refused.note("a.A/Search")
        refused.note("a.A/Fetch")
        assert lines == []
        await asyncio.sleep(0.2)
        refused.note("a.A/Search")
        await asyncio.sleep(0.2)
    assert [(line["event"], line["method"], line["count"]) for line in lines] == [
        ("calls refused", "a.A/Search", 3),
        ("calls refused", "a.A/Fetch", 1),
        ("calls refused", "a.A/Search", 1),
    ]
