"""The interface for reporting the progress of a build."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol, TypeAlias

ProgressCallback: TypeAlias = Callable[[int, int], None]


class Progress(Protocol):
    """Shows how far a build is."""

    def stage(self, name: str, unit: str, price: float = 0.0) -> AbstractContextManager[ProgressCallback]:
        """Shows a stage while the context is open; the callback takes (done, total), total 0 when unknown.

        `unit` is what is counted, such as `files`. `price` is what a million of them cost, 0 when not known.
        """
        ...
