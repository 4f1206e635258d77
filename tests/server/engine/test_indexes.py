"""What one question may cost that names many indexes by patterns."""

import asyncio
from dataclasses import dataclass, field
from typing import cast

import pytest

from groundwire_index.scope import Scope
from groundwire_server.backends.interface import Backend
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.access.grants import ANY_SCOPE, Scopes
from groundwire_server.domain.access.lifecycle import Lifecycle
from groundwire_server.domain.errors import NotFoundError, PermissionDeniedError, Reason
from groundwire_server.domain.search.search import NodesRequest
from groundwire_server.engine.indexes import Indexes
from support.calls import PlainCall

INDEXES = [Scope(f"team-{number}", "main") for number in range(300)]


@dataclass
class Hidden:
    """A backend with many indexes. The caller sees nodes of the first one only."""

    listings: int = 0
    opened: list[Scope] = field(default_factory=list[Scope])

    def scopes(self, meant: Scopes, granted: Scopes) -> list[Scope]:
        self.listings += 1
        return [
            scope
            for scope in INDEXES
            if meant.includes(scope.repository, scope.branch) and granted.includes(scope.repository, scope.branch)
        ]

    def open_at_once(self, scope: Scope, *_: object) -> object:
        self.opened.append(scope)
        if scope != INDEXES[0]:
            raise NotFoundError(Reason.SCOPE_NOT_FOUND, "hidden", {})
        return self


def test_an_index_that_many_patterns_mean_is_opened_once() -> None:
    backend = Hidden()
    patterns = [Scope(repository, branch) for repository in ("*", "t*", "team-*") for branch in ("*", "m*", "main")]
    scopes = (*patterns, Scope("unknown-*", "*"))
    request = NodesRequest(scope=Scope("", ""), scopes=scopes, access=AccessContext(), granted=ANY_SCOPE)
    with pytest.raises(NotFoundError, match="matches unknown-"):
        asyncio.run(Indexes(cast("Backend", backend), frozenset()).open(request, PlainCall()))
    assert backend.listings == 1
    assert backend.opened == INDEXES


@pytest.mark.parametrize("lifecycle", [Lifecycle.ALL, Lifecycle.DELETED])
def test_a_lifecycle_that_is_not_granted_is_refused_before_any_index_is_looked_for(lifecycle: Lifecycle) -> None:
    """Otherwise the refusal would depend on whether a hidden index matches."""
    backend = Hidden()
    for scopes in ((), (Scope("team-1", "main"),), (Scope("team-2*", "*"),), (Scope("absent*", "*"),)):
        request = NodesRequest(
            Scope("team-1", "main"), scopes=scopes, access=AccessContext(), granted=ANY_SCOPE, lifecycle=lifecycle
        )
        with pytest.raises(PermissionDeniedError, match=f"lifecycle {lifecycle.name} is not granted"):
            asyncio.run(Indexes(cast("Backend", backend), frozenset({"auditor"})).open(request, PlainCall()))
    assert (backend.listings, backend.opened) == (0, [])
