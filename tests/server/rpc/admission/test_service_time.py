"""What is known of how long calls take: nothing at first, then what most of them took."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.rpc.admission.service_time import ServiceTime

seconds = st.floats(0, 1e4)


def after(*samples: float) -> ServiceTime:
    service_time = ServiceTime()
    for sample in samples:
        service_time.add(sample)
    return service_time


def test_nothing_is_known_before_enough_calls_have_ended() -> None:
    assert after(*[1.0] * 15).mean is None
    assert after(*[1.0] * 15).most == 0
    assert after(*[1.0] * 16).mean == 1.0


def test_first_calls_that_load_an_index_do_not_count() -> None:
    assert after(9.0, 9.0, *[0.01] * 14).mean == 0.01


def test_one_stall_moves_the_mean_by_three_eighths() -> None:
    assert after(*[0.01] * 16, 60.0).mean == pytest.approx(0.01 * 11 / 8)


@pytest.mark.parametrize("later", [0.001, 0.1])
def test_a_lasting_change_is_followed(later: float) -> None:
    service_time = after(*[0.01] * 16, *[later] * 100)
    assert service_time.mean == pytest.approx(later, rel=0.1)


def test_calls_that_vary_take_longer_than_the_mean_at_most() -> None:
    service_time = after(*[0.01, 0.03] * 100)
    assert service_time.mean == pytest.approx(0.02, rel=0.1)
    assert service_time.most > 0.03


def test_a_call_that_was_cut_short_tells_something_only_when_it_took_long() -> None:
    service_time = after(*[0.01] * 16)
    service_time.add(0.001, at_least=True)
    assert service_time.mean == 0.01
    service_time.add(0.02, at_least=True)
    assert service_time.mean == pytest.approx(0.01 * 9 / 8)


def test_calls_that_are_cut_short_make_nothing_known() -> None:
    service_time = ServiceTime()
    for _ in range(100):
        service_time.add(1.0, at_least=True)
    assert service_time.mean is None


@given(st.lists(seconds, min_size=16, max_size=60))
def test_the_mean_lies_within_what_was_seen_and_most_is_no_less(samples: list[float]) -> None:
    service_time = after(*samples)
    assert service_time.mean is not None
    assert min(samples) * 0.999 <= service_time.mean <= max(samples) * 1.001
    assert service_time.most >= service_time.mean
