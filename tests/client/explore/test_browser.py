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
WIDE, NARROW = (1400, 900), (360, 740)
PICTURES = ROOT / "docs" / "images"
WCAG = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"], "resultTypes": ["violations"]}
PATHS = [
    "/",
    "/map?scope=groundwire::main",
    "/map?folder=absent/",
    "/versions",
    "/versions?scope=groundwire::main",
    "/compare",
    "/?q=zzz&mode=bm25",
    f"/?q={QUESTION}&path=groundwire_pipelines/evidence",
    f"/?q={QUESTION}&mode=hybrid&budget=300",
    f"/compare?q={QUESTION}&b.mode=bm25",
    "/evidence",
    f"/evidence?q={QUESTION}&phrasings=token+budget",
    "/evidence?q=bake+sourdough+bread+with+flour+and+lines&scope=groundwire::main",
    "/exact",
    "/exact?q=budget&ignore_case=true&scope=groundwire::main",
    "/exact?q=%28&regex=true",
    "/indexes",
    "/run",
    "/?q=x&scope=absent::main",
    "/?k=0",
]


@pytest.fixture(scope="module")
def server(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Besides the index whose texts try to be markup, one of some folders of this project, with vectors."""
    source = tmp_path_factory.mktemp("source")
    package = Path("groundwire_pipelines")
    for folder in ("definition", "engine", "parsing", "validation"):
        shutil.copytree(ROOT / "pipelines" / package / folder, source / package / folder)
    shutil.copytree(ROOT / "protos" / "groundwire" / "evidence", source / package / "evidence")
    copied_data = shutil.copytree(data, source.with_name("data"))
    run_ok("index", source, "-r", "groundwire", "-b", "main", "--version", "1.0", "--data", copied_data)
    with Server(copied_data) as server:
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
    chromium = shutil.which("chromium")
    assert chromium, "no chromium: run `make toolchains`, or `apt-get install chromium` on Debian"
    with sync_playwright() as playwright:
        # Chromium's own sandbox needs rights that containers and root lack.
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
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
    page = reader.open("/?q=packing.pack&path=groundwire_pipelines/evidence&scope=groundwire::main")
    return page.locator(".match h3 a").first.get_attribute("href") or ""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_are_accessible_and_fit_narrow_screens(reader: Reader) -> None:
    for path in [*PATHS, node_path(reader)]:
        page = reader.open(path)
        audit = Axe().run(page, options=WCAG)
        assert not audit.violations_count, f"{path}\n{audit.generate_report()}"
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
    page.wait_for_selector(".drawing.graph")
    page.go_back()
    page.wait_for_selector(".match")
    assert page.locator("input[name=q]").input_value() == "pack"
    assert reader.key not in page.content() + page.url


def test_the_drawing_leads_from_node_to_node(reader: Reader) -> None:
    page = reader.open(node_path(reader))
    before = page.url
    other = page.locator(".drawing.wide a").nth(1)
    label = page.locator(".drawing.wide .label").first
    assert not label.is_visible()
    other.focus()
    page.wait_for_selector(".drawing.wide .label.near")
    assert page.locator(".drawing.wide .chosen").count() == 1
    other.click()
    page.wait_for_url(lambda url: url != before, timeout=60_000)
    assert "/node?" in page.url


def test_names_of_a_drawing_lie_in_their_boxes_and_no_two_labels_overlap(reader: Reader) -> None:
    page = reader.open(node_path(reader))
    page.locator(".drawing.wide a").first.hover()
    page.wait_for_selector(".drawing.wide .label.near")
    overlapping = page.evaluate(
        """() => {
        const labels = [...document.querySelectorAll(".drawing.wide .label.near")];
        const near = labels.map((label) => label.getBoundingClientRect());
        const apart = (a, b) => a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;
        return near.flatMap((one, place) => near.slice(place + 1).filter((two) => !apart(one, two))).length;
        }"""
    )
    assert overlapping == 0
    spilled = page.evaluate(
        """() => {
        const boxes = [...document.querySelectorAll(".drawing.wide a .box")].map((one) => one.getBoundingClientRect());
        const names = document.querySelectorAll(".drawing.wide text.node, .drawing.wide text.centre");
        return [...names].filter((name) => {
            const own = name.getBoundingClientRect();
            return !boxes.some((box) => box.left <= own.left && own.right <= box.right && box.top <= own.top);
        }).length;
        }"""
    )
    assert spilled == 0


def test_one_click_asks_an_example(reader: Reader) -> None:
    page = reader.open("/?scope=groundwire::main")
    example = page.locator(".examples a").first
    question = example.text_content()
    example.click()
    page.wait_for_selector(".match")
    assert page.locator("input[name=q]").input_value() == question


def test_three_matches_are_on_the_first_screen(reader: Reader) -> None:
    page = reader.open(f"/?q={QUESTION}&scope=groundwire::main")
    third = page.locator(".match").nth(2).bounding_box()
    assert third is not None
    assert third["y"] + third["height"] <= WIDE[1]


def test_an_answer_is_copied_and_downloaded(reader: Reader) -> None:
    page = reader.open(f"/?q={QUESTION}&scope=groundwire::main")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator("[data-copy]").first.click()
    page.wait_for_selector(".copy.done")
    assert page.evaluate("navigator.clipboard.readText()") == page.locator("[data-copy]").first.get_attribute(
        "data-copy"
    )
    page.locator("[data-copy-text]").click()
    page.wait_for_selector("[data-copy-text].done")
    assert page.evaluate("navigator.clipboard.readText()").startswith("# select the texts that fit")
    with page.expect_download() as download:
        page.locator("[data-download]").click()
    assert download.value.suggested_filename == "answer.md"
    assert download.value.path().read_text().startswith("# select the texts that fit")


@pytest.mark.parametrize("kind", ["wide", "narrow"])
def test_no_line_of_the_map_crosses_a_name(reader: Reader, kind: str) -> None:
    width, height = WIDE if kind == "wide" else NARROW
    page = reader.open("/map?scope=groundwire::main")
    page.set_viewport_size({"width": width, "height": height})
    lines = page.evaluate(
        """(kind) => {
        const svg = document.querySelector(`.drawing.${kind} svg`);
        const names = [...svg.querySelectorAll("text:not(.label)")].map((name) => name.getBBox());
        const holds = (box, point) => box.x <= point.x && point.x <= box.x + box.width
            && box.y <= point.y && point.y <= box.y + box.height;
        return [...svg.querySelectorAll(".curve")].map((line) => {
            const length = line.getTotalLength();
            const points = Array.from({ length: 301 }, (_, step) => line.getPointAtLength(length * step / 300));
            return { length, crossed: names.filter((box) => points.some((point) => holds(box, point))).length };
        });
        }""",
        kind,
    )
    assert len(lines) >= 4
    assert all(line["length"] > 10 for line in lines)
    assert [line["crossed"] for line in lines] == [0] * len(lines)


def test_a_map_leads_into_a_folder_and_back(reader: Reader) -> None:
    page = reader.open("/map?scope=shop::main")
    page.locator(".drawing.wide a", has_text="src/").click()
    page.wait_for_selector("h2:has-text('src')")
    page.get_by_role("link", name="shop", exact=True).click()
    page.wait_for_selector(".drawing.wide a:has-text('tests/')")


def test_markup_of_an_index_is_shown_and_does_nothing(reader: Reader) -> None:
    page = reader.open("/?q=invoice&mode=bm25&scope=shop::main")
    page.wait_for_selector(".match")
    assert MARKUP in (page.locator("main").text_content() or "")
    page.locator(".match", has_text=MARKUP).locator("h3 a").first.click()
    page.wait_for_selector(".drawing.graph")
    assert MARKUP in (page.locator("main").text_content() or "")
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
        ("explore-start", "/?scope=groundwire::main", "light", (1280, 960)),
        ("explore-ask", f"/?q={QUESTION}&scope=groundwire::main", "light", (1280, 840)),
        (
            "explore-evidence",
            f"/evidence?q={QUESTION}&phrasings=token+budget&scope=groundwire::main",
            "light",
            (1280, 900),
        ),
        ("explore-node", "", "dark", (1280, 640)),
        ("explore-compare", f"/compare?q={QUESTION}&b.mode=bm25&scope=groundwire::main", "light", (1280, 760)),
        ("explore-narrow", "/map?scope=groundwire::main", "dark", (390, 760)),
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
        folder = PICTURES if os.environ.get("GROUNDWIRE_PICTURES") else tmp_path
        page.screenshot(path=folder / f"{name}.png")
        assert not reader.complaints
    assert (folder / f"{name}.png").stat().st_size < 160_000
    assert (PICTURES / f"{name}.png").is_file()
