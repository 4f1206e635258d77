"""The interface of all access modes: from a call to its caller and what that caller is granted."""

from abc import ABC, abstractmethod

from groundwire_server.domain.access.grants import ANYBODY, Caller
from groundwire_server.domain.errors import Reason, UnauthenticatedError
from groundwire_server.rpc.bodies import CallContext


class Authenticator(ABC):
    """Identifies the caller. Use it in one event loop, which it must never block."""

    async def start(self) -> None:  # noqa: B027 - most modes have nothing to keep up to date
        """Begins to refresh the keys or lists that callers are verified with."""

    @abstractmethod
    async def authenticate(self, context: CallContext) -> Caller:
        """The caller, by the call's headers and connection alone.

        Raises UnauthenticatedError, IdentityUnavailableError.
        """

    async def stop(self) -> None:  # noqa: B027
        """Ends what `start` began."""


class TrustedCallers(Authenticator):
    """Mode `trusted`: requests state their access themselves, for a mesh that has authenticated the caller."""

    async def authenticate(self, context: CallContext) -> Caller:
        """Everything, to everyone."""
        return ANYBODY


def refused(rule: str, message: str) -> UnauthenticatedError:
    """The error for an identity that breaks `rule`; `message` must hold no part of a token or certificate."""
    return UnauthenticatedError(Reason.IDENTITY_REFUSED, message, {"rule": rule})
