"""Beside a place, a page links to the source at its host, and to nothing else."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from urllib.parse import quote

import pytest

from client.explore.conftest import MARKUP, SHOP, Get, content_of, exploring
from groundwire_explore.describing import is_web_address
from support.program import Server, run_ok, write_jsonl

HOST = "https://git.example/shop/blob/main/"


@pytest.fixture(scope="module")
def linked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Get]:
    """The content of a page about an index with links."""
    folder = tmp_path_factory.mktemp("linked")
    source = write_jsonl(folder / "shop.jsonl", SHOP)
    template = f"{HOST}{{path}}#L{{start_line}}-L{{end_line}}"
    names: tuple[str | Path, ...] = ("--repository", "shop", "--branch", "main", "--data", folder / "data")
    run_ok("index", source, *names, "--embedder", "none", "--link-template", template)
    with Server(folder / "data", "--embedder", "none") as server, exploring(server.address) as browser:
        yield partial(content_of, browser)


def source_links(get: Get, address: str) -> list[str]:
    """Where links to the source lead; each opens a page that learns nothing of this one."""
    shown = get(address)
    assert shown.status == 200
    assert "<script>alert" not in shown.html
    anchors = [attributes for tag, attributes in shown.elements if tag == "a" and attributes.get("class") == "source"]
    assert all(anchor["rel"] == "noopener noreferrer" for anchor in anchors)
    outside = [link for link in shown.links if not link.startswith(("/", "#"))]
    assert outside == [anchor["href"] for anchor in anchors]
    return outside


@pytest.mark.parametrize("address", ["/?q=invoice", "/?q=invoice&mode=bm25", "/evidence?q=create+invoice"])
def test_matches_and_passages_link_to_their_lines(linked: Get, address: str) -> None:
    links = source_links(linked, address)
    assert f"{HOST}src/invoice.py#L10-L11" in links
    assert f"{HOST}src/{quote(MARKUP, safe='/')}.py#L1-L2" in links


def test_a_node_links_to_its_lines(linked: Get) -> None:
    node = quote("shop::main::py::Invoice.Create", safe="")
    assert source_links(linked, f"/node?scope=shop::main&id={node}") == [f"{HOST}src/invoice.py#L10-L11"]


def test_compared_matches_link_to_their_lines(linked: Get) -> None:
    links = source_links(linked, "/compare?q=create+invoice&a.mode=bm25&b.mode=query")
    assert links.count(f"{HOST}src/invoice.py#L10-L11") == 2


def test_exact_matches_link_to_their_first_line(linked: Get) -> None:
    assert source_links(linked, "/exact?q=create_invoice") == [
        f"{HOST}src/invoice.py#L10-L10",
        f"{HOST}tests/test_invoice.py#L1-L1",
    ]


def test_without_a_template_nothing_leads_away(get: Get) -> None:
    for address in ("/?q=invoice", "/evidence?q=create+invoice", "/exact?q=create_invoice"):
        assert source_links(get, address) == []


@pytest.mark.parametrize(
    "url", ["", "javascript:alert(1)", "JavaScript:alert(1)", "//evil.example", "data:,x", "/node"]
)
def test_an_address_of_another_kind_is_no_link(url: str) -> None:
    assert not is_web_address(url)
