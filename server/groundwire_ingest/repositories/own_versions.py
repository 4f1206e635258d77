"""The versions that programs build by themselves: what they are called, and which of them are kept."""

from dataclasses import replace
from datetime import UTC, datetime

from groundwire_index.scope import Scope
from groundwire_index.storage import Storage
from groundwire_index.store.errors import VersionActiveError

VERSIONS_KEPT = 3
"""How many own versions a branch has: the active one, and two for calls that have pinned one before."""

_PREFIX = "auto-"


def version_name() -> str:
    """The name of a version that is built on command and not named: the time in UTC, which orders by name."""
    return f"{datetime.now(UTC):%Y-%m-%d_%H%M%S.%f}"


def own_version_name() -> str:
    """The name of a version that a program builds on its own: the same, with a distinguishing prefix."""
    return f"{_PREFIX}{version_name()}"


def remove_older(storage: Storage, scope: Scope) -> None:
    """Deletes the own versions of a branch but the newest VERSIONS_KEPT, and but one that is active.

    Raises OperatorError and OSError.
    """
    own = sorted(name for name in storage.versions(scope) if name.startswith(_PREFIX))
    for version in own[:-VERSIONS_KEPT]:
        try:
            storage.delete(replace(scope, active_index=version))
        except VersionActiveError:
            continue  # an operator has gone back to it
