"""Names of nodes in the outputs of commands, beside each other."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from groundwire.v1 import query_pb2, retrieval_pb2
from groundwire_client.cli._shown_names import shown_names

if TYPE_CHECKING:
    from client.cli.conftest import Run
    from client.conftest import FakeServer

CREATE = ("src/Billing/Invoice.cs", "Acme.Shop.Billing.Invoice.Create(System.Int32)")
RATES = ("src/Tax/Rates.cs", "Acme.Shop.Tax.Rates")


def shown(*nodes: tuple[str, str]) -> list[str]:
    names = shown_names(nodes)
    return [names.of(*node) for node in nodes]


@pytest.mark.parametrize(
    ("nodes", "names"),
    [
        ([CREATE, RATES], ["Billing.Invoice.Create(System.Int32)", "Tax.Rates"]),
        (
            [CREATE, ("src/Billing/Invoice.cs", "Acme.Shop.Billing.Invoice")],
            ["Invoice.Create(System.Int32)", "Invoice"],
        ),
        ([CREATE], ["Acme.Shop.Billing.Invoice.Create(System.Int32)"]),
        ([CREATE, ("b/C.cs", "Other.C.Do")], ["Acme.Shop.Billing.Invoice.Create(System.Int32)", "Other.C.Do"]),
        (
            [CREATE, RATES, ("b/C.cs", "Other.Sub.C"), ("b/D.cs", "Other.Sub.D.Do")],
            ["Billing.Invoice.Create(System.Int32)", "Tax.Rates", "C", "D.Do"],
        ),
        ([("a/Many.cs", "Acme.Shop.One.Do"), ("a/Many.cs", "Acme.Shop.Two.Do")], ["One.Do", "Two.Do"]),
        ([("a/a.py", "Outer.Inner.do"), ("a/a.py", "Outer.Inner.undo")], ["Outer.Inner.do", "Outer.Inner.undo"]),
        ([("a/Shop.Api.cs", "Shop.Api.cs"), ("b/Shop.Core.cs", "Shop.Core.cs")], ["Shop.Api.cs", "Shop.Core.cs"]),
        ([CREATE, ("a.md", ""), ("", "Acme.Shop.X")], [CREATE[1], "", "Acme.Shop.X"]),
        ([("a/X.cs", "Acme.X"), ("b/X.cs", "Acme.Web.X"), ("c/Y.cs", "X")], ["Acme.X", "Web.X", "X"]),
    ],
    ids=["two namespaces", "one", "alone", "a stranger", "two roots", "many types", "python", "files", "none", "clash"],
)
def test_names_lose_the_namespace_that_all_of_one_root_share(nodes: list[tuple[str, str]], names: list[str]) -> None:
    assert shown(*nodes) == names


def test_no_two_nodes_of_one_output_read_the_same() -> None:
    nodes = [("a/X.cs", "Acme.X.Do"), ("b/Y.cs", "Acme.Y.Do"), ("c/X.cs", "X.Do"), ("d/Z.cs", "Acme.Z")]
    assert shown(*nodes) == ["Acme.X.Do", "Y.Do", "X.Do", "Z"]


def test_a_query_a_search_a_walk_and_paths_show_short_names_and_json_whole_ones(run: Run, server: FakeServer) -> None:
    places = [retrieval_pb2.SourceLocation(path=path, start_line=1, end_line=2) for path, _ in (CREATE, RATES)]
    ids = ["shop::main::cs::a", "shop::main::cs::b"]
    symbols = [CREATE[1], RATES[1]]
    rows = list(zip(ids, symbols, places, strict=True))
    server.answers[query_pb2.QueryResponse] = query_pb2.QueryResponse(
        index="v1",
        matches=[
            query_pb2.QueryMatch(id=id_, rank=rank, symbol=symbol, location=place)
            for rank, (id_, symbol, place) in enumerate(rows, 1)
        ],
    )
    server.answers[retrieval_pb2.SearchNodesResponse] = retrieval_pb2.SearchNodesResponse(
        index="v1",
        hits=[
            retrieval_pb2.SearchHit(id=id_, rank=rank, symbol=symbol, location=place)
            for rank, (id_, symbol, place) in enumerate(rows, 1)
        ],
    )
    edge = retrieval_pb2.GraphEdge(from_id=ids[0], to_id=ids[1], edge_type="Calls", confidence=1)
    server.answers[retrieval_pb2.ExpandDependencyTreeResponse] = retrieval_pb2.ExpandDependencyTreeResponse(
        index="v1",
        nodes=[retrieval_pb2.ReachedNode(id=id_, symbol=symbol, location=place) for id_, symbol, place in rows],
        edges=[edge],
    )
    server.answers[retrieval_pb2.FindPathsResponse] = retrieval_pb2.FindPathsResponse(
        index="v1",
        nodes=[retrieval_pb2.PathNode(id=id_, symbol=symbol, location=place) for id_, symbol, place in rows],
        paths=[retrieval_pb2.DependencyPath(node_ids=ids, hops=[edge], confidence=1)],
    )
    for call in (["query", "q"], ["search", "q"], ["expand", ids[0]], ["paths", "--from", ids[0], "--to", ids[1]]):
        printed = run(*call).stdout
        assert "Billing.Invoice.Create" in printed, call
        assert "Tax.Rates" in printed, call
        assert "Acme" not in printed, call
        assert CREATE[1] in json.dumps(json.loads(run(*call, "--json").stdout)), call
