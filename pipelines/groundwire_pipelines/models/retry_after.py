"""How long an endpoint asks to wait before the next try."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

MOST_WAIT_SECONDS: Final = 60
"""The longest time that is waited because an endpoint asks for it."""
_DECIMAL: Final = re.compile(r"\d{1,9}(\.\d{1,9})?")


def wait_seconds(headers: Mapping[str, str]) -> float:
    """The seconds of `retry-after-ms`, else of `Retry-After` (RFC 9110), a number or a date; 0 without either."""
    in_milliseconds, wanted = headers.get("retry-after-ms", ""), headers.get("retry-after", "")
    if _DECIMAL.fullmatch(in_milliseconds):
        return float(in_milliseconds) / 1000
    if _DECIMAL.fullmatch(wanted):
        return float(wanted)
    try:
        moment = parsedate_to_datetime(wanted)
    except ValueError:
        return 0.0
    return max(0.0, (moment.astimezone(UTC) - datetime.now(UTC)).total_seconds())
