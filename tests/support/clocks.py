"""Clocks that a test moves on: they stand in for `time` and `datetime` in the module under test."""

import time
from datetime import UTC, datetime, timedelta, tzinfo


class Clock:
    """The module `time`, in which `passed` seconds more have passed."""

    def __init__(self) -> None:
        self.passed = 0.0

    def monotonic(self) -> float:
        """As `time.monotonic`."""
        return time.monotonic() + self.passed

    def time(self) -> float:
        """As `time.time`."""
        return time.time() + self.passed

    def thread_time(self) -> float:
        """As `time.thread_time`, which no waiting changes."""
        return time.thread_time()


class Calendar:
    """The class `datetime`, in which `passed` more has passed."""

    def __init__(self) -> None:
        self.passed = timedelta()

    def now(self, zone: tzinfo = UTC) -> datetime:
        """As `datetime.now`."""
        return datetime.now(zone) + self.passed
