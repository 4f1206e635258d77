"""Repositories below one data folder, and walks over several of them."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from groundwire_index.scope import Scope
from groundwire_index.store.store import IndexStore
from groundwire_ingest.build.build import BuildOptions, build_index
from groundwire_ingest.tree.access_rules import AccessRule
from groundwire_ingest.tree.source import TreeSource
from groundwire_server.backends.embedded.backend import EmbeddedBackend
from groundwire_server.backends.interface import Backend
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.graph.expansion import Direction, ExpandRequest, Expansion
from groundwire_server.domain.search.search import NO_FILTER, Filter
from support.builds import Stages
from support.calls import PlainEngine, never_stop
from support.engines import engine_over


class Team:
    """Repositories below one data folder, built as they are given."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.data = folder / "data"
        self.backend: Backend = EmbeddedBackend(self.data)

    def add(self, repository: str, files: Mapping[str, str], access: Sequence[AccessRule] = ()) -> None:
        root = self._folder / "trees" / repository
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        options = BuildOptions(self.data, Scope(repository, "main", "v1"), None, processes=1)
        build_index(TreeSource(root, access=access), options, Stages())

    @property
    def engine(self) -> PlainEngine:
        return engine_over(self.backend)


def walk(
    engine: PlainEngine,
    seeds: Sequence[str],
    repositories: Sequence[str],
    tags: Sequence[str] = (),
    depth: int = 1,
    filter_: Filter = NO_FILTER,
) -> Expansion:
    return engine.expand(
        ExpandRequest(
            scope=Scope("", ""),
            scopes=tuple(Scope(repository, "main") for repository in repositories),
            access=AccessContext(acl_tags_any=frozenset(tags)),
            seed_ids=tuple(seeds),
            max_depth=depth,
            max_nodes=200,
            edge_allowlist=("*",),
            direction=Direction.BOTH,
            filter=filter_,
        ),
        never_stop,
    )


def ids(data: Path, repository: str) -> list[str]:
    with IndexStore(data).opened(Scope(repository, "main", "v1")) as index:
        return [index.nodes.ids[row] for row in range(index.manifest.node_count)]


def crossing(expansion: Expansion) -> set[tuple[str, str, str, float, int]]:
    """The edges between repositories, by ids without the branch."""
    return {
        (edge.from_id, edge.to_id, edge.edge_type, edge.confidence, edge.line)
        for edge in expansion.edges
        if edge.from_id.split("::")[0] != edge.to_id.split("::")[0]
    }
