"""Authorises every request: which scopes its caller may name, and which nodes it may see."""

from groundwire.v1 import index_pb2
from groundwire_index.scope import Scope
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.access.grants import Grant, Scopes, is_pattern, narrowed
from groundwire_server.domain.errors import PermissionDeniedError, Reason
from groundwire_server.domain.validation import Violations, check_scope
from groundwire_server.rpc.conversions.indexes import decode_index_scope
from groundwire_server.rpc.conversions.scope import (
    AdministrationRequest,
    ReadingRequest,
    RequestForNodes,
    decode_access,
)
from groundwire_server.rpc.telemetry.call_record import current_call


class AccessControl:
    """Authorises requests. A refusal depends only on caller and request, never on the content of indexes.

    The caller is that of the call that the current task serves. Every method raises InvalidRequestError and
    PermissionDeniedError.
    """

    def __init__(self, *, allow_admin: bool) -> None:
        self._allow_admin = allow_admin

    def authorise(self, request: ReadingRequest) -> tuple[AccessContext, Scopes]:
        """The access that applies to a request that names scopes, and the scopes that a pattern may mean."""
        grant = current_call().caller.grant
        access = _narrowed(grant, request)
        several = request.scopes if isinstance(request, RequestForNodes) else ()
        for named in several or (request.scope,):
            scope = Scope(named.repository, named.branch, named.active_index)
            if not (several and is_pattern(scope)):
                message = "your identity does not let you ask this repository and branch"
                _check_granted(grant.scopes, scope, Reason.SCOPE_NOT_GRANTED, message)
        return access, grant.scopes

    def authorise_listing(self, request: index_pb2.ListIndexesRequest) -> tuple[AccessContext, Scopes]:
        """The access that applies to a listing, and the scopes that it may show."""
        grant = current_call().caller.grant
        return _narrowed(grant, request), grant.scopes

    def authorise_administration(self, request: AdministrationRequest) -> Scope:
        """The index version that may be changed."""
        grant = current_call().caller.grant
        if not self._allow_admin:
            raise PermissionDeniedError(
                Reason.ADMINISTRATION_DISABLED,
                "this server does not allow index administration over the wire (setting allow_admin)",
            )
        scope = decode_index_scope(request)
        _check_granted(
            grant.administration,
            scope,
            Reason.ADMINISTRATION_NOT_GRANTED,
            "your identity does not let you administer indexes of this repository and branch",
        )
        return scope


def _narrowed(grant: Grant, request: ReadingRequest | index_pb2.ListIndexesRequest) -> AccessContext:
    access = narrowed(grant, decode_access(request.access) if request.HasField("access") else None)
    current_call().access = access
    return access


def _check_granted(granted: Scopes, scope: Scope, reason: Reason, message: str) -> None:
    if granted.includes(scope.repository, scope.branch):
        return
    violations = Violations()
    check_scope(scope, violations)  # a name that cannot be granted to any caller is malformed, not forbidden
    violations.raise_any()
    raise PermissionDeniedError(reason, message, {"repository": scope.repository, "branch": scope.branch})
