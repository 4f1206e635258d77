"""Times as sources write them: RFC 3339, with a zone."""

import re
from datetime import UTC, datetime

TIMESTAMP_RULE = (
    "be a time as RFC 3339 writes it, with a zone and at most six digits after the second, such as "
    "2025-01-01T10:00:00Z, in the years 1 to 9999 of UTC"
)
"""What `parse_timestamp` demands; completes "it must"."""

_TIMESTAMP = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?"
    r"(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
)


def parse_timestamp(text: str) -> datetime | None:
    """The moment in UTC, to the microsecond; None when the text breaks TIMESTAMP_RULE."""
    if _TIMESTAMP.fullmatch(text) is None:
        return None
    try:
        return datetime.fromisoformat(text.upper()).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def timestamp_text(moment: datetime) -> str:
    """A moment that has a zone, in UTC with `Z`, and no more digits after the second than it needs."""
    whole, point, fraction = moment.astimezone(UTC).isoformat().removesuffix("+00:00").partition(".")
    return f"{whole}{point}{fraction.rstrip('0')}Z"
