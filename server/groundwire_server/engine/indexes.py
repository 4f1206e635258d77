"""The one way of every action to an index: as its caller may see it, for the nodes that it may ask about."""

from dataclasses import dataclass
from typing import Protocol

from groundwire_index.scope import Scope
from groundwire_server.backends.interface import GraphProvider, GraphSnapshot, RetrievalBackend, RetrievalSnapshot
from groundwire_server.domain.access import AccessContext
from groundwire_server.domain.errors import PermissionDeniedError, Reason
from groundwire_server.domain.lifecycle import Lifecycle
from groundwire_server.domain.observation import stage

ANY_CALLER = "*"


class _Request(Protocol):
    @property
    def scope(self) -> Scope: ...
    @property
    def access(self) -> AccessContext: ...
    @property
    def lifecycle(self) -> Lifecycle: ...


@dataclass(frozen=True, slots=True)
class Indexes:
    """What is indexed. Callers who hold one of `lifecycle_override_acl_tags` may ask for deleted nodes; `*` among them
    means everyone.

    Both methods raise PermissionDeniedError, NotFoundError and PreconditionError.
    """

    backend: RetrievalBackend
    graph: GraphProvider
    lifecycle_override_acl_tags: frozenset[str]

    def open(self, request: _Request) -> RetrievalSnapshot:
        """The version that a request asks for search or texts."""
        self._check_lifecycle(request)
        with stage("open"):
            return self.backend.open(request.scope, request.access, request.lifecycle)

    def open_graph(self, request: _Request) -> GraphSnapshot:
        """The version whose graph a request asks for."""
        self._check_lifecycle(request)
        with stage("open"):
            return self.graph.open_graph(request.scope, request.access, request.lifecycle)

    def _check_lifecycle(self, request: _Request) -> None:
        tags = self.lifecycle_override_acl_tags
        allowed = ANY_CALLER in tags or not tags.isdisjoint(request.access.acl_tags_any)
        if request.lifecycle is not Lifecycle.ACTIVE and not allowed:
            raise PermissionDeniedError(
                Reason.LIFECYCLE_NOT_GRANTED,
                f"lifecycle {request.lifecycle.name} is not granted to you; ask for ACTIVE",
                {"field": "lifecycle"},
            )
