"""Percentiles, against another way to write them down."""

from math import ceil, floor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.shared.statistics import times

ROUNDS = st.lists(st.lists(st.floats(0.001, 1e6), min_size=1, max_size=40), min_size=1, max_size=5)


def interpolated(values: list[float], share: float) -> float:
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low, high = ordered[floor(place)], ordered[ceil(place)]
    return low + (high - low) * (place - floor(place))


@given(ROUNDS)
def test_percentiles_are_those_of_all_calls(rounds: list[list[float]]) -> None:
    every = [value for one in rounds for value in one]
    found = times(rounds)
    assert found.calls == len(every)
    for share, value in ((0.5, found.median), (0.95, found.p95), (0.99, found.p99)):
        assert value == pytest.approx(interpolated(every, share))


@given(ROUNDS)
def test_the_best_is_the_lowest_median_of_a_round(rounds: list[list[float]]) -> None:
    assert times(rounds).best == pytest.approx(min(interpolated(one, 0.5) for one in rounds))


def test_a_single_call_is_all_its_percentiles() -> None:
    found = times([[2.5]])
    assert (found.calls, found.median, found.p95, found.p99, found.best) == (1, 2.5, 2.5, 2.5, 2.5)
