"""The scopes that the operator allows, and which of them a tool call is about."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from groundwire_client import IndexScope, scope_name, scope_of_id
from groundwire_client.cli import scope_named
from groundwire_mcp.tool_errors import not_available


@dataclass(frozen=True, slots=True)
class AllowedScope:
    """A repository and branch, and the version that the operator pins; empty for the active one."""

    repository: str
    branch: str
    version: str = ""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Reads `REPOSITORY::BRANCH` or `REPOSITORY::BRANCH::VERSION`. Raises ValueError."""
        scope = scope_named(text)
        if scope is None:
            raise ValueError(f"{text!r}: must be REPOSITORY::BRANCH, or REPOSITORY::BRANCH::VERSION to pin a version")
        return cls(scope.repository, scope.branch, scope.active_index)

    @property
    def name(self) -> str:
        """How tools name it: `REPOSITORY::BRANCH`."""
        return scope_name(self.repository, self.branch)

    @property
    def index_scope(self) -> IndexScope:
        """The scope of a call."""
        return IndexScope(repository=self.repository, branch=self.branch, active_index=self.version)


class AllowedScopes:
    """All that a model may choose from. Raises ValueError for two of one name."""

    def __init__(self, scopes: Iterable[AllowedScope]) -> None:
        self.all = tuple(scopes)
        self._by_name = {scope.name: scope for scope in self.all}
        if len(self._by_name) < len(self.all):
            raise ValueError("names a repository and branch twice: name each once")

    def named(self, name: str) -> AllowedScope:
        """The scope of that name. Raises ToolError."""
        if name not in self._by_name:
            raise not_available(name)
        return self._by_name[name]

    def of_ids(self, nodes: Sequence[str]) -> list[AllowedScope]:
        """The scopes of the ids among `nodes`, in the order of all; none where there is no id."""
        named = set(map(scope_of_id, nodes))
        return [scope for scope in self.all if scope.name in named]
