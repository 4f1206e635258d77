"""Times as RFC 3339 writes them."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_ingest.timestamps import parse_timestamp, timestamp_text


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2025-01-01T10:00:00Z", datetime(2025, 1, 1, 10, tzinfo=UTC)),
        ("2025-01-01t10:00:00z", datetime(2025, 1, 1, 10, tzinfo=UTC)),
        ("2025-01-01 10:00:00-00:00", datetime(2025, 1, 1, 10, tzinfo=UTC)),
        ("2025-01-01T00:30:00+01:00", datetime(2024, 12, 31, 23, 30, tzinfo=UTC)),
        ("2025-01-01T10:00:00.5Z", datetime(2025, 1, 1, 10, 0, 0, 500_000, tzinfo=UTC)),
        ("0001-01-01T00:00:00.000001Z", datetime(1, 1, 1, 0, 0, 0, 1, tzinfo=UTC)),
        ("9999-12-31T23:59:59.999999Z", datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)),
    ],
)
def test_a_time(text: str, moment: datetime) -> None:
    parsed = parse_timestamp(text)
    assert parsed == moment
    assert parsed.tzinfo is UTC


@pytest.mark.parametrize(
    "text",
    [
        *("", "now", "2025-01-01", "2025-01-01T10:00:00", "2025-01-01T10:00Z", "20250101T100000Z"),
        *("2025-01-01T10:00:00.Z", "2025-01-01T10:00:00.1234567Z", "2025-01-01T10:00:00,5Z", " 2025-01-01T10:00:00Z"),
        *("2025-02-29T10:00:00Z", "2025-01-01T24:00:00Z", "2025-01-01T10:00:60Z", "2025-01-01T10:00:00+24:00"),
        *("2025-01-01T10:00:00+01:60", "2025-01-01T10:00:00+0100", "\u0662025-01-01T10:00:00Z"),
        *("0000-01-01T10:00:00Z", "0001-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01"),
    ],
)
def test_no_time(text: str) -> None:
    assert parse_timestamp(text) is None


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (datetime(2025, 1, 1, 10, tzinfo=UTC), "2025-01-01T10:00:00Z"),
        (datetime(2025, 1, 1, 10, 0, 0, 120_000, tzinfo=UTC), "2025-01-01T10:00:00.12Z"),
        (datetime(2025, 1, 1, 1, 0, 0, 1, tzinfo=timezone(timedelta(hours=2))), "2024-12-31T23:00:00.000001Z"),
        (datetime(800, 1, 1, tzinfo=UTC), "0800-01-01T00:00:00Z"),
    ],
)
def test_a_text(moment: datetime, text: str) -> None:
    assert timestamp_text(moment) == text


@given(st.datetimes(timezones=st.just(UTC)))
def test_every_moment_comes_back(moment: datetime) -> None:
    assert parse_timestamp(timestamp_text(moment)) == moment
