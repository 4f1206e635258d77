"""The page in headless Chromium: what a person sees, clicks and types, and how accessible it is.

The pictures of docs/explore.md are made here, where GROUNDWIRE_PICTURES=1 asks for them.
"""

import os
import re
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, TypeAlias
from urllib.parse import quote

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from client.explore.conftest import MARKUP
from project.tools import ROOT
from support.program import Server, run_ok, start

pytestmark = pytest.mark.slow

Scheme: TypeAlias = Literal["light", "dark"]

QUESTION = quote("select the texts that fit within the budget")
WIDE, NARROW = (1280, 900), (360, 740)
PICTURES = ROOT / "docs" / "images"
WCAG = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"], "resultTypes": ["violations"]}
PATHS = [
    "/",
    f"/?q={QUESTION}&path=rendering",
    f"/?q={QUESTION}&mode=hybrid&budget=300",
    f"/compare?q={QUESTION}&b.mode=bm25",
    "/indexes",
    "/run",
    "/?q=x&scope=absent::main",
    "/?k=0",
]


@pytest.fixture(scope="module")
def server(data: Path) -> Iterator[Server]:
    """Besides the index whose texts try to be markup, one of a folder of this project, with vectors."""
    source = ROOT / "pipelines" / "groundwire_pipelines" / "rendering"
    run_ok("index", source, "-r", "groundwire", "-b", "main", "--version", "1.0", "--data", data)
    with Server(data) as server:
        yield server


@pytest.fixture(scope="module")
def address(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """What `groundwire explore` prints: the address with the key."""
    trace = tmp_path_factory.mktemp("trace") / "trace.jsonl"
    connection = ("--server", server.address)
    run_ok("run", "evidence", "pack texts", "-r", "groundwire", "-b", "main", *connection, "--trace", trace)
    program = start("explore", *connection, "--port", "0", "--trace", trace)
    assert program.stdout is not None
    assert program.stderr is not None
    with program.stdout, program.stderr:
        yield program.stdout.readline().removeprefix("open ").strip()
        program.send_signal(signal.SIGINT)
        assert program.wait(30) == 0, program.stderr.read()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    found = shutil.which("chromium")
    assert found, "no chromium: run `make toolchains`, or `apt-get install chromium` on Debian"
    with sync_playwright() as playwright:
        # Chromium's own sandbox needs rights that containers and root lack.
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


class Reader:
    """A person with a browser; `complaints` are what its console said besides failed loads of refused pages."""

    def __init__(self, context: BrowserContext, address: str) -> None:
        self.origin, _, self.key = address.partition("/#key=")
        self.page: Page = context.new_page()
        self.complaints: list[str] = []
        self.page.on("console", lambda message: self._note(message.type, message.text))
        self.page.on("pageerror", lambda error: self._note("error", str(error)))
        self.page.on("dialog", lambda dialog: self._note("error", dialog.message))
        self.open(f"/#key={self.key}")

    def open(self, path: str) -> Page:
        """Opens a page and waits for its content."""
        self.page.goto(f"{self.origin}{path}")
        self.page.wait_for_selector("main[data-title]")
        return self.page

    def _note(self, kind: str, text: str) -> None:
        if kind in ("error", "warning") and "status of 400" not in text:
            self.complaints.append(text)


@pytest.fixture
def scheme() -> Scheme:
    return "light"


@pytest.fixture
def reader(chromium: Browser, address: str, scheme: Scheme) -> Iterator[Reader]:
    width, height = WIDE
    with chromium.new_context(color_scheme=scheme, viewport={"width": width, "height": height}) as context:
        reader = Reader(context, address)
        yield reader
        assert not reader.complaints


def node_path(reader: Reader) -> str:
    """The page of the node that a search by its name finds first."""
    page = reader.open("/?q=packing.pack&path=packing.py")
    return page.locator(".match h3 a").first.get_attribute("href") or ""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_are_accessible_and_fit_narrow_screens(reader: Reader) -> None:
    for path in [*PATHS, node_path(reader)]:
        page = reader.open(path)
        found = Axe().run(page, options=WCAG)
        assert not found.violations_count, f"{path}\n{found.generate_report()}"
        page.set_viewport_size({"width": NARROW[0], "height": NARROW[1]})
        page.evaluate("for (const details of document.querySelectorAll('details')) details.open = true")
        assert page.evaluate("document.documentElement.scrollWidth") == NARROW[0], path
        page.set_viewport_size({"width": WIDE[0], "height": WIDE[1]})


def test_a_question_is_asked_by_keyboard(reader: Reader) -> None:
    page = reader.open("/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to content"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.name") == "q"
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.type("pack texts")
    page.keyboard.press("Enter")
    page.wait_for_selector(".match")
    assert "q=pack+texts" in page.url
    assert re.search(r"\d+ matches", page.locator("#status").text_content() or "")
    assert "pack texts" in page.title()


def test_the_address_holds_the_state_and_back_leads_back(reader: Reader) -> None:
    page = reader.open("/?q=pack&mode=bm25")
    assert page.locator("select[name=mode]").input_value() == "bm25"
    page.locator(".match h3 a").first.click()
    page.wait_for_selector("#graph canvas")
    page.go_back()
    page.wait_for_selector(".match")
    assert page.locator("input[name=q]").input_value() == "pack"
    assert reader.key not in page.content() + page.url


def test_the_drawing_leads_from_node_to_node(reader: Reader) -> None:
    page = reader.open(node_path(reader))
    canvas = page.locator("#graph canvas").last
    canvas.wait_for()
    before = page.url
    box = canvas.bounding_box()
    assert box is not None
    row = page.locator("#graph-nodes tr").nth(1)
    side = -1 if (row.get_attribute("data-column") or "").startswith("-") else 1
    rows = page.locator(f"#graph-nodes tr[data-column='{side}']").count()
    # The node stands in a column beside the middle, the first of its rows.
    zoom = min(1.0, (box["width"] - 40) / (2 * 290 + 210))
    page.mouse.click(
        box["x"] + box["width"] / 2 + side * 290 * zoom, box["y"] + box["height"] / 2 - (rows - 1) / 2 * 46 * zoom
    )
    page.wait_for_url(lambda url: url != before, timeout=10_000)
    assert "/node?" in page.url


def test_markup_of_an_index_is_shown_and_does_nothing(reader: Reader) -> None:
    page = reader.open("/?q=invoice&mode=bm25&scope=shop::main")
    page.wait_for_selector(".match")
    assert MARKUP in (page.locator("main").text_content() or "")
    page.locator(".match h3 a", has_text=MARKUP).click()
    page.wait_for_selector("#graph canvas")
    assert page.locator("h1").text_content() == MARKUP
    assert page.locator("img").count() == 0


def test_without_the_key_a_page_is_locked(chromium: Browser, address: str) -> None:
    with chromium.new_context() as context:
        page = context.new_page()
        page.goto(address.partition("#")[0] + "indexes")
        page.wait_for_selector("h1:text('Locked')")
        assert "groundwire explore" in (page.locator("main").text_content() or "")


@pytest.mark.parametrize(
    ("name", "path", "scheme", "size"),
    [
        ("explore-ask", f"/?q={QUESTION}", "light", (1100, 760)),
        ("explore-node", "", "dark", (1100, 720)),
        ("explore-compare", f"/compare?q={QUESTION}&b.mode=bm25", "light", (1100, 600)),
        ("explore-narrow", f"/?q={QUESTION}&mode=hybrid", "dark", (360, 760)),
    ],
)
def test_a_picture_shows_the_page(
    chromium: Browser, address: str, tmp_path: Path, name: str, path: str, scheme: Scheme, size: tuple[int, int]
) -> None:
    """Each is small enough for a document, and there."""
    width, height = size
    with chromium.new_context(color_scheme=scheme, viewport={"width": width, "height": height}) as context:
        reader = Reader(context, address)
        page = reader.open(path or node_path(reader) + "&depth=2")
        if not path:
            page.wait_for_selector("#graph canvas")
        folder = PICTURES if os.environ.get("GROUNDWIRE_PICTURES") else tmp_path
        page.screenshot(path=folder / f"{name}.png")
        assert not reader.complaints
    assert (folder / f"{name}.png").stat().st_size < 150_000
    assert (PICTURES / f"{name}.png").is_file()
