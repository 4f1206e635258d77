"""An index version as its operator lists it. Needs no library, as what lists the versions of a server has none."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from groundwire_index.index_errors import IndexDamagedError
from groundwire_index.scope import Scope

if TYPE_CHECKING:
    from groundwire_index.store.manifest import Manifest


@dataclass(frozen=True, slots=True)
class VersionEntry:
    """One version. `damage` says what is wrong with it, "" when nothing is; then the other facts are known."""

    repository: str
    branch: str
    version: str
    active: bool
    node_count: int = 0
    edge_count: int = 0
    embedder: str = ""
    dimension: int = 0
    lexical: bool = False
    created: str = ""
    source: str = ""
    link_template: str = ""
    damage: str = ""

    @staticmethod
    def of(scope: Scope, active: bool, read: "Callable[[], Manifest]") -> "VersionEntry":
        """The entry of the version that `scope` pins; `read` raises IndexDamagedError where it is damaged."""
        try:
            manifest = read()
        except IndexDamagedError as error:
            return VersionEntry(scope.repository, scope.branch, scope.active_index, active, damage=str(error))
        space = manifest.vector_space
        return VersionEntry(
            scope.repository,
            scope.branch,
            scope.active_index,
            active,
            node_count=manifest.node_count,
            edge_count=manifest.edge_count,
            embedder=space.embedder if space else "",
            dimension=space.dimension if space else 0,
            lexical=manifest.code is not None,
            created=manifest.created.isoformat(),
            source=manifest.source,
            link_template=manifest.link_template,
        )
