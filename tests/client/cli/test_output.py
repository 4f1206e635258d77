"""What the commands print, for people and for programs."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING

import grpc
import pytest

from groundwire.v1 import query_pb2, retrieval_pb2, scope_pb2
from groundwire_client import NamedNode, NameResolutionError

if TYPE_CHECKING:
    from client.cli.conftest import Run
    from client.conftest import FakeServer

SEED = "shop::main::cs::Shop.Invoice.[Create]"
TABLE = "shop::main::sql::dbo.Invoice|TABLE"
ALL_COMMANDS = [
    ("query", "vat"),
    ("search", "vat"),
    ("expand", SEED),
    ("paths", "--from", SEED, "--to", TABLE),
    ("fetch", SEED),
]


@pytest.mark.usefixtures("answers")
def test_an_explained_search_prints_a_table(run: Run) -> None:
    output = run("search", "vat", "--explain")
    assert output.code == 0
    first, second = (next(line for line in output.stdout.splitlines() if node in line) for node in (SEED, TABLE))
    assert first.startswith("1  0.5000")
    assert second.startswith("2  0.2500")
    assert f"{TABLE}  generated" in second
    assert first.count("━") == 10
    assert second.count("━") == 5
    assert "hits: 2; search type: hybrid; index: v1" in output.stdout


@pytest.mark.usefixtures("answers")
def test_an_explained_search_prints_lists_and_tokens(run: Run) -> None:
    printed = run("search", "vat", "--explain").stdout
    for part in ("dense #1 0.7500", "bm25_code #2 4.5000", "create invoice", "123 nodes visible after the filter"):
        assert part in printed
    assert "dense: exact, 20 candidates; bm25: 10 candidates; rrf_k 60; query tokens: invoice" in printed


def test_a_search_without_explanation_has_no_columns_for_it(server: FakeServer, run: Run) -> None:
    hit = retrieval_pb2.SearchHit(id=SEED, score=-0.5, rank=1)
    server.answer(retrieval_pb2.SearchNodesResponse(hits=[hit], index="v1", search_type=retrieval_pb2.SEARCH_TYPE_BM25))
    printed = run("search", "vat").stdout
    assert "matched tokens" not in printed
    assert f"1 {SEED}\n" in printed
    assert "hits: 1; search type: bm25; index: v1; approximate" in printed


def test_a_search_may_find_nothing(run: Run) -> None:
    output = run("search", "vat")
    assert output.code == 0
    assert "hits: 0" in output.stdout


@pytest.mark.usefixtures("answers")
def test_expand_prints_a_tree_and_the_edges(run: Run) -> None:
    lines = [line.rstrip() for line in run("expand", SEED).stdout.splitlines()]
    assert lines[:3] == ["seeds", f"└── {SEED}", f"    └── {TABLE}  test generated"]
    edge = next(line for line in lines if "ReadsFrom" in line)
    assert edge.split() == [SEED, "12", "ReadsFrom", TABLE, "0.9"]
    assert lines[-1] == "seeds: 1; nodes: 2; edges: 1; index: v1; truncated: limit_reached"


def test_expand_says_that_more_lies_beyond_its_depth(server: FakeServer, run: Run) -> None:
    walk = retrieval_pb2.ExpandDebug(seed_count=1, expanded_count=1, reason="depth_reached")
    server.answer(retrieval_pb2.ExpandDependencyTreeResponse(seed_ids=[SEED], debug=walk, index="v1"))
    printed = run("expand", SEED).stdout.splitlines()
    assert printed[-1].rstrip() == "seeds: 1; nodes: 1; edges: 0; index: v1; more lies beyond the depth"


@pytest.mark.parametrize("direction", ["outgoing", "incoming", "both"])
def test_expand_says_which_way_it_found_no_edge(server: FakeServer, run: Run, direction: str) -> None:
    walk = retrieval_pb2.ExpandDebug(seed_count=1, expanded_count=1, reason="ok")
    server.answer(retrieval_pb2.ExpandDependencyTreeResponse(seed_ids=[SEED], debug=walk, index="v1"))
    last_line = run("expand", SEED, "--direction", direction).stdout.splitlines()[-1]
    assert "; no edge " in last_line
    other = {"outgoing": "incoming", "incoming": "outgoing"}.get(direction, "")
    assert f"--direction {other}" in last_line or not other


@pytest.mark.usefixtures("answers")
def test_paths_prints_each_node_and_the_edge_to_the_next(run: Run) -> None:
    lines = [line.rstrip() for line in run("paths", "--from", SEED, "--to", TABLE).stdout.splitlines()]
    assert lines == [
        "path 1: 1 hops, confidence 0.9",
        SEED,
        "  ↓ ReadsFrom 0.9 line 12",
        f"{TABLE}  test generated",
        "",
        "paths: 1; from: 1; to: 1; index: v1; truncated: limit_reached, searched up to 3 hops",
    ]
    output = run("paths", "--from", SEED, "--to", TABLE, "--json")
    assert json.loads(output.stdout)["paths"][0]["hops"][0]["line"] == 12


def test_paths_says_which_ends_are_not_there(server: FakeServer, run: Run) -> None:
    server.answer(retrieval_pb2.FindPathsResponse(debug=retrieval_pb2.FindPathsDebug(from_count=1), index="v1"))
    printed = run("paths", "--from", SEED, "--to", "Invoice").stdout
    assert "no node found for --to: give a symbol, a place such as src/a.cs:42, or a whole id" in printed


@pytest.mark.parametrize(
    ("direction", "said"),
    [
        ("outgoing", "no path leads from --from to --to; --direction incoming searches the other way"),
        ("incoming", "no path leads from --to to --from; --direction outgoing searches the other way"),
        ("both", "no path connects --from and --to, whichever way edges are followed; --max-hops"),
    ],
)
def test_paths_says_which_way_it_found_none(server: FakeServer, run: Run, direction: str, said: str) -> None:
    searched = retrieval_pb2.FindPathsDebug(from_count=1, to_count=1, reason="ok")
    server.answer(retrieval_pb2.FindPathsResponse(debug=searched, index="v1"))
    printed = " ".join(run("paths", "--from", SEED, "--to", TABLE, "--direction", direction).stdout.split())
    assert said in printed


def test_paths_that_tell_nothing_of_their_own_are_left_out(server: FakeServer, run: Run) -> None:
    files = {"a": "a.cs", "b": "b.cs", "c": "c.cs", "d": "d.cs", "e": "e.cs", "a2": "a.cs", "a3": "a.cs"}
    nodes = [
        retrieval_pb2.PathNode(id=id_, symbol=id_, location=retrieval_pb2.SourceLocation(path=path))
        for id_, path in files.items()
    ]
    paths = [
        retrieval_pb2.DependencyPath(
            node_ids=ids,
            hops=[retrieval_pb2.GraphEdge(from_id=near, to_id=far) for near, far in itertools.pairwise(ids)],
        )
        for ids in (["a", "b", "d"], ["a", "c", "d"], ["a", "a2", "a3"], ["a", "c", "e", "d"], ["a", "d"])
    ]
    debug = retrieval_pb2.FindPathsDebug(from_count=1, to_count=1)
    server.answer(retrieval_pb2.FindPathsResponse(paths=paths, nodes=nodes, debug=debug, index="v1"))
    printed = run("paths", "--from", SEED, "--to", TABLE).stdout
    titles = [line.split(",")[0] for line in printed.splitlines() if line.startswith("path ")]
    assert titles == ["path 1: 2 hops", "path 2: 3 hops", "path 3: 1 hops"]
    assert "paths: 3; from: 1; to: 1" in printed
    assert "left out: 2 that differ in one node only, or stay within one file; --json prints them" in printed
    server.answer(retrieval_pb2.FindPathsResponse(paths=paths[2:3], nodes=nodes, debug=debug, index="v1"))
    assert "paths: 1; from" in run("paths", "--from", SEED, "--to", TABLE).stdout


def test_expand_without_a_visible_seed_prints_no_edges(run: Run) -> None:
    output = run("expand", SEED)
    assert output.code == 0
    assert "confidence" not in output.stdout


@pytest.mark.usefixtures("answers")
def test_fetch_prints_texts_and_what_was_skipped(run: Run) -> None:
    printed = run("fetch", SEED, TABLE).stdout
    assert printed.splitlines() == [
        "src/Invoice.cs:10-11 Create (test)",
        "10 int [bold]x␛[31m;",
        "   int y;",
        f"left out: {TABLE}  (does not fit)",
        "",
        "texts: 1; tokens: 13; index: v1; left out: 1",
    ]


def test_an_id_that_holds_the_path_is_not_printed(server: FakeServer, run: Run) -> None:
    location = retrieval_pb2.SourceLocation(path="src/org/shop/Order.java", start_line=7, end_line=7)
    id_, symbol = "shop::main::java::src/org/shop/Order.java#org.shop.Order.add", "org.shop.Order.add"
    place = "src/org/shop/Order.java:7"
    text = retrieval_pb2.NodeText(id=id_, text="add();", location=location, symbol=symbol, citation=place)
    server.answer(retrieval_pb2.FetchNodeTextsResponse(texts=[text], index="v1"))
    printed = run("fetch", id_).stdout.splitlines()
    assert printed[:2] == [f"{place} Order.add", "7 add();"]
    assert id_ not in "".join(printed)
    assert run("fetch", id_, "--ids").stdout == f"{id_}\n"


def test_a_package_that_the_path_names_is_not_repeated(server: FakeServer, run: Run) -> None:
    location = retrieval_pb2.SourceLocation(path="src/org/shop/Order.java", start_line=7, end_line=7)
    hit = retrieval_pb2.SearchHit(id="a", rank=1, symbol="org.shop.Order.add", location=location)
    server.answer(retrieval_pb2.SearchNodesResponse(hits=[hit], index="v1"))
    assert run("search", "vat").stdout.startswith("1 Order.add\n  src/org/shop/Order.java:7\n")


def test_of_many_candidates_the_first_are_told() -> None:
    nodes = [
        NamedNode(str(line), f"org/shop/Order.java:{line}", "org.shop.Order.add", "java", "") for line in range(12)
    ]
    _, *candidates, rest = str(NameResolutionError("'add' is ambiguous", "add", nodes)).splitlines()
    assert candidates == [f"  org/shop/Order.java:{line}  Order.add" for line in range(10)]
    assert rest == "  and 2 more"


def test_lines_indented_with_tabs_are_whole(server: FakeServer, run: Run) -> None:
    location = retrieval_pb2.SourceLocation(path="vat.go", start_line=1, end_line=2)
    line = "return netAmountOfTheInvoice * rateOfTheCountryWhereItIsDelivered / 100"
    text = retrieval_pb2.NodeText(id=SEED, text=f"if charged {{\n\t\t\t\t{line}\n", location=location)
    server.answer(retrieval_pb2.FetchNodeTextsResponse(texts=[text], index="v1"))
    assert line in run("fetch", SEED).stdout


def test_an_outline_says_so_and_has_no_line_numbers_as_its_lines_are_not_those_of_the_file(
    server: FakeServer, run: Run
) -> None:
    location = retrieval_pb2.SourceLocation(path="a.py", start_line=7, end_line=40)
    outline = "class A:\n    def f(self) ...\n"
    text = retrieval_pb2.NodeText(id=TABLE, text=outline, location=location, citation="a.py:7-40")
    server.answer(retrieval_pb2.FetchNodeTextsResponse(texts=[text]))
    assert run("fetch", TABLE).stdout.splitlines()[:3] == [
        "a.py:7-40 (outline; a.py:7-40 as a place gives all lines)",
        " class A:",
        "     def f(self) ...",
    ]


def test_a_text_without_a_place_is_named_by_its_id_and_symbol(server: FakeServer, run: Run) -> None:
    text = retrieval_pb2.NodeText(id=TABLE, text="CREATE TABLE", token_count=2, symbol="dbo.Invoice")
    server.answer(retrieval_pb2.FetchNodeTextsResponse(texts=[text]))
    assert run("fetch", TABLE).stdout.splitlines()[:2] == [f"{TABLE} dbo.Invoice", " CREATE TABLE"]


@pytest.mark.usefixtures("answers")
def test_json_is_the_response_by_the_names_of_the_contract(run: Run) -> None:
    parsed = json.loads(run("search", "vat", "--json").stdout)
    assert set(parsed) == {"hits", "index", "exact", "debug", "search_type", "scopes", "left_out"}
    assert set(parsed["hits"][1]) == set(retrieval_pb2.SearchHit.DESCRIPTOR.fields_by_name) - {"location", "scope"}
    assert parsed["hits"][0]["retrievers"][0] == {"retriever": "RETRIEVER_DENSE", "rank": 1, "score": 0.75}
    graph = json.loads(run("expand", SEED, "--json").stdout)
    assert graph["edges"] == [
        {"from_id": SEED, "to_id": TABLE, "edge_type": "ReadsFrom", "confidence": 0.9, "line": 12}
    ]
    texts = json.loads(run("fetch", SEED, "--json").stdout)
    assert texts["texts"][0]["text"] == "int [bold]x\x1b[31m;\r\nint y;\n"
    assert texts["skipped"] == [{"id": TABLE, "reason": "SKIP_REASON_OVER_BUDGET"}]


@pytest.mark.usefixtures("answers")
@pytest.mark.parametrize("arguments", ALL_COMMANDS)
def test_a_pipe_gets_no_escape_sequences(run: Run, arguments: tuple[str, ...]) -> None:
    assert "\x1b" not in run(*arguments).stdout


def test_nodes_without_a_name_have_their_place(server: FakeServer, run: Run) -> None:
    location = retrieval_pb2.SourceLocation(path="src/\x1bInvoice.cs", start_line=10, end_line=11)
    hit = retrieval_pb2.SearchHit(id=SEED, rank=1, location=location, is_test=True)
    server.answer(retrieval_pb2.SearchNodesResponse(hits=[hit], index="v1"))
    assert "1 src/␛Invoice.cs:10-11 · test\n" in run("search", "vat").stdout
    node = retrieval_pb2.ReachedNode(id=SEED, location=location)
    server.answer(retrieval_pb2.ExpandDependencyTreeResponse(seed_ids=[SEED], nodes=[node], index="v1"))
    assert "└── src/␛Invoice.cs:10-11\n" in run("expand", SEED).stdout


def test_a_hit_is_its_name_and_its_place(server: FakeServer, run: Run) -> None:
    location = retrieval_pb2.SourceLocation(path="src/" + "Invoices/" * 20 + "Invoice.cs", start_line=10, end_line=11)
    hit = retrieval_pb2.SearchHit(id=SEED, rank=1, symbol="Shop.Invoice", location=location)
    server.answer(retrieval_pb2.SearchNodesResponse(hits=[hit], index="v1"))
    assert run("search", "vat").stdout.startswith(f"1 Shop.Invoice\n  {location.path}:10-11\n")


@pytest.mark.usefixtures("answers")
@pytest.mark.parametrize(
    ("arguments", "ids"),
    [
        (("search", "vat"), [SEED, TABLE]),
        (("expand", SEED), [SEED, TABLE]),
        (("paths", "--from", SEED, "--to", TABLE), [SEED, TABLE]),
        (("fetch", SEED, TABLE), [SEED]),
    ],
)
def test_ids_are_printed_alone(run: Run, arguments: tuple[str, ...], ids: list[str]) -> None:
    assert run(*arguments, "--ids").stdout.splitlines() == ids


def test_an_index_whose_names_may_not_be_asked_is_searched_nevertheless(server: FakeServer, run: Run) -> None:
    server.refuse("GetIndex", grpc.StatusCode.PERMISSION_DENIED, "not for you")
    output = run("search", "vat", "--kind", "cs")
    assert output.code == 0
    assert output.stderr == (
        "note: the kinds, languages and edge types of the index cannot be read: PERMISSION_DENIED: not for you\n"
    )


@pytest.mark.parametrize("action", ["search", "query"])
def test_which_of_several_indexes_were_searched_without_embeddings_is_noted(
    server: FakeServer, run: Run, action: str
) -> None:
    scopes = [scope_pb2.IndexScope(repository=f"r{number}", branch="main") for number in range(8)]
    without = [retrieval_pb2.LeftOut(scope=scope, retriever=retrieval_pb2.RETRIEVER_DENSE) for scope in scopes[1:]]
    server.answer(retrieval_pb2.SearchNodesResponse(scopes=scopes, left_out=without))
    server.answer(query_pb2.QueryResponse(scopes=scopes, left_out=without))
    names = ", ".join(f"r{number}::main" for number in range(1, 6))
    note = f"note: searched by words alone, for lack of embeddings: {names} and 2 more\n"
    assert note in run(action, "q", "-r", "*").stderr
