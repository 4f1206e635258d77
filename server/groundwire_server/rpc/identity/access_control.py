"""The choke point of every call: who makes it, what it may name, and what it may see."""

from typing import TypeAlias, TypeVar

import grpc.aio

from groundwire.v1 import index_pb2, query_pb2, retrieval_pb2, scope_pb2
from groundwire_server.domain.access import AccessContext
from groundwire_server.domain.errors import PermissionDeniedError, Reason
from groundwire_server.domain.grants import Grant, Scopes, narrowed
from groundwire_server.domain.scope import Scope
from groundwire_server.domain.validation import Violations, check_scope
from groundwire_server.rpc.conversions.indexes import decode_version_scope
from groundwire_server.rpc.conversions.scope import decode_access
from groundwire_server.rpc.identity.authenticator import Authenticator

Response = TypeVar("Response")

ScopedRequest: TypeAlias = (
    retrieval_pb2.SearchNodesRequest
    | retrieval_pb2.ExpandDependencyTreeRequest
    | retrieval_pb2.FetchNodeTextsRequest
    | query_pb2.QueryRequest
    | index_pb2.GetIndexRequest
)
ScopedRequestT = TypeVar("ScopedRequestT", bound=ScopedRequest)
AdministrationRequest: TypeAlias = index_pb2.ActivateIndexRequest | index_pb2.DeleteIndexRequest
AdministrationRequestT = TypeVar("AdministrationRequestT", bound=AdministrationRequest)


class AccessControl:
    """Admits calls. What it refuses depends on the caller's identity and the request alone, never on what is indexed.

    Every method raises UnauthenticatedError, IdentityUnavailableError, InvalidRequestError and PermissionDeniedError.
    """

    def __init__(self, authenticator: Authenticator, *, allow_admin: bool) -> None:
        self._authenticator = authenticator
        self._allow_admin = allow_admin

    async def admit(
        self, request: ScopedRequestT, context: grpc.aio.ServicerContext[ScopedRequestT, Response]
    ) -> AccessContext:
        """The access to answer a request with that names a scope."""
        grant = (await self._authenticator.authenticate(context)).grant
        access = _narrowed(grant, request)
        _check_granted(
            grant.scopes,
            Scope(request.scope.repository, request.scope.branch, request.scope.active_index),
            Reason.SCOPE_NOT_GRANTED,
            "your identity does not let you ask this repository and branch",
        )
        return access

    async def admit_listing(
        self,
        request: index_pb2.ListIndexesRequest,
        context: grpc.aio.ServicerContext[index_pb2.ListIndexesRequest, Response],
    ) -> tuple[AccessContext, Scopes]:
        """The access to answer a listing with, and the scopes to leave in it."""
        grant = (await self._authenticator.authenticate(context)).grant
        return _narrowed(grant, request), grant.scopes

    async def admit_administration(
        self, request: AdministrationRequestT, context: grpc.aio.ServicerContext[AdministrationRequestT, Response]
    ) -> Scope:
        """The index version that may be changed."""
        grant = (await self._authenticator.authenticate(context)).grant
        if not self._allow_admin:
            raise PermissionDeniedError(
                Reason.ADMINISTRATION_DISABLED,
                "this server does not allow index administration over the wire (setting allow_admin)",
            )
        scope = decode_version_scope(request)
        _check_granted(
            grant.administration,
            scope,
            Reason.ADMINISTRATION_NOT_GRANTED,
            "your identity does not let you administer indexes of this repository and branch",
        )
        return scope


def _narrowed(grant: Grant, request: ScopedRequest | index_pb2.ListIndexesRequest) -> AccessContext:
    requested: scope_pb2.AccessContext | None = request.access if request.HasField("access") else None
    return narrowed(grant, None if requested is None else decode_access(requested))


def _check_granted(granted: Scopes, scope: Scope, reason: Reason, message: str) -> None:
    if granted.admit(scope.repository, scope.branch):
        return
    violations = Violations()
    check_scope(scope, violations)  # a name that nobody could be granted is malformed, not forbidden
    violations.raise_any()
    raise PermissionDeniedError(reason, message, {"repository": scope.repository, "branch": scope.branch})
