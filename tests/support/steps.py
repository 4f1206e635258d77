"""How much work is done, as the number of calls that it takes: the same on every machine and under any load."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import TypeVar

Result = TypeVar("Result")


def within_steps(most: int, work: Callable[[], Result]) -> Result:
    """What the work gives. Raises AssertionError as soon as it has made more than so many calls.

    Calls of functions written in Python and in C count alike, those of this thread alone. What one call into C does,
    such as a search by a regular expression, counts as one step however long it takes.
    """
    steps = 0

    def count(_: FrameType, event: str, __: object) -> None:
        nonlocal steps
        if event in ("call", "c_call"):
            steps += 1
            if steps > most:
                sys.setprofile(None)
                raise AssertionError(f"more than {most} steps")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        return work()
    finally:
        sys.setprofile(before)
