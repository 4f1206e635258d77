"""Whatever an index or an address holds, each page shows control and direction characters as signs."""

from collections.abc import Iterator
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from client.explore.conftest import content_of, exploring
from support.jsonl import edge, node
from support.program import Server, run_ok, write_jsonl

SIGNS = "\u202e\x1b[31m\x9b\u2066"
REPOSITORY, BRANCH = "sh\u202eop", "ma\u2067in"
NODES = [
    node(f"{name}{SIGNS}", f"def {name}(): # invoice {SIGNS}\n", None, kind="py", path=f"s{SIGNS}/{name}{SIGNS}.py",
         start_line=1, end_line=1, symbol=f"Shop.{name}{SIGNS}", language=f"py{SIGNS}", source_uri=f"x{SIGNS}",
         section_path=f"part{SIGNS}", service_name=f"web{SIGNS}")
    for name in ("one", "two")
]  # fmt: skip
EDGE = edge(f"py::one{SIGNS}", f"py::two{SIGNS}", f"Calls{SIGNS}")
SCOPE = quote(f"{REPOSITORY}::{BRANCH}")
ID = quote(f"{REPOSITORY}::{BRANCH}::py::one{SIGNS}")
PAGES = [
    "/",
    f"/?q=invoice{quote(SIGNS)}&scope={SCOPE}&path={quote(SIGNS)}&also={SCOPE}&language=py{quote(SIGNS)}",
    f"/?q=invoice&scope={SCOPE}",
    f"/?q=invoice&scope={SCOPE}&mode=bm25",
    f"/?q=invoice&scope={SCOPE}&budget=1",
    f"/?q=invoice&scope={SCOPE}{quote(SIGNS)}",
    f"/evidence?q=invoice{quote(SIGNS)}&scope={SCOPE}&phrasings=one%0Ax{quote(SIGNS)}&also={SCOPE}",
    f"/map?scope={SCOPE}",
    f"/map?scope={SCOPE}&folder={quote('s' + SIGNS)}/",
    f"/compare?q=invoice{quote(SIGNS)}&scope={SCOPE}&b.mode=bm25",
    f"/versions?scope={SCOPE}::v2&old={SCOPE}::v1",
    f"/versions?scope={SCOPE}::v2&old={SCOPE}::v1&folder={quote('s' + SIGNS)}/",
    f"/node?scope={SCOPE}&id={ID}",
    f"/node?scope={SCOPE}&id={ID}{quote(SIGNS)}",
    "/indexes",
]


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    folder = tmp_path_factory.mktemp("signs")
    where = ("--repository", REPOSITORY, "--branch", BRANCH, "--embedder", "none", "--data", folder / "data")
    for version, records in (("v1", NODES[:1]), ("v2", [*NODES, EDGE])):
        run_ok("index", write_jsonl(folder / f"{version}\u202e.jsonl", records), "--version", version, *where)
    with Server(folder / "data", "--embedder", "none") as server, exploring(server.address) as browser:
        yield browser


@pytest.mark.parametrize("address", PAGES)
def test_no_page_has_them_as_they_are(browser: TestClient, address: str) -> None:
    """But for what a form sends back and nobody sees: the value of an option, or of a hidden field."""
    content = content_of(browser, address)
    sent_back = [
        attributes.pop("value", None)
        for tag, attributes in content.elements
        if tag == "option" or attributes.get("type") == "hidden"
    ]
    shown = [content.text, *(value or "" for _, attributes in content.elements for value in attributes.values())]
    assert not [text for text in shown if any(sign in text for sign in "\u202e\x1b\x9b\u2066\u2067")]
    assert content.html.count("\u202e") == sum((value or "").count("\u202e") for value in sent_back)
    assert "\N{REPLACEMENT CHARACTER}" in content.text
