"""What the tools tell a model, and how they fail."""

import json
from typing import Any
from urllib.parse import quote

import pytest
from jsonschema import Draft202012Validator
from mcp import Client, MCPError
from mcp.types import ListResourceTemplatesResult, ListToolsResult

from client.mcp.conftest import ORDER, PRICE, SALARY, TAX, Front
from groundwire.tokens import TokenCounter
from groundwire_client import (
    DependencyPath,
    FindPathsResponse,
    GraphEdge,
    LineMatch,
    PathNode,
    QueryMatch,
    QueryResponse,
    SearchTextResponse,
    SourceLocation,
)
from groundwire_mcp.conversions import hits_of, lines_of, paths_of
from support.mcp_calls import Agent

BM25 = {"search_type": "bm25"}
BODY = "    return price() # invoice total"
ANSWERS: dict[str, dict[str, Any]] = {
    "list_repositories": {},
    "search_code": {"query": "invoice", **BM25},
    "grep_code": {"pattern": "def tax"},
    "ask": {"query": "invoice", "phrasings": ["vat rate", "tax price"]},
    "read_code": {"nodes": [ORDER, TAX], "budget_tokens": 60},
    "expand_graph": {"nodes": [ORDER]},
    "find_paths": {"from_nodes": [ORDER], "to_nodes": [TAX]},
}


def listed(agent: Agent) -> ListToolsResult:
    async def tools(client: Client) -> ListToolsResult:
        return await client.list_tools()

    return agent.session(tools)


def test_every_argument_and_tool_says_what_it_is(shopper: Agent) -> None:
    tools = listed(shopper).tools
    assert {tool.name for tool in tools} == ANSWERS.keys()
    for tool in tools:
        assert tool.description
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint
        assert tool.input_schema["additionalProperties"] is False
        for name, schema in tool.input_schema["properties"].items():
            assert schema["description"], f"{tool.name}.{name}"
            bounds = {"maximum", "maxLength", "maxItems", "enum"}
            assert bounds & schema.keys() or schema["type"] == "boolean", f"{tool.name}.{name}"


def test_the_tools_take_few_tokens_of_a_context(shopper: Agent) -> None:
    shown = [(tool.name, tool.description, tool.input_schema) for tool in listed(shopper).tools]
    assert len(json.dumps(shown)) < 10_500


@pytest.mark.parametrize("mode", ["legacy", "auto"])
@pytest.mark.parametrize("tool", ANSWERS)
def test_structured_content_is_of_the_schema_and_says_what_the_text_says_where_it_quotes_no_sources(
    front: Front, tool: str, mode: str
) -> None:
    agent = front.agent("shop", mode=mode)
    result = agent.call(tool, **ANSWERS[tool])
    assert not result.failed, result.text
    (entry,) = (entry for entry in listed(agent).tools if entry.name == tool)
    if tool in ("ask", "grep_code", "read_code"):
        assert (entry.output_schema, result.structured) == (None, {})
        return
    assert entry.output_schema is not None
    Draft202012Validator(entry.output_schema).validate(result.structured)
    for node in (part for value in result.structured.values() if isinstance(value, list) for part in value):
        for name in ("id", "place", "symbol", "repository", "code"):
            assert node.get(name, "") in result.text if isinstance(node, dict) else True


def test_a_search_gives_each_place_and_symbol_once_with_its_signature(shopper: Agent) -> None:
    result = shopper.call("search_code", query="vat", top_k=1, **BM25)
    assert result.structured == {"hits": [{"place": "src/tax.py:30-31", "symbol": "shop.tax", "code": "def tax():"}]}
    assert result.text == "src/tax.py:30-31  shop.tax  def tax():"


def test_lines_are_listed_below_their_files_as_far_as_there_is_room() -> None:
    matches = [
        LineMatch(path="a.py", line=number, end_line=number, text="x" * 400, before=["around"], node_id="s::m::py::a")
        for number in range(2, 202, 2)
    ]
    matches.append(LineMatch(path="b.py", line=1, end_line=1, text="last", node_id="s::m::py::b"))
    whole = lines_of(SearchTextResponse(matches=matches[-1:], line_count=1, file_count=1, complete=True), [])
    assert (whole.quoted, whole.note) == ("b.py\n1: last", "")
    cut = lines_of(SearchTextResponse(matches=matches, line_count=101, file_count=2, complete=True), [])
    assert cut.quoted.startswith("a.py\n1- around\n2: xxx")
    assert len(cut.quoted) < 41_000
    assert "101 lines in 2 files match; shown are the first 98" in cut.note


def test_of_a_text_that_begins_with_a_bracket_the_line_that_answers_is_shown() -> None:
    location = SourceLocation(path="appsettings.json", start_line=1, end_line=4)
    text = '{\n  "Logging": {},\n  "GracePeriodTime": 1\n}'
    match = QueryMatch(id="a", location=location, text=text, token_count=20)
    (hit,) = hits_of(QueryResponse(matches=[match]), "how long is the grace period?", []).hits
    assert hit.code == '"GracePeriodTime": 1'


def test_phrasings_find_what_the_query_does_not(shopper: Agent) -> None:
    assert shopper.call("search_code", query="surcharge", **BM25).structured["hits"] == []
    result = shopper.call("search_code", query="surcharge", phrasings=["vat"], **BM25)
    assert [hit["symbol"] for hit in result.structured["hits"]] == ["shop.tax"]
    assert "nothing" in shopper.call("ask", query="surcharge").text.lower()
    assert "def tax():" in shopper.call("ask", query="surcharge", phrasings=["vat"]).text


@pytest.mark.parametrize("name", ["src/tax.py:30-31", "tax.py:30", "shop.tax", "TAX", TAX])
def test_places_and_symbols_name_nodes(shopper: Agent, name: str) -> None:
    read = shopper.call("read_code", nodes=[name]).text.splitlines()
    assert read[0].split()[0] == "src/tax.py:30-31"
    assert read[1:3] == ["30 def tax():", "       return rate # " + ("vat invoice " * 300).strip()]
    walked = shopper.call("expand_graph", nodes=[name], direction="incoming").structured["nodes"]
    assert [node["symbol"] for node in walked] == ["shop.tax", "shop.price"]
    result = shopper.call("find_paths", from_nodes=["shop.order"], to_nodes=[name])
    assert [path["nodes"] for path in result.structured["paths"]] == [[1, 2, 3]]
    assert "def tax():" in shopper.read(f"groundwire://node/{quote(name, safe='')}")


def test_a_hidden_node_has_no_name(shopper: Agent) -> None:
    hidden, absent = (shopper.call("read_code", nodes=[name]) for name in ("shop.salary", "shop.salaries"))
    assert hidden.failed
    assert hidden.text.replace("salary", "salaries") == absent.text


def test_words_may_end_a_path_and_are_told(shopper: Agent) -> None:
    result = shopper.call("find_paths", from_nodes=["order"], to_query="vat rate")
    assert result.structured["paths"]
    assert "A search took 'vat rate' for src/tax.py:30-31" in result.structured["note"]


def test_a_name_that_means_nothing_is_not_searched_for(shopper: Agent) -> None:
    result = shopper.call("find_paths", from_nodes=["order"], to_nodes=["vat rate"])
    assert result.failed
    assert result.text.startswith("'vat rate' names no node")
    neither = shopper.call("find_paths", from_nodes=["order"])
    assert (neither.failed, neither.text) == (True, "to_nodes: name a node, or give to_query")


def test_a_search_is_narrowed_by_path_and_language(shopper: Agent) -> None:
    narrowed = shopper.call("search_code", query="invoice", path_prefixes=["src/pr"], languages=["python"], **BM25)
    assert [hit["symbol"] for hit in narrowed.structured["hits"]] == ["shop.price"]
    other = shopper.call("search_code", query="invoice", languages=["cobol"], **BM25)
    assert other.structured["hits"] == []
    assert "try other words" in other.text
    for tool in ("search_code", "ask"):
        result = shopper.call(tool, query="invoice", languages=["pyton"])
        assert "no active node has the language 'pyton'; did you mean 'python'? There are: python" in result.text


def test_of_a_text_beyond_the_budget_the_head_is_shown(shopper: Agent) -> None:
    result = shopper.call("read_code", nodes=[TAX, ORDER, PRICE, "shop::main::py::nothing"], budget_tokens=24)
    assert result.text.splitlines() == [
        "src/tax.py:30-31 shop.tax",
        "30 def tax():",
        "…31-31 left out, 605 tokens: read src/tax.py:31-31",
        "src/order.py:10-11 shop.order",
        "10 def order():",
        "       return price() # invoice total",
        "src/price.py:20-21 shop.price",
        "20 def price():",
        "       return tax() # invoice",
        "left out: shop::main::py::nothing  (no such node)",
    ]


def test_names_that_mean_nothing_leave_the_others_readable(shopper: Agent) -> None:
    result = shopper.call("read_code", nodes=["shop.order", "shop.orders", "nothing.py:3-9"])
    assert not result.failed
    assert result.text.splitlines()[:3] == ["src/order.py:10-11 shop.order", "10 def order():", "   " + BODY]
    assert "'shop.orders' names no node" in result.text
    assert "'nothing.py:3-9' names no node" in result.text


def test_a_symbol_without_a_node_is_answered_with_the_places_of_its_text(shopper: Agent) -> None:
    result = shopper.call("read_code", nodes=["rate"])
    assert not result.failed
    assert "'rate' names no node" in result.text
    assert "  src/tax.py:31  return rate # vat invoice" in result.text
    hidden = shopper.call("read_code", nodes=["payroll"])
    assert (hidden.failed, "occurs" in hidden.text) == (True, False)


def test_ask_gives_passages_with_file_and_lines_within_the_budget(shopper: Agent) -> None:
    result = shopper.call("ask", query="invoice total", phrasings=["order price"], budget_tokens=200)
    assert result.text.splitlines()[:3] == ["src/order.py", "[1] shop", "10 def order():"]
    assert "src/price.py" in result.text
    evidence, note = result.text.rsplit("\n", 1)
    assert TokenCounter().count(evidence) <= 200
    assert note == "Searched by words alone: the index has no embeddings, or not yet."


def test_ask_does_not_show_again_what_was_shown(shopper: Agent) -> None:
    arguments: dict[str, Any] = {"query": "invoice total", "phrasings": ["order price"]}
    again = shopper.call("ask", **arguments, shown=["src/order.py:10-11", "nothing.py:1", PRICE]).text
    assert BODY in shopper.call("ask", **arguments).text
    assert BODY not in again
    assert "[1] src/order.py:10-11" in again


def test_weak_evidence_says_so_first(shopper: Agent) -> None:
    result = shopper.call("ask", query="how do I bake sourdough bread and return it?")
    assert result.text.startswith(("This is probably no answer", "Nothing matches"))


def test_a_search_says_that_the_index_has_words_alone(shopper: Agent) -> None:
    result = shopper.call("search_code", query="invoice total")
    assert result.structured["hits"]
    assert result.structured["note"] == "Searched by words alone: the index has no embeddings, or not yet."
    assert "note" not in shopper.call("search_code", query="invoice total", **BM25).structured


def test_a_walk_numbers_its_nodes(shopper: Agent) -> None:
    result = shopper.call("expand_graph", nodes=[PRICE], direction="both")
    assert [(node["n"], node["symbol"], node.get("depth", 0)) for node in result.structured["nodes"]] == [
        (1, "shop.price", 0),
        (2, "shop.order", 1),
        (3, "shop.tax", 1),
    ]
    assert result.structured["edges"] == [
        {"from": 2, "to": 1, "type": "Calls", "line": 12},
        {"from": 1, "to": 3, "type": "Calls", "line": 12},
    ]
    assert "[2] -> [1]  Calls, line 12" in result.text


def test_a_walk_says_when_there_is_more(shopper: Agent) -> None:
    assert "beyond max_depth" in shopper.call("expand_graph", nodes=[ORDER], direction="outgoing").text
    assert "raise max_nodes" in shopper.call("expand_graph", nodes=[ORDER], max_nodes=1).text


def test_a_path_is_told_by_its_nodes(shopper: Agent) -> None:
    result = shopper.call("find_paths", from_nodes=[TAX], to_nodes=[ORDER], direction="incoming")
    assert [path["nodes"] for path in result.structured["paths"]] == [[1, 2, 3]]
    assert "path 1: [1] <-(Calls, line 12)- [2] <-(Calls, line 12)- [3]" in result.text


def test_paths_alike_are_left_out_with_their_nodes() -> None:
    nodes = [
        PathNode(
            id=id_, symbol=f"org.shop.{id_}", location=SourceLocation(path=f"src/org/shop/{id_}.java", start_line=1)
        )
        for id_ in "ABCD"
    ]
    hops = [GraphEdge(from_id="A", to_id="B"), GraphEdge(from_id="B", to_id="D")]
    other = [GraphEdge(from_id="A", to_id="C"), GraphEdge(from_id="C", to_id="D")]
    paths = [DependencyPath(node_ids="ABD", hops=hops), DependencyPath(node_ids="ACD", hops=other)]
    result = paths_of(FindPathsResponse(paths=paths, nodes=nodes), "outgoing", [], [])
    assert [path.nodes for path in result.paths] == [[1, 2, 3]]
    assert [(node.place, node.symbol) for node in result.nodes] == [
        (f"src/org/shop/{id_}.java:1", id_) for id_ in "ABD"
    ]
    assert "Left out: 1 that differ in one node only" in result.note


@pytest.mark.parametrize(
    ("ends", "direction", "said"),
    [
        (
            (TAX, ORDER),
            "outgoing",
            "No path leads from from_nodes to to_nodes: direction incoming searches the other way",
        ),
        (
            (ORDER, TAX),
            "incoming",
            "No path leads from to_nodes to from_nodes: direction outgoing searches the other way",
        ),
    ],
)
def test_no_path_is_told_with_the_way_that_was_asked(
    shopper: Agent, ends: tuple[str, str], direction: str, said: str
) -> None:
    result = shopper.call("find_paths", from_nodes=[ends[0]], to_nodes=[ends[1]], direction=direction)
    assert result.structured["paths"] == []
    assert said in result.structured["note"]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("search_code", {"query": "invoice", "search_type": "BM25", "tests": "Include"}),
        ("expand_graph", {"nodes": [ORDER], "direction": "OUTGOING"}),
    ],
)
def test_values_of_enums_are_taken_in_any_case(shopper: Agent, tool: str, arguments: dict[str, Any]) -> None:
    lower = {name: value.lower() if isinstance(value, str) else value for name, value in arguments.items()}
    assert shopper.call(tool, **arguments).structured == shopper.call(tool, **lower).structured


def test_a_node_is_a_resource(shopper: Agent) -> None:
    async def templates(client: Client) -> ListResourceTemplatesResult:
        return await client.list_resource_templates()

    (template,) = shopper.session(templates).resource_templates
    uri = template.uri_template.replace("{id}", quote(ORDER, safe=""))
    assert shopper.read(uri) == ("src/order.py:10-11  shop.order\n\ndef order():\n    return price() # invoice total\n")


@pytest.mark.parametrize("uri", ["groundwire://node/" + quote(SALARY, safe=""), "groundwire://node/x", "file:///etc/x"])
def test_a_resource_that_is_not_there_is_an_error(shopper: Agent, uri: str) -> None:
    with pytest.raises(MCPError, match=r"there is no such|names no node"):
        shopper.read(uri)


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("search_code", {}, "query: is required"),
        ("search_code", {"query": ""}, "query"),
        ("search_code", {"query": "x" * 8_193}, "query"),
        ("search_code", {"query": " ", **BM25}, "query"),
        ("search_code", {"query": "x", "top_k": 10**30}, "top_k"),
        ("search_code", {"query": "x", "top_k": -1}, "top_k: -1: must be greater than or equal to 1"),
        ("search_code", {"query": "x", "top_k": "ten"}, "top_k: 'ten': must be a valid integer"),
        ("search_code", {"query": "x", "languages": "go"}, "languages: 'go': must be a valid list"),
        ("search_code", {"query": "x", "search_type": "magic"}, "'hybrid', 'bm25' or 'semantic'"),
        ("search_code", {"query": "x", "search_type": "hybrid"}, "use search_type bm25"),
        ("ask", {"query": "x", "budget_tokens": 20_001}, "budget_tokens"),
        ("ask", {"query": "x", "budget_tokens": 199}, "budget_tokens"),
        ("ask", {"query": "x", "phrasings": ["y"] * 9}, "must have at most 8 items, not 9"),
        ("read_code", {"nodes": []}, "nodes"),
        ("read_code", {"nodes": ["orders"]}, "names no node: give a symbol such as"),
        ("read_code", {"nodes": [ORDER] * 21}, "must have at most 20 items, not 21"),
        ("read_code", {"nodes": ["x" * 2_049]}, "nodes"),
        ("expand_graph", {"nodes": [ORDER], "max_depth": 7}, "max_depth"),
        ("expand_graph", {"nodes": [ORDER], "max_nodes": 201}, "max_nodes"),
        ("expand_graph", {"nodes": [ORDER], "min_confidence": 2}, "min_confidence"),
        ("find_paths", {"from_nodes": [ORDER], "to_nodes": [TAX], "max_hops": 13}, "max_hops"),
    ],
)
def test_a_broken_rule_is_an_error_that_names_the_argument(
    shopper: Agent, tool: str, arguments: dict[str, object], said: str
) -> None:
    result = shopper.call(tool, **arguments)
    assert result.failed
    assert said in result.text
    assert len(result.text) < 500


def test_an_unknown_tool_is_refused(shopper: Agent) -> None:
    with pytest.raises(MCPError, match="the tools are ask, search_code"):
        shopper.call("delete_index")
