"""A real server over an index whose texts try to be markup, and the page of `explore` on top of it."""

from collections.abc import Callable, Iterator
from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from typing import TypeAlias

import pytest
from starlette.testclient import TestClient

from groundwire_client import AccessContext, AsyncGroundwireClient
from groundwire_explore.app import Settings, make_app
from groundwire_explore.guard import KEY_HEADER
from support.jsonl import edge, node
from support.program import Server, run_ok, write_jsonl

KEY = "the key of this session"
HOST = "127.0.0.1:8422"
MARKUP = "<script>alert('invoice')</script><img src=x onerror=alert(1)>"

SHOP = [
    node("Invoice.Create", "def create_invoice(order):\n    return total(order.lines)\n", None, kind="py",
         path="src/invoice.py", start_line=10, end_line=11, symbol="Invoice.create", language="python"),
    node("Invoice.Total", "def total(invoice_lines):\n    return sum(invoice_lines)\n", None, kind="py",
         path="src/totals.py", start_line=3, end_line=4, symbol="total", language="python"),
    node("Hostile", f"return invoice {MARKUP}\n\u202einvoice\x1b[31m", None, kind="py", path=f"src/{MARKUP}.py",
         start_line=1, end_line=2, symbol=MARKUP, language=f"{MARKUP}", source_uri="javascript:alert(1)"),
    node("Test.Invoice", "def test_create_invoice():\n    assert create_invoice(order)\n", None, kind="py",
         path="tests/test_invoice.py", start_line=1, end_line=2, symbol="test_create_invoice", is_test=True),
    node("Margin", "def invoice_margin(): return 0.42", None, kind="py", path="src/margin.py",
         start_line=1, end_line=1, symbol="secret_margin", acl_tags=["finance"]),
    edge("py::Invoice.Create", "py::Invoice.Total", "Calls", confidence=0.9, line=11),
    edge("py::Test.Invoice", "py::Invoice.Create", "Calls", line=2),
    edge("py::Invoice.Create", "py::Hostile", MARKUP),
]  # fmt: skip

BEFORE = [
    node("Invoice.Create", "def create_invoice(order):\n    return 0\n", None, kind="py",
         path="src/invoice.py", start_line=10, end_line=11, symbol="Invoice.create", language="python"),
    node("Invoice.Void", "def void_invoice(order):\n    return 0\n", None, kind="py",
         path="src/invoice.py", start_line=13, end_line=14, symbol="Invoice.void", language="python"),
    *(node for node in SHOP[1:5]),
]  # fmt: skip

INLINE = ("a", "b", "code", "mark", "span")

Get: TypeAlias = Callable[[str], "Content"]


class Content(HTMLParser):
    """The content of a page: its status, words, elements, and the attributes of each element in order."""

    def __init__(self, status: int, html: str) -> None:
        super().__init__()
        self.status = status
        self.html = html
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self._words: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in INLINE:
            self._words.append(" ")

    def handle_data(self, data: str) -> None:
        self._words.append(data)

    @property
    def text(self) -> str:
        """What a person reads, with single spaces."""
        return " ".join("".join(self._words).split())

    @property
    def links(self) -> list[str]:
        """Where its links lead."""
        return [attributes["href"] or "" for tag, attributes in self.elements if tag == "a"]


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("explore")
    source = write_jsonl(folder / "shop.jsonl", SHOP)
    before = write_jsonl(folder / "before.jsonl", BEFORE)
    where = ("--repository", "shop", "--branch", "main", "--embedder", "none", "--data", folder / "data")
    for version, built_from in (("v1", before), ("v2", source)):
        run_ok("index", built_from, "--version", version, *where)
    return folder / "data"


@pytest.fixture(scope="session")
def server(data: Path) -> Iterator[Server]:
    with Server(data, "--embedder", "none") as server:
        yield server


def exploring(address: str, access: AccessContext | None = None, trace: Path | None = None) -> TestClient:
    """The application, asked as a browser on this machine does; enter it to connect it to the server."""
    connect = partial(AsyncGroundwireClient, address, access=access, timeout=300, check_values=False)
    app = make_app(Settings(connect, KEY, [HOST], trace=trace))
    return TestClient(app, base_url=f"http://{HOST}", follow_redirects=False)


def content_of(browser: TestClient, address: str) -> Content:
    """The content of a page, asked for with the key."""
    answer = browser.get(f"/view{address}", headers={KEY_HEADER: KEY})
    return Content(answer.status_code, answer.text)


@pytest.fixture(scope="session")
def browser(server: Server) -> Iterator[TestClient]:
    with exploring(server.address) as browser:
        yield browser


@pytest.fixture(scope="session")
def get(browser: TestClient) -> Get:
    """The content of a page."""
    return partial(content_of, browser)
