"""How the processor time of a piece of work grows with its size, which no other load on the machine changes."""

import time
from collections.abc import Callable

FACTOR = 8
MOST = 3 * FACTOR
"""Three times what linear work gives, and well below the 64 of quadratic work."""
ATTEMPTS = 3


def check_linear(work: Callable[[int], object], size: int) -> None:
    """Raises AssertionError when `work(8 * size)` takes more than 24 times as long as `work(size)`.

    Each counts as the shortest of three. `work(size)` should take a millisecond or more.
    """
    small = min(_seconds(work, size) for _ in range(ATTEMPTS))
    ratio = float("inf")
    for _ in range(ATTEMPTS):  # no more of them than are needed: each takes as long as several of the small ones
        ratio = min(ratio, _seconds(work, FACTOR * size) / small)
        if ratio < MOST:
            return
    raise AssertionError(f"work of {FACTOR} times the size took {ratio:.1f} times as long")


def _seconds(work: Callable[[int], object], size: int) -> float:
    started = time.thread_time()
    work(size)
    return time.thread_time() - started
