"""The page asks several indexes as one, and its links lead to each node in its own index."""

import re
from collections.abc import Iterator
from functools import partial

import pytest

from client.explore.conftest import SHOP, Get, content_of, exploring
from groundwire_client import AccessContext
from support.jsonl import node
from support.program import Server, run_ok, write_jsonl

WEB = [
    node("WebInvoice", "def page():\n    return render(invoice)\n", None, kind="py", path="src/invoice.py",
         start_line=10, end_line=11, symbol="WebInvoice.page", language="python"),
]  # fmt: skip
HIDDEN = [node("Vault", "def invoice(): return 0.42", None, kind="py", path="vault.py", acl_tags=["finance"])]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("several")
    for name, version, records in (
        ("shop", "v1", SHOP), ("shop", "v2", SHOP), ("web", "v1", WEB), ("web-vault", "v1", HIDDEN),
    ):  # fmt: skip
        source = write_jsonl(folder / f"{name}.jsonl", records)
        where = ("--repository", name, "--branch", "main", "--version", version, "--data", folder / "data")
        run_ok("index", source, *where, "--embedder", "none")
    with Server(folder / "data", "--embedder", "none") as server:
        yield server


@pytest.fixture(scope="module")
def get(server: Server) -> Iterator[Get]:
    with exploring(server.address) as browser:
        yield partial(content_of, browser)


def test_a_question_is_asked_of_several_indexes(get: Get) -> None:
    for mode in ("query", "bm25"):
        shown = get(f"/?q=invoice&scope=shop::main&also=web::main&mode={mode}")
        assert "versions" not in shown.text.partition("Options")[0]
        assert "in version shop::main::v2, web::main::v1" in shown.text
        assert {"shop::main::v2", "web::main::v1"} == {
            link.partition("scope=")[2].partition("&")[0].replace("%3A", ":")
            for link in shown.links
            if link.startswith("/node")
        }
        leads = next(link for link in shown.links if link.startswith("/node") and "web" in link)
        assert "page src/invoice.py:10-11 WebInvoice.page" in get(leads.replace("&amp;", "&")).text
        assert "Calls → " in shown.text
        assert "web::main" in shown.text
        assert [
            attributes.get("value")
            for tag, attributes in shown.elements
            if tag == "input" and attributes.get("name") == "also"
        ] == ["web::main", ""]
    assert any(link.startswith("/compare") and link.endswith("also=web%3A%3Amain") for link in shown.links)
    assert "of shop · main, web · main" in shown.html


def test_texts_of_several_indexes_share_one_budget(get: Get) -> None:
    shown = get("/?q=invoice&scope=shop::main&also=web::main&mode=bm25&budget=40")
    used = shown.text.partition(" of 40 tokens")[0].rpartition(" ")[2]
    assert 0 < int(used) <= 40
    assert "texts left out" in shown.text


def test_a_pattern_means_what_the_caller_may_see(get: Get, server: Server) -> None:
    alone, pattern = (
        get(f"/?q=invoice+margin&scope=shop::main&{also}") for also in ("also=web::main", "also=web*::main")
    )
    answers = [
        re.sub(r"[\d.]+ ms", "", content.html.partition('id="matches"')[2]).replace("web\\*", "web")
        for content in (alone, pattern)
    ]
    assert answers[0] == answers[1]
    assert "vault" not in pattern.html
    with exploring(server.address, AccessContext(acl_tags_any=["finance"])) as browser:
        assert "web-vault::main" in content_of(browser, "/?q=invoice&scope=shop::main&also=web*::main").text


def test_two_sides_of_several_indexes_are_compared(get: Get) -> None:
    shown = get("/compare?q=invoice&scope=shop::main&also=web::main&a.scope=shop::main&b.mode=bm25")
    assert "A: query 4 in index v2" in shown.text
    assert "B: bm25 5 in index shop::main::v2, web::main::v1" in shown.text


@pytest.mark.parametrize(
    ("also", "message"),
    [("absent::main", "SCOPE_NOT_FOUND"), ("web-vault::main", "SCOPE_NOT_FOUND"), ("shop::main::v1", "scopes[1]")],
)
def test_another_index_that_cannot_be_asked_is_named(get: Get, also: str, message: str) -> None:
    assert message in get(f"/?q=x&scope=shop::main&also={also}").text


def test_another_index_of_a_wrong_form_is_named(get: Get) -> None:
    assert "'web' must be repository::branch" in get("/?q=x&scope=shop::main&also=web").text
