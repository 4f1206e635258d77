"""What a call tells while it runs: its stages, nested as they ran, and nothing else of it."""

import pytest

from groundwire_server.execution.observation import observed_by, observer, stage
from groundwire_server.rpc.telemetry.call_record import CallRecord, read_headers


@pytest.fixture
def call() -> CallRecord:
    return CallRecord("groundwire.v1.QueryService/Query", read_headers(None))


def test_stages_know_what_they_are_a_part_of(call: CallRecord) -> None:
    with observed_by(call), stage("sources"):
        with stage("embed"):
            pass
        with stage("dense"):
            pass
    with observed_by(call), stage("fusion"):
        pass
    assert [(timed.name, timed.parent) for timed in call.stages] == [
        ("sources", -1),
        ("embed", 0),
        ("dense", 0),
        ("fusion", -1),
    ]
    assert all(timed.began <= timed.ended for timed in call.stages)


def test_a_stage_ends_when_it_fails(call: CallRecord) -> None:
    with observed_by(call), pytest.raises(ZeroDivisionError), stage("sources"), stage("embed"):
        raise ZeroDivisionError
    assert all(timed.ended for timed in call.stages)


def test_a_stage_that_still_runs_has_no_end(call: CallRecord) -> None:
    with observed_by(call), stage("sources"):
        assert [timed.ended for timed in call.stages] == [0]


def test_nobody_hears_of_what_runs_outside_a_call(call: CallRecord) -> None:
    with observed_by(call):
        pass
    with stage("sources"):
        observer().saw_nodes(7)
    assert (call.stages, call.visible_nodes) == ([], [])


def test_a_call_that_never_got_a_thread_has_not_waited_for_one(call: CallRecord) -> None:
    call.queued()
    assert call.queue_nanoseconds is None
    call.started()
    assert call.queue_nanoseconds is not None
    assert call.queue_nanoseconds >= 0


def test_where_nobody_reports_stages_none_are_kept() -> None:
    call = CallRecord("groundwire.v1.QueryService/Query", read_headers(None), times_stages=False)
    with observed_by(call), stage("sources"), stage("embed"):
        observer().saw_nodes(7)
    assert (call.stages, call.visible_nodes) == ([], [7])
