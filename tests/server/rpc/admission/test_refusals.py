"""What a refused call is told: why, of which method, and when to come back."""

import random

from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.domain.errors import Reason
from groundwire_server.rpc.admission.refusals import LEAST_RETRY_SECONDS, MOST_RETRY_SECONDS, overloaded


def retry_seconds(wait_seconds: float | None) -> float:
    error = overloaded("busy", {"rule": "waiting"}, wait_seconds)
    assert (error.reason, error.message, error.metadata) == (Reason.OVERLOADED, "busy", {"rule": "waiting"})
    return error.retry_after_seconds


@given(st.floats(0, 1e4))
def test_the_time_to_come_back_is_bounded(wait_seconds: float) -> None:
    assert LEAST_RETRY_SECONDS <= retry_seconds(wait_seconds) <= MOST_RETRY_SECONDS


def test_the_time_to_come_back_is_once_to_twice_the_wait() -> None:
    times = [retry_seconds(3.0) for _ in range(200)]
    assert 3 <= min(times) < 3.5
    assert 5.5 < max(times) <= 6


def test_callers_that_are_refused_together_come_back_apart_whatever_the_global_seed() -> None:
    times: list[float] = []
    for _ in range(20):
        random.seed(1)
        times.append(retry_seconds(3.0))
    assert len(set(times)) == 20


def test_nothing_known_makes_it_a_second() -> None:
    assert 1 <= retry_seconds(None) <= 2
