"""What each page shows of a real server."""

import json
from html import unescape
from pathlib import Path
from urllib.parse import quote

import pytest

from client.explore.conftest import Content, Get, content_of, exploring
from groundwire.printable_text import printable
from groundwire_client import AccessContext, GroundwireClient, IndexScope
from support.program import Server, run_ok

SHOP = IndexScope(repository="shop", branch="main")
CREATE = quote("shop::main::py::Invoice.Create")


def pairs(content: Content, tag: str, name: str) -> list[str | None]:
    """The values of an attribute of all elements of a tag."""
    return [attributes[name] for element, attributes in content.elements if element == tag and name in attributes]


def test_a_query_shows_stages_reasons_and_texts(get: Get) -> None:
    shown = get("/?q=create+invoice")
    assert shown.status == 200
    assert "create python src/invoice.py:10-11 Invoice.create" in shown.text
    assert all(stage in shown.text for stage in ("bm25_code", "bm25_prose", "trigram", "fused", "final"))
    assert "Tokens of the query in it creat invoic" in shown.text
    assert "Calls → " in shown.text
    assert ", line 11, confidence 0.9" in shown.text
    assert "kind_factor: it is of the purpose test" in shown.text
    assert shown.text.count("1 is first: best by words of code") == 1
    assert {"10", "11"} <= set(pairs(shown, "span", "data-line"))
    assert "nf" in pairs(shown, "span", "class")


def test_a_search_shows_the_place_in_each_retrievers_list(get: Get) -> None:
    shown = get("/?q=create+invoice&mode=bm25&k=2")
    assert "2 matches in version v2" in shown.text
    assert "bm25_code: #1" in shown.text
    assert shown.text.count("1 is first: best by words of code.") == 1
    assert "query tokens creat invoic" in shown.text


def test_the_budget_says_what_was_skipped_and_why(get: Get) -> None:
    for mode in ("query", "bm25"):
        shown = get(f"/?q=create+invoice&mode={mode}&budget=20")
        assert "Skipped: " in shown.text
        assert "over the budget: it does not fit into what was left" in shown.text
        assert "of 20 tokens" in shown.text


def test_a_filter_narrows_and_stays_in_the_form(get: Get) -> None:
    shown = get("/?q=invoice&path=tests/&tests=only")
    assert "1 match in version v2" in shown.text
    assert "tests/" in pairs(shown, "input", "value")
    assert "open" in next(attributes for tag, attributes in shown.elements if tag == "details")


def test_a_page_without_a_question_asks_for_one(get: Get) -> None:
    shown = get("/")
    assert "Ask about shop" in shown.text
    assert "shop · main shop · main · version v1" in shown.text
    assert "The repository at a glance 4 nodes" in shown.text
    assert "retriever" not in shown.text.partition("Options")[0]


def test_the_page_of_evidence_shows_the_text_of_a_prompt(get: Get, server: Server) -> None:
    shown = get("/evidence?q=create+invoice&phrasings=total+of+lines%0D%0A+%0D%0AInvoice.create&budget=300")
    with GroundwireClient(server.address, timeout=300) as client:
        given = ["total of lines", "Invoice.create"]
        evidence = client.evidence(SHOP, "create invoice", 300, phrasings=given, explain=True)
    assert f"{len(evidence.texts)} passages in version v2 · {evidence.used_tokens} of 300 tokens" in shown.text
    assert printable(evidence.rendered) in unescape(shown.html)
    for text in evidence.texts:
        assert f"{text.explanation}; {text.token_count} tokens" in unescape(shown.html)
    assert "Asked as well: total of lines Invoice.create" in shown.text
    assert "<script>alert" not in shown.html
    assert {"10", "11"} <= set(pairs(shown, "span", "data-line"))


def test_weak_evidence_offers_words_to_ask_again_with(get: Get) -> None:
    shown = get("/evidence?q=bake+sourdough+bread+with+flour+and+lines&tests=none")
    assert "This is probably no answer: " in shown.text
    assert "Words of the index near the question: total" in shown.text


def test_evidence_of_nothing_and_of_wrong_numbers_is_told(get: Get) -> None:
    assert "Nothing matches." in get("/evidence?q=invoice&path=absent/").text
    assert get("/evidence?q=invoice&budget=1").status == 400
    assert "Evidence for a prompt" in get("/evidence").text


def test_lines_are_found_exactly(get: Get) -> None:
    shown = get("/exact?q=order")
    assert "3 lines in 2 files of version v2" in shown.text
    assert "src/invoice.py" in shown.text
    assert {"10", "11"} <= set(pairs(shown, "span", "data-line"))
    assert shown.html.count("<mark>order</mark>") == 3
    assert f"/node?scope={quote('shop::main::v2', safe='')}&id={CREATE}" in [unescape(link) for link in shown.links]


def test_the_options_of_exact_search_are_used(get: Get) -> None:
    assert "No line matches." in get("/exact?q=ORDER").text
    assert "3 lines in" in get("/exact?q=ORDER&ignore_case=true").text
    assert "No line matches." in get("/exact?q=orde&whole_words=true").text
    assert "No line matches." in get("/exact?q=order&path=absent/").text
    assert "3 lines in" in get("/exact?q=ord.r%24%7Corder&regex=true").text
    first = get("/exact?q=order&lines=1")
    assert "These are the first 1 lines." in first.text
    assert "3 lines in 2 files" in first.text


def test_a_pattern_that_is_none_says_what_to_do(get: Get) -> None:
    shown = get("/exact?q=%28&regex=true")
    assert "is no regular expression of RE2" in shown.text
    assert get("/exact?q=lines&lines=0").status == 400
    assert "Exact search" in get("/exact").text


def test_two_searches_stand_side_by_side(get: Get) -> None:
    shown = get("/compare?q=create+invoice&a.mode=bm25&b.mode=query&b.path=src/")
    assert "A: bm25 4 in index v2" in shown.text
    assert "B: query 3 in index v2" in shown.text
    assert "only here" in shown.text
    assert "same rank there" in shown.text


def test_one_search_may_fail_while_the_other_is_shown(get: Get) -> None:
    shown = get("/compare?q=create+invoice&a.mode=bm25&b.mode=semantic")
    assert "A: bm25 4 in index v2" in shown.text
    assert "VECTORS_MISSING" in shown.text
    assert "What to do: Choose another kind of search" in shown.text


def test_a_node_shows_the_graph_as_lists_with_links(get: Get) -> None:
    shown = get(f"/node?id={CREATE}&scope=shop::main")
    assert set(pairs(shown, "tr", "data-column")) == {"-1", "0", "1"}
    assert "test_create_invoice test tests/test_invoice.py:1-2 depends on it, 1 away" in shown.text
    assert "Invoice.create Calls total 11 0.9" in shown.text
    assert f"/node?scope={quote('shop::main::v2', safe='')}&id={quote('shop::main::py::Test.Invoice', safe='')}" in [
        link.replace("&amp;", "&") for link in shown.links
    ]


def test_a_graph_follows_what_was_asked(get: Get) -> None:
    shown = get(f"/node?id={CREATE}&direction=outgoing&edge=Calls&confidence=0.5")
    assert pairs(shown, "tr", "data-name") == ["Invoice.create", "total"]


def test_a_pinned_version_is_read(get: Get) -> None:
    assert "in version v1" in get("/?q=create+invoice&scope=shop::main::v1").text


def test_an_unknown_node_is_said_to_be_unknown(get: Get) -> None:
    assert "No such node" in get("/node?id=shop::main::py::Absent").text


def test_indexes_show_counts_of_what_the_caller_may_see(get: Get) -> None:
    shown = get("/indexes")
    assert "shop main v1 of shop main" in shown.text
    assert "v2 of shop main active" in shown.text
    assert " 4 3 none yes o200k_base" in shown.text


def test_the_page_has_the_access_it_was_started_with(get: Get, server: Server) -> None:
    assert "secret_margin" not in get("/?q=invoice+margin").html
    with exploring(server.address, AccessContext(acl_tags_any=["finance"])) as browser:
        assert "secret_margin" in content_of(browser, "/?q=invoice+margin").text


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("/?k=abc&q=x", "k: Input should be a valid integer"),
        ("/?k=51&q=x", "k: Input should be less than or equal to 50"),
        ("/?budget=0&q=x", "budget: Input should be greater than or equal to 1"),
        ("/?mode=vague&q=x", "mode: must be one of query, semantic, bm25, hybrid"),
        ("/?retriever=dense&retriever=nose&q=x", "retriever.1: must be one of dense, bm25_code"),
        ("/?scope=absent&q=x", "scope: 'absent' must be repository::branch"),
        ("/?scope=shop::main::v1::v2&q=x", "must be repository::branch"),
        ("/node", "id: Field required"),
        ("/node?id=x&depth=9", "depth: Input should be less than or equal to 4"),
        ("/compare?q=x&b.fusion=cold", "fusion: must be one of"),
    ],
)
def test_a_wrong_parameter_is_named(get: Get, address: str, message: str) -> None:
    shown = get(address)
    assert shown.status == 400
    assert message in shown.text


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("/?q=x&scope=absent::main", "SCOPE_NOT_FOUND"),
        ("/?q=x&scope=shop::main::v9", "INDEX_NOT_FOUND"),
        ("/?q=x&mode=hybrid", "VECTORS_MISSING"),
        ("/?q=x&rerank=true", "RERANKER_NOT_CONFIGURED"),
        ("/?q=x&retriever=bm25_code&retriever=bm25_code", "retrievers"),
        (f"/?q={'x' * 9000}", "query"),
    ],
)
def test_what_the_server_refuses_is_shown_in_the_page(get: Get, address: str, message: str) -> None:
    shown = get(address)
    assert shown.status == 200
    assert message in shown.text


def test_a_server_out_of_reach_is_said_to_be() -> None:
    with exploring("127.0.0.1:1") as browser:
        shown = content_of(browser, "/?q=x")
    assert shown.status == 502
    assert "Check that the server runs" in shown.text


def test_a_run_is_shown_step_by_step(server: Server, tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    scope = ("-r", "shop", "-b", "main", "--server", server.address)
    run_ok("run", "evidence", "create invoice", *scope, "--trace", trace)
    with exploring(server.address, trace=trace) as browser:
        shown = content_of(browser, "/run")
        trace.write_text(trace.read_text().replace("evidence", "a\\ud800"))
        half = content_of(browser, "/run")
        trace.write_text(trace.read_text() + json.dumps({"event": "<b>"}) + "\n")
        broken = content_of(browser, "/run")
        trace.write_text("")
        empty = content_of(browser, "/run")
    assert "Pipeline evidence ok" in shown.text
    assert "gather_evidence" in shown.text
    assert "Pipeline a\N{REPLACEMENT CHARACTER} ok" in half.text
    assert "no event of a trace" in broken.text
    assert "has no event yet" in empty.text


def test_without_a_trace_there_is_no_page_of_a_run(get: Get) -> None:
    assert get("/run").status == 404
    assert "/run" not in "".join(get("/").links)


def test_a_match_shows_its_place_to_copy_and_the_line_that_fits_best(get: Get) -> None:
    shown = get("/?q=sum+of+invoice_lines&mode=bm25")
    assert "src/totals.py:3-4" in pairs(shown, "button", "data-copy")
    best = shown.html.partition("line best")[2]
    assert best.startswith('" data-line="4"')
    assert "<details><summary>Why it is here" in shown.html


def test_an_answer_can_be_exported(get: Get) -> None:
    shown = get("/?q=create+invoice")
    assert "answer.md" in pairs(shown, "button", "data-download")
    assert "`src/invoice.py:10-11`" in shown.text
    assert "# create invoice" in shown.text


def test_a_map_shows_folders_with_counts_and_edges_between_them(get: Get) -> None:
    shown = get("/map")
    assert {"src/: 3 nodes", "tests/: 1 node"} <= set(pairs(shown, "a", "aria-label"))
    assert "tests/ src/ 1" in shown.text
    narrowed = next(link for link in shown.links if link.endswith("folder=src%2F"))
    inside = get(narrowed.replace("&amp;", "&"))
    assert "src/invoice.py: 1 node" in pairs(inside, "a", "aria-label")
    assert f"/node?scope={quote('shop::main::v2', safe='')}&id={CREATE.replace('/', '%2F')}" in "".join(
        inside.links
    ).replace("&amp;", "&")


def test_a_map_has_what_the_caller_may_see(get: Get, server: Server) -> None:
    assert "margin.py" not in get("/map?folder=src/").html
    with exploring(server.address, AccessContext(acl_tags_any=["finance"])) as browser:
        shown = content_of(browser, "/map?folder=src/")
    assert "src/margin.py: 1 node" in pairs(shown, "a", "aria-label")
    assert "4 nodes" in shown.text


def test_a_folder_that_is_not_there_is_said_to_be_empty(get: Get) -> None:
    assert "There is no such folder" in get("/map?folder=absent/").text


def test_two_versions_are_compared_node_by_node(get: Get) -> None:
    shown = get("/versions?folder=src/&old=shop::main::v1")
    assert "v1 → v2" in shown.text
    assert "src/invoice.py 2 1 \N{MINUS SIGN}1" in shown.text
    assert "Added 0 None." in shown.text
    assert "Removed 1 void Invoice.void src/invoice.py:13-14" in shown.text
    assert "Changed 1 create Invoice.create src/invoice.py:10-11" in shown.text


def test_a_version_is_compared_with_the_one_before(get: Get) -> None:
    shown = get("/versions?scope=shop::main::v2")
    assert "v1 → v2 4 nodes \N{MINUS SIGN}1" in shown.text
    assert "tests/ 1 1 ±0" in shown.text


def test_the_same_question_is_asked_of_two_versions(get: Get) -> None:
    shown = get("/compare?q=void+invoice&a.scope=shop::main::v1&a.mode=bm25&b.mode=bm25")
    assert "A: bm25 5 in index v1" in shown.text
    assert "B: bm25 4 in index v2" in shown.text


def test_a_graph_can_be_exported(get: Get) -> None:
    shown = get(f"/node?id={CREATE}&scope=shop::main")
    assert "graph.mmd" in pairs(shown, "button", "data-download")
    assert 'n0["create"]' in shown.text
