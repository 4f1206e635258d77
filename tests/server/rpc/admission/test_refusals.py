"""What a refused call is told: why, of which method, and when to come back."""

import random

from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.domain.errors import LimitError, Reason
from groundwire_server.rpc.admission.method_queue import MethodQueue, QueuedCall
from groundwire_server.rpc.admission.refusals import LEAST_RETRY_SECONDS, MOST_RETRY_SECONDS, Refusals

NOW = 50.0


def queue_of(running: int, waiting: int, seconds: float | None) -> MethodQueue:
    """A queue whose calls take `seconds`."""
    queue = MethodQueue(under_way=running + waiting)
    for _ in range(waiting):
        queue.waiting[QueuedCall("Query", 0, entered=NOW)] = None
    for _ in range(16 if seconds is not None else 0):
        queue.service_time.add(seconds or 0)
    return queue


def refusals_of(queue: MethodQueue) -> tuple[LimitError, LimitError]:
    refusals = Refusals()
    return refusals.full("Query", queue, NOW), refusals.too_late("Query", queue, NOW)


def test_the_two_reasons_to_refuse_are_told_apart() -> None:
    full, too_late = refusals_of(queue_of(3, 5, 0.5))
    assert full.metadata == {"method": "Query", "rule": "waiting"}
    assert full.message == "3 calls of Query are running and 5 waiting; try again later"
    assert too_late.metadata == {"method": "Query", "rule": "deadline"}
    assert full.reason is too_late.reason is Reason.OVERLOADED


@given(st.integers(0, 10), st.integers(0, 200), st.none() | st.floats(0, 1e4))
def test_the_time_to_come_back_is_bounded(running: int, waiting: int, seconds: float | None) -> None:
    for refusal in refusals_of(queue_of(running, waiting, seconds)):
        assert LEAST_RETRY_SECONDS <= refusal.retry_after_seconds <= MOST_RETRY_SECONDS


def test_the_time_to_come_back_is_once_to_twice_what_the_queue_takes_to_drain() -> None:
    times = [refusals_of(queue_of(1, 9, 0.3))[0].retry_after_seconds for _ in range(200)]
    assert 3 <= min(times) < 3.5
    assert 5.5 < max(times) <= 6


def test_callers_that_are_refused_together_come_back_apart_whatever_the_global_seed() -> None:
    times: list[float] = []
    for _ in range(20):
        random.seed(1)
        times.append(refusals_of(queue_of(1, 9, 0.3))[0].retry_after_seconds)
    assert len(set(times)) == 20


def test_nothing_known_makes_it_a_second() -> None:
    assert 1 <= refusals_of(queue_of(0, 0, None))[0].retry_after_seconds <= 2
