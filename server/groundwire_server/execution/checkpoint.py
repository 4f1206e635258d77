"""Where work may stop: between stages and between levels of a traversal."""

from collections.abc import Callable
from typing import TypeAlias

Checkpoint: TypeAlias = Callable[[], None]
"""Returns when work may go on; raises DeadlineError or CancelledError when it must stop."""


def never_stop() -> None:
    """The checkpoint of work that nobody waits for."""
