"""The requests of services about index versions. Loads no numeric library, as `backends.interface` does."""

from typing import Protocol

from groundwire_index.scope import Scope
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.access.grants import Scopes
from groundwire_server.domain.indexes import IndexNames, IndexSummary
from groundwire_server.execution.call import Checkpoint


class IndexDirectory(Protocol):
    """Which versions there are and which answers."""

    def check_readable(self) -> None:
        """Raises OSError when no version can be read, whichever it is. May block for as long as the storage does."""
        ...

    def list_indexes(
        self, repository: str, branch: str, access: AccessContext, scopes: Scopes, checkpoint: Checkpoint
    ) -> tuple[IndexSummary, ...]:
        """Versions in `scopes` that have at least one node visible to the caller; "" for a name means any.

        Nothing outside of `scopes` is looked at. Raises what the checkpoint raises.
        """
        ...

    def get_index(self, scope: Scope, access: AccessContext) -> tuple[IndexSummary, IndexNames]:
        """One version, with the names in it. Raises NotFoundError, PreconditionError."""
        ...

    def activate(self, scope: Scope) -> str:
        """Makes `scope.active_index` the answering version; returns the one before or "". Raises as get_index."""
        ...

    def delete(self, scope: Scope) -> None:
        """Deletes a version that is not active. Raises NotFoundError, PreconditionError."""
        ...
