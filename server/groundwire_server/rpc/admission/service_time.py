"""The time that calls of one method take, by the last ones."""

from statistics import median

_KNOWN_AFTER = 16
_WEIGHT = 1 / 8
_GREATEST_SURPRISE = 4.0
_DEVIATIONS = 2.0


class ServiceTime:
    """A running mean and mean deviation of seconds, after Jacobson's estimate of round-trip times (RFC 6298).

    Both are unknown before 16 calls have ended. The estimate then starts from their median, so that a first call that
    loads an index does not count. A later call counts as at most four times the mean: one stall moves the mean by at
    most three eighths, and a lasting change is followed within some dozens of calls. Not thread-safe.
    """

    __slots__ = ("_deviation", "_first", "_mean")

    def __init__(self) -> None:
        self._first: list[float] = []
        self._mean = 0.0
        self._deviation = 0.0

    @property
    def mean(self) -> float | None:
        """Mean seconds of a call; None while it is unknown."""
        return self._mean if len(self._first) == _KNOWN_AFTER else None

    @property
    def most(self) -> float:
        """Seconds within which nearly all calls end; 0 while that is not known."""
        return self._mean + _DEVIATIONS * self._deviation

    def add(self, seconds: float, *, at_least: bool = False) -> None:
        """Adds the seconds of a call; `at_least` if the call was cut short.

        The latter counts only if it is longer than the mean.
        """
        if at_least and (self.mean is None or seconds <= self.mean):
            return
        if len(self._first) < _KNOWN_AFTER:
            self._first.append(seconds)
            if len(self._first) == _KNOWN_AFTER:
                self._mean = median(self._first)
                self._deviation = median(abs(first - self._mean) for first in self._first)
            return
        surprise = min(seconds, _GREATEST_SURPRISE * self._mean) - self._mean
        self._mean += _WEIGHT * surprise
        self._deviation += _WEIGHT * (abs(surprise) - self._deviation)
