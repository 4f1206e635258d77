"""Freshness against the formula in decimal arithmetic, and its properties."""

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_index.nodes.node_table import NO_TIMESTAMP
from groundwire_server.domain.query.freshness import blend, decays
from groundwire_server.domain.query.query import Freshness
from groundwire_server.domain.search.search import Retriever
from support.listed_candidates import candidates_of, microseconds

NOW = datetime(2025, 6, 1, 12, tzinfo=UTC)
DEFAULT = Freshness()

times = st.datetimes(datetime(1990, 1, 1), datetime(2060, 1, 1), timezones=st.just(UTC))
shares = st.floats(0, 1)


def ago(days: float) -> datetime:
    return NOW - timedelta(days=days)


def freshness_of(corpus_type: str, timestamp: datetime | None, now: datetime, freshness: Freshness) -> float | None:
    """The decay of one candidate among others that have none."""
    candidates = candidates_of({Retriever.TRIGRAM: [None] * 3}, ["CODE_LOGIC", corpus_type, "DOC_README"])
    time = microseconds(timestamp)
    times = np.asarray([0, NO_TIMESTAMP if time is None else time, NO_TIMESTAMP])
    first, decay, last = decays(replace(candidates.columns, timestamps=times), now, freshness).tolist()
    assert math.isnan(first)
    assert math.isnan(last)
    return None if math.isnan(decay) else decay


def blended(relevance: float, decay: float, weight: float) -> float:
    return float(blend(np.asarray([relevance]), np.asarray([decay]), weight)[0])


def final(corpus_type: str, timestamp: datetime | None, relevance: float, freshness: Freshness = DEFAULT) -> float:
    decay = freshness_of(corpus_type, timestamp, NOW, freshness)
    return relevance if decay is None else blended(relevance, decay, freshness.weight)


@given(timestamp=times, now=times, half_life=st.floats(0.5, 36_500), weight=st.floats(1e-6, 1), relevance=shares)
def test_freshness_equals_the_formula(
    timestamp: datetime, now: datetime, half_life: float, weight: float, relevance: float
) -> None:
    """`(1 - weight) * relevance + weight * 2 ** (-age / half_life)`, where age is at least 0 days."""
    age_days = Decimal(max((now - timestamp) // timedelta(microseconds=1), 0)) / 86_400_000_000
    decay = Decimal(2) ** (-age_days / Decimal(half_life))
    expected = (1 - Decimal(weight)) * Decimal(relevance) + Decimal(weight) * decay
    actual = freshness_of("CONVO_SLACK", timestamp, now, Freshness(half_life, weight))
    assert actual is not None
    assert actual == pytest.approx(float(decay), rel=1e-9, abs=1e-300)
    assert blended(relevance, actual, weight) == pytest.approx(float(expected), rel=1e-9, abs=1e-12)


def test_the_specified_constant_is_the_natural_logarithm_of_two() -> None:
    decay = freshness_of("CONVO_SLACK", ago(123), NOW, DEFAULT)
    assert decay == pytest.approx(2.718281828 ** (-0.693 * 123 / 90), rel=1e-3)


def test_recent_convo_boosted() -> None:
    assert final("CONVO_SLACK", ago(1), 0.5) > final("CONVO_SLACK", ago(365), 0.5)


@pytest.mark.parametrize("corpus_type", ["CODE_LOGIC", "DOC_RUNBOOK", "", "convo_slack", "CONVOLUTION", "MY_CONVO_X"])
def test_non_convo_unchanged(corpus_type: str) -> None:
    assert freshness_of(corpus_type, ago(1), NOW, DEFAULT) is None
    assert final(corpus_type, ago(1), 0.375) == 0.375


@pytest.mark.parametrize("corpus_type", ["CONVO_SLACK", "CONVO_EMAIL", "CONVO_"])
def test_every_kind_of_conversation_counts(corpus_type: str) -> None:
    assert freshness_of(corpus_type, ago(0), NOW, DEFAULT) == 1.0


@pytest.mark.parametrize("half_life", [0.25, 1.0, 90.0, 36_500.0])
def test_half_life_decay(half_life: float) -> None:
    freshness = Freshness(half_life_days=half_life)
    assert freshness_of("CONVO_SLACK", ago(half_life), NOW, freshness) == 0.5
    assert freshness_of("CONVO_SLACK", ago(3 * half_life), NOW, freshness) == 0.125


@pytest.mark.parametrize("nothing", [Freshness(weight=0.0), Freshness(half_life_days=0.0)])
def test_zero_disables(nothing: Freshness) -> None:
    for timestamp in (ago(0), ago(1_000), None):
        assert freshness_of("CONVO_SLACK", timestamp, NOW, nothing) is None
        assert final("CONVO_SLACK", timestamp, 0.625, nothing) == 0.625


def test_missing_timestamp_unchanged() -> None:
    assert freshness_of("CONVO_SLACK", None, NOW, DEFAULT) is None
    assert final("CONVO_SLACK", None, 0.625) == 0.625


@pytest.mark.parametrize("timestamp", [NOW, ago(-1e-6), ago(-1), datetime.max.replace(tzinfo=UTC)])
def test_future_timestamp_no_boost(timestamp: datetime) -> None:
    assert freshness_of("CONVO_SLACK", timestamp, NOW, DEFAULT) == 1.0


def test_ordering_preserved_for_non_convo() -> None:
    relevances = [0.9, 0.5, 0.5, 0.1]
    assert [final("CODE_LOGIC", ago(days), relevance) for days, relevance in enumerate(relevances)] == relevances


def test_the_defaults_are_those_of_the_specification() -> None:
    assert (DEFAULT.half_life_days, DEFAULT.weight) == (90.0, 0.1)
    assert final("CONVO_SLACK", ago(90), 0.8) == pytest.approx(0.9 * 0.8 + 0.1 * 0.5)


def test_a_weight_of_one_leaves_freshness_alone() -> None:
    assert final("CONVO_SLACK", ago(90), 0.8, Freshness(weight=1.0)) == 0.5


def test_the_zone_of_a_time_does_not_matter() -> None:
    elsewhere = ago(10).astimezone(timezone(timedelta(hours=-9, minutes=-30)))
    assert freshness_of("CONVO_SLACK", elsewhere, NOW, DEFAULT) == freshness_of("CONVO_SLACK", ago(10), NOW, DEFAULT)


@pytest.mark.parametrize("half_life", [5e-324, 1e-9, 1.0])
def test_what_is_endlessly_old_decays_to_nothing(half_life: float) -> None:
    oldest = datetime.min.replace(tzinfo=UTC)
    assert freshness_of("CONVO_SLACK", oldest, NOW, Freshness(half_life_days=half_life)) == 0.0
