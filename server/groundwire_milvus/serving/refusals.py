"""The errors of callers when a request to Milvus fails."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from groundwire_index.index_errors import IndexDamagedError
from groundwire_index.scope import Scope
from groundwire_milvus.storage_errors import CollectionMissingError, RefusedError, StorageUnavailableError
from groundwire_server.backends.shared.refusals import damaged, gone
from groundwire_server.domain.errors import BackendUnavailableError

_LOG = logging.getLogger(__name__)
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class _Pinned(Protocol):
    @property
    def scope(self) -> Scope: ...


Reader = TypeVar("Reader", bound=_Pinned)


@contextmanager
def refusals_raised(scope: Scope) -> Iterator[None]:
    """Turns the failures of reading one version into those that callers may know.

    Collections are missing when the version was deleted while it was read. Its reader saw a node of it, and may know.
    """
    with outages_raised():
        try:
            yield
        except CollectionMissingError as error:
            raise gone(scope) from error


@contextmanager
def damage_raised(scope: Scope) -> Iterator[None]:
    """Turns damage of a version, whose reader sees a node of it, into what callers may know. The log has the cause."""
    try:
        yield
    except IndexDamagedError as error:
        _LOG.error("index %s of %s %s is damaged: %s", scope.active_index, scope.repository, scope.branch, error)
        raise damaged(scope) from error


@contextmanager
def outages_raised() -> Iterator[None]:
    """Turns what Milvus does not answer into BackendUnavailableError."""
    try:
        yield
    except StorageUnavailableError as error:
        # Of a refusal its code alone: Milvus's own text may quote the request.
        cause = f"Milvus refused with code {error.code}" if isinstance(error, RefusedError) else str(error)
        raise BackendUnavailableError(cause) from error


def with_refusals(
    method: Callable[Concatenate[Reader, Arguments], Result],
) -> Callable[Concatenate[Reader, Arguments], Result]:
    """A method of what reads one version, whose failures callers may know; see `refusals_raised`."""

    @wraps(method)
    def refusing(reader: Reader, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        with refusals_raised(reader.scope):
            return method(reader, *args, **kwargs)

    return refusing
