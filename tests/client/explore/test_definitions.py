"""A table that many scripts define is one table on the map and in the graph."""

from collections.abc import Iterator
from functools import partial

import pytest

from client.explore.conftest import Content, Get, content_of, exploring
from support.program import Server, run_ok

TABLE = "CREATE TABLE dbo.Orders (Id INT NOT NULL PRIMARY KEY, Country NVARCHAR(2) NOT NULL);\n"
READER = "CREATE PROCEDURE dbo.CountOrders AS\nBEGIN\n    SELECT COUNT(*) FROM dbo.Orders;\nEND\n"
ORDERS = "stock::main::sql::dbo.Orders|TABLE"


@pytest.fixture(scope="module")
def get(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Get]:
    folder = tmp_path_factory.mktemp("definitions")
    for number in range(1, 7):
        script = folder / "source" / "releases" / f"{number}.0" / "all.sql"
        script.parent.mkdir(parents=True)
        script.write_text(f"{TABLE}GO\n{READER}", encoding="utf-8")
    (folder / "source" / "tables").mkdir()
    (folder / "source" / "tables" / "dbo.Orders.sql").write_text(TABLE, encoding="utf-8")
    (folder / "source" / "procedures").mkdir()
    (folder / "source" / "procedures" / "dbo.CountOrders.sql").write_text(READER, encoding="utf-8")
    where = ("--repository", "stock", "--branch", "main", "--embedder", "none", "--data", folder / "data")
    run_ok("index", folder / "source", *where)
    with Server(folder / "data", "--embedder", "none") as server, exploring(server.address) as browser:
        yield partial(content_of, browser)


def current(get: Get, *more: str) -> Content:
    """The page of the current definition, which an older one links to."""
    shown = get("/?q=tables/dbo.Orders.sql&scope=stock::main&mode=bm25")
    link = next(link for link in shown.links if link.startswith("/node") and "Orders%7CTABLE" in link)
    return get("&".join([link, *more]))


def test_the_graph_of_a_table_has_no_box_for_older_definitions(get: Get) -> None:
    shown = current(get)
    assert "tables/dbo.Orders.sql" in shown.text
    assert "ReadsFrom" in shown.text
    assert "releases/" not in shown.text.partition("Nodes")[2]
    assert "Older definitions in other scripts: 6. They count as this one; the edge type RedefinedBy" in shown.text


def test_the_edge_type_shows_the_older_definitions(get: Get) -> None:
    shown = current(get, "edge=RedefinedBy")
    for number in range(1, 7):
        assert f"releases/{number}.0/all.sql" in shown.text


def test_the_map_counts_the_edges_of_the_current_definition_alone(get: Get) -> None:
    shown = get("/map?scope=stock::main")
    edges = shown.text.partition("Depends On Edges")[2]
    assert "procedures/ tables/ 1" in edges
    assert "releases/" not in edges
    areas = shown.text.partition("Folder or file Nodes")[2]
    assert areas.index("tables/") < areas.index("releases/")
