"""How soon a worker that died is started again."""

YOUNG_SECONDS = 10.0
FIRST_DELAY_SECONDS = 0.25
MAX_DELAY_SECONDS = 30.0


class RestartDelay:
    """The delays of one worker: none after a life of some length, twice as long as the last after a short one."""

    def __init__(self) -> None:
        self._seconds = 0.0

    def after(self, lived_seconds: float) -> float:
        """How many seconds to wait after a life of `lived_seconds`, counted from its start."""
        if lived_seconds >= YOUNG_SECONDS:
            self._seconds = 0.0
        else:
            self._seconds = min(2 * self._seconds or FIRST_DELAY_SECONDS, MAX_DELAY_SECONDS)
        return self._seconds
