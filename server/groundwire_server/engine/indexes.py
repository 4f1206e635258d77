"""The one way of every action to an index: as its caller may see it, for the nodes that it may ask about."""

from dataclasses import dataclass

from groundwire_server.backends.interface import Backend, Snapshot
from groundwire_server.domain.access.lifecycle import Lifecycle
from groundwire_server.domain.errors import PermissionDeniedError, Reason
from groundwire_server.domain.search.search import NodesRequest
from groundwire_server.execution.call import Call
from groundwire_server.execution.observation import stage

ANY_CALLER = "*"


@dataclass(frozen=True, slots=True)
class Indexes:
    """What is indexed.

    Callers who hold one of `lifecycle_override_acl_tags` may ask for deleted nodes; `*` among them means everyone.
    """

    backend: Backend
    lifecycle_override_acl_tags: frozenset[str]

    async def open(self, request: NodesRequest, call: Call) -> Snapshot:
        """The version that a request asks, for the nodes that it asks about.

        Raises PermissionDeniedError, NotFoundError and PreconditionError.
        """
        tags = self.lifecycle_override_acl_tags
        allowed = ANY_CALLER in tags or not tags.isdisjoint(request.access.acl_tags_any)
        if request.lifecycle is not Lifecycle.ACTIVE and not allowed:
            raise PermissionDeniedError(
                Reason.LIFECYCLE_NOT_GRANTED,
                f"lifecycle {request.lifecycle.name} is not granted to you; ask for ACTIVE",
                {"field": "lifecycle"},
            )

        asked = request.scope, request.access, request.lifecycle, request.filter

        def opened_at_once() -> Snapshot | None:
            with stage("open"):
                return self.backend.open_at_once(*asked)

        def opened() -> Snapshot:
            with stage("open"):
                return self.backend.open(*asked)

        at_once = await call.compute(opened_at_once)
        return await call.wait_for(opened) if at_once is None else at_once

    async def open_with_graph(self, request: NodesRequest, call: Call) -> Snapshot:
        """As `open`, and the graph of the version is there to be asked."""
        snapshot = await self.open(request, call)
        if not snapshot.has_graph:
            await call.wait_for(snapshot.wait_for_graph)
        return snapshot
