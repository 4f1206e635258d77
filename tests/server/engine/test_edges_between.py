"""Edges between the repositories that a call asks together: those of one tree of them all, and no hidden ones."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from groundwire_index.scope import Scope
from groundwire_index.store.store import IndexStore
from groundwire_ingest.build.build import BuildOptions, build_index
from groundwire_ingest.tree.access_rules import AccessRule
from groundwire_ingest.tree.source import TreeSource
from groundwire_server.backends.embedded.backend import EmbeddedBackend
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.graph.expansion import Direction, ExpandRequest, Expansion
from groundwire_server.domain.search.search import Filter
from support.builds import Stages
from support.calls import PlainEngine, never_stop
from support.engines import engine_over

BETWEEN = ("Requests", "Sends", "HandledBy")

SHOP = {
    "Shop.csproj": '<Project Sdk="Microsoft.NET.Sdk"></Project>\n',
    "Events.cs": "namespace Shop;\n\npublic record OrderPlaced(int Id) : IntegrationEvent;\n",
    "Orders.cs": (
        "namespace Shop;\n\npublic class Orders\n{\n    private readonly IBus bus;\n\n"
        "    public async Task Place(int id)\n    {\n        await bus.Publish(new OrderPlaced(id));\n    }\n\n"
        "    public async Task<int> Stock(HttpClient http, int id)\n    {\n"
        '        return await http.GetFromJsonAsync<int>($"/api/stock/{id}");\n    }\n}\n'
    ),
}
MAIL = {
    "Mail.csproj": '<Project Sdk="Microsoft.NET.Sdk"></Project>\n',
    "Events.cs": "namespace Mail;\n\npublic record OrderPlaced(int Id) : IntegrationEvent;\n",
    "Confirm.cs": (
        "namespace Mail;\n\npublic class Confirm : IConsumer<OrderPlaced>\n{\n"
        "    public Task Consume(ConsumeContext<OrderPlaced> context)\n    {\n        return Task.CompletedTask;\n"
        "    }\n}\n"
    ),
}
STOCK = {
    "go.mod": "module example.com/stock\n",
    "main.go": (
        'package main\n\nimport "github.com/go-chi/chi/v5"\n\nfunc routes(r chi.Router) {\n'
        '\tr.Get("/api/stock/{id}", countOf)\n\tr.Post("/api/stock/{id}/reserve", reserve)\n}\n\n'
        "func countOf(w http.ResponseWriter, r *http.Request) {\n\tw.Write([]byte(answer(r)))\n}\n\n"
        "func answer(r *http.Request) string {\n\treturn r.URL.Path\n}\n\n"
        "func reserve(w http.ResponseWriter, r *http.Request) {\n\tw.WriteHeader(204)\n}\n"
    ),
}
WEB = {
    "package.json": '{"name": "@team/web"}\n',
    "src/stock.ts": (
        "export async function reserve(id: number) {\n"
        '  return fetch(`/api/stock/${id}/reserve`, { method: "POST" })\n}\n\n'
        'export function placed(bus: Bus) {\n  bus.emit("cart.checked-out", 1)\n}\n'
    ),
}
CART = {
    "package.json": '{"name": "@team/cart"}\n',
    "src/listen.ts": (
        "export function empty(cart: number) {\n  return cart\n}\n\n"
        'export function listen(bus: Bus) {\n  bus.on("cart.checked-out", empty)\n}\n'
    ),
}
TREES: Mapping[str, Mapping[str, str]] = {"cart": CART, "mail": MAIL, "shop": SHOP, "stock": STOCK, "web": WEB}


class Team:
    """Repositories below one data folder, built as they are given."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.data = folder / "data"

    def add(self, repository: str, files: Mapping[str, str], access: Sequence[AccessRule] = ()) -> None:
        root = self._folder / "trees" / repository
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        options = BuildOptions(self.data, Scope(repository, "main", "v1"), None, processes=1)
        build_index(TreeSource(root, access=access), options, Stages())

    @property
    def engine(self) -> PlainEngine:
        return engine_over(EmbeddedBackend(self.data))


def walk(
    engine: PlainEngine,
    seeds: Sequence[str],
    repositories: Sequence[str],
    tags: Sequence[str] = (),
    depth: int = 1,
    filter_: Filter | None = None,
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
            filter=filter_ or Filter(),
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


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Team:
    """All repositories, and one tree of them all."""
    made = Team(tmp_path_factory.mktemp("team"))
    for repository, files in TREES.items():
        made.add(repository, files)
    made.add(
        "whole", {f"{repository}/{path}": text for repository, files in TREES.items() for path, text in files.items()}
    )
    return made


def of_whole(id_: str) -> str:
    """The id of a node of the whole tree as its own repository has it."""
    _, branch, kind, local = id_.split("::", 3)
    repository, _, rest = local.partition("/")
    return f"{repository}::{branch}::{kind}::{rest}"


def test_the_edges_between_repositories_are_those_of_one_tree(team: Team) -> None:
    seeds = [id_ for repository in TREES for id_ in ids(team.data, repository)]
    between = crossing(walk(team.engine, seeds, list(TREES)))
    whole = walk(team.engine, ids(team.data, "whole"), ["whole"])
    expected = {
        (of_whole(edge.from_id), of_whole(edge.to_id), edge.edge_type, edge.confidence, edge.line)
        for edge in whole.edges
        if edge.edge_type in BETWEEN
    }
    assert between == {edge for edge in expected if edge[0].split("::")[0] != edge[1].split("::")[0]}
    assert {edge[2] for edge in between} == set(BETWEEN)
