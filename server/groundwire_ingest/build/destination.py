"""Where a build puts the index version that it makes."""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from groundwire_index.scope import Scope


class Destination(Protocol):
    """What holds index versions, as a build sees it; `IndexStore` is one."""

    def check_free(self, scope: Scope) -> None:
        """Raises BuildRefusedError when the version's name is taken by an index or by a deleted one."""
        ...

    def build(self, scope: Scope) -> AbstractContextManager[Path]:
        """Yields an empty directory to fill; on success it becomes the version `scope.active_index`, not yet active.

        Raises BuildRefusedError when the name is taken or another build is running. When the body raises, nothing is
        left.
        """
        ...

    def activate(self, scope: Scope) -> str:
        """Makes a version the active one; returns the one before, or ""."""
        ...
