"""Edges between the repositories that a call asks together: those of one tree of them all, and no hidden ones."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from groundwire_index.nodes.node import NodeAccess
from groundwire_index.repository_edges.ends import ENDS_FILE
from groundwire_index.scope import Scope
from groundwire_index.store.store import IndexStore
from groundwire_ingest.tree.access_rules import AccessRule
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.errors import PreconditionError, Reason
from groundwire_server.domain.graph.expansion import Direction
from groundwire_server.domain.graph.paths import Paths, PathsRequest
from groundwire_server.domain.search.search import Filter
from support.calls import PlainEngine, never_stop
from support.teams import Team, crossing, ids, walk

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


@pytest.fixture(scope="module", params=["embedded", pytest.param("milvus", marks=pytest.mark.slow)])
def team(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Team:
    """All repositories, and one tree of them all."""
    made = Team(tmp_path_factory.mktemp("team"))
    for repository, files in TREES.items():
        made.add(repository, files)
    made.add(
        "whole", {f"{repository}/{path}": text for repository, files in TREES.items() for path, text in files.items()}
    )
    if request.param == "milvus":
        from support.milvus_builds import backend_in_milvus  # other tests run without the backend of Milvus

        made.backend = backend_in_milvus(made.data, request.getfixturevalue("milvus"))
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


def test_a_walk_goes_on_behind_an_edge_to_another_repository(team: Team) -> None:
    (asks,) = (id_ for id_ in ids(team.data, "shop") if id_.endswith(".Stock"))
    (answers,) = (id_ for id_ in ids(team.data, "stock") if id_.endswith("#answer"))
    reached = {node.id: node.depth for node in walk(team.engine, [asks], ["shop", "stock"], depth=2).nodes}
    assert reached[answers] == 2


def test_paths_go_through_several_repositories(team: Team) -> None:
    (asks,) = (id_ for id_ in ids(team.data, "shop") if id_.endswith(".Stock"))
    (answers,) = (id_ for id_ in ids(team.data, "stock") if id_.endswith("#answer"))
    assert [list(path.node_ids) for path in paths(team.engine, asks, answers, ["s*"]).paths] == [
        [asks, answers.replace("#answer", "#countOf"), answers]
    ]
    assert not paths(team.engine, asks, answers, ["shop", "web"]).paths


def test_a_filter_leaves_out_the_far_end(team: Team) -> None:
    (asks,) = (id_ for id_ in ids(team.data, "shop") if id_.endswith(".Stock"))
    assert crossing(walk(team.engine, [asks], ["shop", "stock"]))
    filter_ = Filter(languages=("csharp",))
    assert not crossing(walk(team.engine, [asks], ["shop", "stock"], filter_=filter_))


def test_one_repository_has_no_such_edge(team: Team) -> None:
    seeds = ids(team.data, "shop")
    alone, among = walk(team.engine, seeds, ["shop"]), walk(team.engine, seeds, ["shop", "cart"])
    assert not crossing(alone)
    assert (alone.nodes, alone.edges) == (among.nodes, among.edges)


SECRET = [AccessRule("*.go", NodeAccess(acl_tags=("depot",)))]
OPEN = {**STOCK, "README.md": "# Stock\n"}


def test_a_hidden_repository_or_node_has_no_influence(tmp_path: Path) -> None:
    """A second handler of the same URL makes an edge less sure, but not for those who do not see it."""
    with_hidden, without = Team(tmp_path / "with"), Team(tmp_path / "without")
    for made in (with_hidden, without):
        made.add("shop", SHOP)
        made.add("stock", STOCK)
    with_hidden.add("store", OPEN, SECRET)
    without.add("store", {"README.md": OPEN["README.md"]})
    seeds = ids(with_hidden.data, "shop")
    scopes = ["s*"]
    assert walk(with_hidden.engine, seeds, scopes) == walk(without.engine, seeds, scopes)
    sure, guessed = (
        {edge[3] for edge in crossing(walk(with_hidden.engine, seeds, scopes, tags)) if edge[2] == "Requests"}
        for tags in ([], ["depot"])
    )
    assert sure == {float(np.float32(0.9))}
    assert guessed == {0.5}


def test_who_does_not_see_the_node_that_asks_sees_nothing_of_the_edge(tmp_path: Path) -> None:
    with_hidden, without = Team(tmp_path / "with"), Team(tmp_path / "without")
    hidden = [AccessRule("Orders.cs", NodeAccess(acl_tags=("depot",)))]
    rest = {path: text for path, text in SHOP.items() if path != "Orders.cs"}
    for made, files, access in ((with_hidden, SHOP, hidden), (without, rest, [])):
        made.add("shop", files, access)
        made.add("stock", STOCK)
    seeds = ids(without.data, "stock")
    assert walk(with_hidden.engine, seeds, ["s*"], depth=3) == walk(without.engine, seeds, ["s*"], depth=3)
    assert crossing(walk(with_hidden.engine, seeds, ["s*"], ["depot"]))


def test_damaged_ends_are_named_and_an_index_without_them_has_no_such_edges(tmp_path: Path) -> None:
    made = Team(tmp_path)
    made.add("shop", SHOP)
    made.add("stock", STOCK)
    made.add("notes", {"README.md": "# Notes\n"})
    seeds = ids(made.data, "shop")
    directory = IndexStore(made.data).directory(Scope("stock", "main", "v1"))
    assert not (IndexStore(made.data).directory(Scope("notes", "main", "v1")) / ENDS_FILE).exists()
    assert not crossing(walk(made.engine, seeds, ["shop", "notes"]))
    content = (directory / ENDS_FILE).read_bytes()
    (directory / ENDS_FILE).write_bytes(content.replace(b"reserve", b"reverse"))
    with pytest.raises(PreconditionError) as caught:
        walk(made.engine, seeds, ["shop", "stock"])
    assert caught.value.reason is Reason.INDEX_DAMAGED
    assert ENDS_FILE in str(caught.value)
    assert walk(made.engine, ids(made.data, "stock"), ["stock"]).nodes
    (directory / ENDS_FILE).unlink()
    with pytest.raises(PreconditionError):
        walk(made.engine, seeds, ["shop", "stock"])


def paths(engine: PlainEngine, from_id: str, to_id: str, repositories: Sequence[str]) -> Paths:
    return engine.find_paths(
        PathsRequest(
            scope=Scope("", ""),
            scopes=tuple(Scope(repository, "main") for repository in repositories),
            access=AccessContext(),
            from_ids=(from_id,),
            to_ids=(to_id,),
            max_nodes=200,
            max_hops=4,
            max_paths=4,
            edge_allowlist=("*",),
            direction=Direction.OUTGOING,
        ),
        never_stop,
    )
