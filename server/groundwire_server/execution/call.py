"""The interface of a call that engine and backends work on."""

from collections.abc import Callable
from concurrent.futures import Future
from typing import Protocol, TypeAlias, TypeVar

Result = TypeVar("Result")

Checkpoint: TypeAlias = Callable[[], None]
"""Called between stages and between levels of a traversal, where work may stop.

Returns if work may continue; raises DeadlineError or CancelledError if it must stop.
"""


class Call(Protocol):
    """One call under way. The engine awaits its parts, one after another."""

    def checkpoint(self) -> None:
        """Returns if work may continue, and raises if it must stop, as `Checkpoint` says."""
        ...

    async def compute(self, part: Callable[[], Result]) -> Result:
        """Returns the result of `part`, which computes and waits for no disk and no other thread.

        It runs where it does not block other calls.
        """
        ...

    async def wait_for(self, part: Callable[[], Result]) -> Result:
        """Returns the result of `part`, which waits for a disk or for another thread; it runs once."""
        ...

    async def wait_until_done(self, work: Future[Result]) -> Result:
        """Returns the result of work that goes on in another thread; it goes on if the call ends before."""
        ...

    async def ask_model(self, part: Callable[[], Result]) -> Result:
        """Returns the result of `part`, which waits for a model or a service, or uses one to compute; it runs once."""
        ...
