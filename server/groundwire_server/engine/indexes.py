"""The one way of every action to an index: as its caller may see it, for the nodes that it may ask about."""

from collections.abc import Sized
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial

from groundwire_index.scope import Scope, id_prefix
from groundwire_server.backends.interface import Backend, IndexSnapshot, Snapshot
from groundwire_server.domain.access.grants import Scopes, is_pattern
from groundwire_server.domain.access.lifecycle import Lifecycle
from groundwire_server.domain.errors import NotFoundError, PermissionDeniedError, Reason
from groundwire_server.domain.limits import MAX_SCOPES
from groundwire_server.domain.search.search import NodesRequest
from groundwire_server.domain.validation import Violations
from groundwire_server.engine.edges_between import EdgesBetween
from groundwire_server.engine.union_snapshot import UnionSnapshot
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
    edges_between: EdgesBetween = field(default_factory=EdgesBetween, init=False, compare=False, repr=False)

    async def open(self, request: NodesRequest, call: Call) -> Snapshot:
        """The versions that a request asks, for the nodes that it asks about.

        Raises InvalidRequestError, PermissionDeniedError, NotFoundError and PreconditionError.
        """
        # Before any scope is looked at: else the refusal would tell whether a pattern matches a hidden scope.
        self._check_lifecycle(request)
        if not request.scopes:
            return await self._open(request, request.scope, call)
        parts = {named: await self._open(request, named, call) for named in request.scopes if not is_pattern(named)}
        known = {replace(named, active_index="") for named in parts}
        patterns = {named: Scopes.of(named) for named in request.scopes if is_pattern(named)}
        # Listed once, and each index opened once, by however many patterns it is meant.
        meant = Scopes(patterns=tuple(pair for named in patterns.values() for pair in named.patterns))
        listed = partial(self.backend.scopes, meant, request.granted)
        for scope in await call.wait_for(listed) if patterns else ():
            if scope not in known:
                with suppress(NotFoundError):  # the caller sees no node of it
                    parts[scope] = await self._open(request, scope, call)
                _check_count(parts)
        for pattern, means in patterns.items():
            if not any(means.includes(named.repository, named.branch) for named in parts):
                message = f"no repository and branch that you may see matches {pattern.repository} {pattern.branch}"
                names = {"repository": pattern.repository, "branch": pattern.branch}
                raise NotFoundError(Reason.SCOPE_NOT_FOUND, message, names)
        ordered = [parts[named] for named in sorted(parts, key=id_prefix)]
        return UnionSnapshot(ordered, self.edges_between, call.checkpoint)

    def _check_lifecycle(self, request: NodesRequest) -> None:
        tags = self.lifecycle_override_acl_tags
        allowed = ANY_CALLER in tags or not tags.isdisjoint(request.access.acl_tags_any)
        if request.lifecycle is not Lifecycle.ACTIVE and not allowed:
            raise PermissionDeniedError(
                Reason.LIFECYCLE_NOT_GRANTED,
                f"lifecycle {request.lifecycle.name} is not granted to you; ask for ACTIVE",
                {"field": "lifecycle"},
            )

    async def _open(self, request: NodesRequest, scope: Scope, call: Call) -> IndexSnapshot:
        filter_ = request.filter.with_other_names
        with stage("open"):
            snapshot = self.backend.open_at_once(scope, request.access, request.lifecycle, filter_)
        if snapshot is not None:
            return snapshot

        def opened() -> IndexSnapshot:
            with stage("open"):
                return self.backend.open(scope, request.access, request.lifecycle, filter_)

        return await call.wait_for(opened)

    async def open_with_graph(self, request: NodesRequest, call: Call) -> Snapshot:
        """As `open`, and the graphs of the versions are there to be asked."""
        snapshot = await self.open(request, call)
        for part in snapshot.parts:
            if not part.has_graph:
                await call.wait_for(part.wait_for_graph)
        return snapshot


def _check_count(opened: Sized) -> None:
    violations = Violations()
    violations.bound_count("scopes", opened, MAX_SCOPES)
    violations.raise_any()
