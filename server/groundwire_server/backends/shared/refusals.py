"""The errors of callers for versions that they do not get. Names leak nothing: what may not be seen never was."""

from collections.abc import Iterator
from contextlib import contextmanager

from groundwire_index.index_errors import (
    IndexDamagedError,
    VersionActiveError,
    VersionDeletedError,
    VersionNotFoundError,
)
from groundwire_index.scope import Scope
from groundwire_server.domain.errors import (
    BackendUnavailableError,
    GroundwireError,
    NotFoundError,
    PreconditionError,
    Reason,
)


def absence(scope: Scope, *, sees_active: bool, saw_it: bool) -> GroundwireError:
    """Why a caller gets no version.

    `sees_active` says that it pins one and sees a node of the active one, `saw_it` that the one it pins was deleted and
    had a node that it could surely see.
    """
    if not sees_active:
        message = "there is no such repository and branch, or you may not see it"
        return NotFoundError(Reason.SCOPE_NOT_FOUND, message, {"repository": scope.repository, "branch": scope.branch})
    if saw_it:
        return gone(scope)
    message = f"there is no index {scope.active_index!r} in this scope, or you may not see it"
    return NotFoundError(Reason.INDEX_NOT_FOUND, message, scope.names)


def gone(pinned: Scope) -> PreconditionError:
    """The version was deleted, and the caller may know."""
    message = f"index {pinned.active_index!r} was deleted; ask for another one"
    return PreconditionError(Reason.INDEX_GONE, message, pinned.names)


def damaged(pinned: Scope) -> PreconditionError:
    """The version is damaged, and the caller may know."""
    message = f"index {pinned.active_index!r} is damaged; build it anew"
    return PreconditionError(Reason.INDEX_DAMAGED, message, pinned.names)


@contextmanager
def refusals_of(scope: Scope) -> Iterator[None]:
    """Turns why a version is not activated or deleted into what callers get. Only damage has a cause, for the log."""
    try:
        yield
    except VersionNotFoundError as error:
        raise NotFoundError(Reason.INDEX_NOT_FOUND, str(error), scope.names) from None
    except VersionDeletedError as error:
        raise PreconditionError(Reason.INDEX_GONE, str(error), scope.names) from None
    except VersionActiveError as error:
        raise PreconditionError(Reason.INDEX_ACTIVE, str(error), scope.names) from None
    except IndexDamagedError as error:
        message = f"index {scope.active_index!r} is damaged and stays inactive: {error}"
        raise PreconditionError(Reason.INDEX_DAMAGED, message, scope.names) from error


@contextmanager
def storage_errors_raised() -> Iterator[None]:
    """Turns what the file system refuses, such as a change of a read-only folder, into BackendUnavailableError."""
    try:
        yield
    except OSError as error:
        raise BackendUnavailableError(str(error)) from error
