"""The paired bootstrap, against distributions that are known."""

import numpy as np
import pytest

from bench.shared.statistics import Difference, paired_difference


def test_the_same_difference_everywhere_leaves_no_doubt() -> None:
    assert paired_difference(np.full(50, 0.75), np.full(50, 0.5)) == Difference(0.25, 0.25, 0.25)


def test_two_queries_may_both_be_drawn_to_either_side() -> None:
    """Means 0, 1/2 and 1 have probabilities 1/4, 1/2, 1/4: the interval is all of it."""
    assert paired_difference(np.array([1.0, 1.0]), np.array([0.0, 1.0])) == Difference(0.5, 0.0, 1.0)


def test_pairs_matter_not_spreads() -> None:
    """Values vary wildly from query to query, their difference does not."""
    values = np.random.default_rng(1).random(200)
    interval = paired_difference(values + 0.01, values)
    assert interval.low == pytest.approx(0.01)
    assert interval.high == pytest.approx(0.01)


def test_many_queries_approach_the_normal_interval() -> None:
    differences = np.random.default_rng(2).normal(0.1, 0.5, 400)
    interval = paired_difference(differences, np.zeros(400))
    half = 1.959964 * differences.std() / np.sqrt(400)
    assert interval.mean == differences.mean()
    assert interval.low == pytest.approx(differences.mean() - half, abs=0.002)
    assert interval.high == pytest.approx(differences.mean() + half, abs=0.002)


def test_coverage_of_a_skewed_difference_is_that_of_all_resamples() -> None:
    """Three queries have 27 equally likely resamples; their quantiles are the interval."""
    values = np.array([0.0, 0.1, 1.0])
    means = np.sort([(a + b + c) / 3 for a in values for b in values for c in values])
    interval = paired_difference(values, np.zeros(3))
    assert interval.low == pytest.approx(means[0])
    assert interval.high == pytest.approx(means[-1])


def test_the_same_values_give_the_same_interval() -> None:
    values, baseline = np.random.default_rng(3).random((2, 100))
    assert paired_difference(values, baseline) == paired_difference(values, baseline)
    forth, back = paired_difference(values, baseline), paired_difference(baseline, values)
    assert back.low == pytest.approx(-forth.high)
    assert back.high == pytest.approx(-forth.low)
