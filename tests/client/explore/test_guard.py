"""Nobody reads content without the key of the session, and no content of an index becomes a part of the page."""

from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from client.explore.conftest import HOST, KEY, MARKUP, Get
from groundwire_explore.guard import KEY_HEADER, new_key

PAGES = ("/", "/map", "/compare", "/evidence", "/versions", "/node", "/indexes")
HOSTILE = quote("shop::main::py::Hostile")


@pytest.mark.parametrize("key", [None, "", "the key", KEY + "x"])
@pytest.mark.parametrize("page", [*PAGES, "/absent"])
def test_content_needs_the_key(browser: TestClient, page: str, key: str | None) -> None:
    headers = {} if key is None else {KEY_HEADER: key}
    answer = browser.get(f"/view{page}?q=invoice&id={HOSTILE}", headers=headers)
    assert answer.status_code == 401
    assert "shop" not in answer.text


@pytest.mark.parametrize("page", PAGES)
def test_a_page_itself_holds_neither_content_nor_key(browser: TestClient, page: str) -> None:
    answer = browser.get(f"{page}?q=invoice&id={HOSTILE}&scope=shop::main")
    assert answer.status_code == 200
    assert not [word for word in ("shop", "invoice", KEY) if word in answer.text]


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8422", "127.0.0.1", "127.0.0.1:80", "localhost:8422", "", f"{HOST}.evil"]
)
@pytest.mark.parametrize("path", ["/", "/view/", "/static/app.js"])
def test_a_request_to_another_host_is_refused(browser: TestClient, path: str, host: str) -> None:
    answer = browser.get(path, headers={"Host": host, KEY_HEADER: KEY})
    assert answer.status_code == 421
    assert "shop" not in answer.text


@pytest.mark.parametrize("path", ["/", "/view/", "/view/indexes", "/static/style.css", "/absent", "/view/absent"])
def test_every_answer_binds_the_browser(browser: TestClient, path: str) -> None:
    headers = browser.get(path, headers={KEY_HEADER: KEY}).headers
    policy = dict(rule.split(" ", 1) for rule in headers["Content-Security-Policy"].split("; "))
    assert policy.pop("default-src") == "'none'"
    assert policy.pop("frame-ancestors") == policy.pop("base-uri") == "'none'"
    assert set(policy.values()) == {"'self'"}
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert "Access-Control-Allow-Origin" not in headers


def test_content_is_not_stored(browser: TestClient) -> None:
    assert browser.get("/view/", headers={KEY_HEADER: KEY}).headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
@pytest.mark.parametrize("path", ["/", "/view/indexes"])
def test_there_is_nothing_to_change(browser: TestClient, method: str, path: str) -> None:
    assert browser.request(method, path, headers={KEY_HEADER: KEY}).status_code == 405


@pytest.mark.parametrize("path", ["/static/../app.py", "/static/%2e%2e/app.py", "/static/"])
def test_only_the_files_of_the_page_are_served(browser: TestClient, path: str) -> None:
    assert browser.get(path).status_code == 404


def test_keys_cannot_be_guessed() -> None:
    assert len({new_key() for _ in range(100)}) == 100
    assert len(new_key()) >= 43


@pytest.mark.parametrize(
    "address",
    [
        "/?q=invoice",
        "/?q=invoice&mode=bm25",
        "/?q=invoice&budget=1",
        "/compare?q=invoice&b.mode=bm25",
        "/evidence?q=invoice",
        f"/evidence?q={quote(MARKUP)}&phrasings={quote(MARKUP)}",
        f"/node?id={HOSTILE}",
        f"/node?id={quote('shop::main::py::Invoice.Create')}&depth=2",
        f"/?q={quote(MARKUP)}&path={quote(MARKUP)}",
        f"/?q=x&scope={quote(MARKUP)}::main",
        f"/node?id={quote(MARKUP)}",
        "/map?folder=src/",
        f"/map?folder={quote(MARKUP)}",
        f"/versions?folder={quote(MARKUP)}/",
    ],
)
def test_hostile_content_stays_text(get: Get, address: str) -> None:
    content = get(address)
    assert "alert(" in content.html
    tags = {tag for tag, _ in content.elements}
    assert not tags & {"script", "img", "iframe", "object", "style", "base", "meta", "link"}
    attributes = {name for _, attributes in content.elements for name in attributes}
    assert not [name for name in attributes if name.startswith("on") or name in ("style", "srcdoc")]
    assert not [link for link in content.links if not link.startswith(("/", "#"))]


def test_signs_that_would_steer_a_reader_are_visible(get: Get) -> None:
    text = get(f"/node?id={HOSTILE}").text
    assert "\N{REPLACEMENT CHARACTER}invoice\N{SYMBOL FOR ESCAPE}[31m" in text
