"""The page for a team: each request has a token of its own, and is answered with what that token grants."""

import asyncio
import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from unittest.mock import AsyncMock

import httpx2
import pytest
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from client.explore.conftest import HOST, SHOP, Content
from groundwire_client import AsyncGroundwireClient
from groundwire_client.caller_tokens import request_token
from groundwire_explore.app import Settings, make_app
from groundwire_explore.caller_turns import MOST_AT_A_TIME, CallerTurns
from groundwire_explore.guard import KEY_HEADER, Guard
from support.jsonl import node
from support.program import END_SECONDS, Server, run_ok, start, write_jsonl
from support.token_issuer import SigningKey, token_environment

MAPPING = """
acl_tags: {claims: [{claim: tags}]}
scopes: {claims: [{claim: repositories, values: {shop: ["shop::main"], vault: ["vault::main"]}}]}
"""
VAULT = [node("Vault", "def vault_invoice(): return 1", None, kind="py", path="vault.py", symbol="vault_invoice")]
PATHS = ("/", "/map", "/view/", "/view/indexes", "/static/app.js", "/static/style.css", "/absent", "/view/absent")
MARGIN = "/node?scope=shop::main&id=shop::main::py::Margin"


@pytest.fixture(scope="module")
def key() -> SigningKey:
    return SigningKey.ed25519("explore")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, key: SigningKey) -> Iterator[Server]:
    """A server of two repositories that knows its callers by tokens; a node of `shop` needs the tag `finance`."""
    folder = tmp_path_factory.mktemp("callers")
    for name, records in (("shop", SHOP), ("vault", VAULT)):
        source = write_jsonl(folder / f"{name}.jsonl", records)
        where = ("--repository", name, "--branch", "main", "--data", folder / "data")
        run_ok("index", source, *where, "--embedder", "none")
    environment = token_environment(folder, key, MAPPING)
    with Server(folder / "data", "--embedder", "none", environment=environment) as server:
        yield server


@pytest.fixture(scope="module")
def browser(server: Server) -> Iterator[TestClient]:
    connect = partial(AsyncGroundwireClient, server.address, token=request_token, timeout=300, check_values=False)
    app = make_app(Settings(connect, "", [HOST, "code.example"], caller_tokens=True))
    with TestClient(app, base_url=f"http://{HOST}", follow_redirects=False) as browser:
        yield browser


def bearer(key: SigningKey, *repositories: str, tags: tuple[str, ...] = ()) -> dict[str, str]:
    token = key.token(repositories=list(repositories), tags=list(tags), exp=int(time.time()) + 3_600)
    return {"Authorization": f"Bearer {token}"}


def content(browser: TestClient, address: str, headers: dict[str, str]) -> Content:
    answer = browser.get(f"/view{address}", headers=headers)
    return Content(answer.status_code, answer.text)


@pytest.mark.parametrize(
    "headers",
    [
        [],
        [("Authorization", "")],
        [("Authorization", "Bearer")],
        [("Authorization", "Bearer two words")],
        [("Authorization", "Basic dXNlcjpwYXNz")],
        [("Authorization", "Bearer a"), ("Authorization", "Bearer b")],
        [("Authorization", f"Bearer {'a' * 20_000}")],
        [(KEY_HEADER, "")],
        [("Cookie", "Authorization=Bearer a")],
    ],
    ids=["none", "empty", "no token", "words", "basic", "two", "large", "key", "cookie"],
)
@pytest.mark.parametrize("path", PATHS)
def test_a_request_without_one_token_is_refused(browser: TestClient, path: str, headers: list[tuple[str, str]]) -> None:
    answer = browser.get(path, headers=headers)
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"] == 'Bearer realm="groundwire"'
    assert answer.text == "send one header Authorization: Bearer TOKEN\n"
    assert "Content-Security-Policy" in answer.headers


@pytest.mark.parametrize(("host", "status"), [(HOST, 200), ("code.example", 200), ("evil.example", 421), ("", 421)])
def test_the_names_of_the_page_are_those_allowed(browser: TestClient, key: SigningKey, host: str, status: int) -> None:
    assert browser.get("/view/indexes", headers={**bearer(key, "shop"), "Host": host}).status_code == status


def test_callers_see_what_their_own_tokens_grant(browser: TestClient, key: SigningKey) -> None:
    shop, vault = bearer(key, "shop"), bearer(key, "vault")
    finance, nothing = bearer(key, "shop", "vault", tags=("finance",)), bearer(key)
    assert "shop" in content(browser, "/indexes", shop).text
    assert "vault" not in content(browser, "/indexes", shop).html
    assert "shop" not in content(browser, "/indexes", vault).html
    both = content(browser, "/indexes", finance).text
    assert "shop" in both
    assert "vault" in both
    assert "There is no index" in content(browser, "/?q=invoice", nothing).text
    assert "secret_margin" in content(browser, MARGIN, finance).text
    for other in (shop, vault, nothing):
        assert "secret_margin" not in content(browser, MARGIN, other).html
    map_of_all, map_of_public = content(browser, "/map", finance).text, content(browser, "/map", shop).text
    assert "src/margin.py" in content(browser, "/map?scope=shop::main&folder=src/", finance).text
    assert "src/margin.py" not in content(browser, "/map?scope=shop::main&folder=src/", shop).html
    assert map_of_all != map_of_public


def test_callers_at_the_same_time_keep_their_tokens_apart(browser: TestClient, key: SigningKey) -> None:
    callers = [("shop", "vault"), ("vault", "shop")] * 12

    def page_for(own_word: str) -> str:
        return content(browser, "/indexes", bearer(key, own_word)).html

    with ThreadPoolExecutor(8) as pool:
        pages = list(pool.map(page_for, [own_word for own_word, _ in callers]))
    for (own_word, other), page in zip(callers, pages, strict=True):
        assert own_word in page
        assert other not in page


def test_a_token_that_the_server_refuses_shows_nothing(browser: TestClient, key: SigningKey) -> None:
    foreign = bearer(SigningKey.ed25519("foreign"), "shop")
    for address in ("/indexes", "/?q=invoice", "/map", MARGIN):
        shown = content(browser, address, foreign)
        assert shown.status in (400, 502)
        assert "src/" not in shown.html


@contextmanager
def listening(*arguments: str | Path) -> Iterator[str]:
    """`groundwire explore --listen`, and its address."""
    process = start("explore", "--listen", "127.0.0.1:0", *arguments)
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stdout, process.stderr:
        try:
            address = re.search(r"http://127\.0\.0\.1:\d+", process.stdout.readline())
            assert address is not None, process.stderr.read()
            yield address[0]
        finally:
            process.terminate()
            process.wait(END_SECONDS)


def test_the_command_serves_callers_with_tokens(server: Server, key: SigningKey) -> None:
    with listening("--server", server.address, "--allowed-host", "code.example") as address:
        assert httpx2.get(f"{address}/", timeout=END_SECONDS).status_code == 401
        shop = bearer(key, "shop")
        assert httpx2.get(f"{address}/", headers=shop, timeout=END_SECONDS).status_code == 200
        page = httpx2.get(f"{address}/view/indexes", headers={**shop, "Host": "code.example"}, timeout=END_SECONDS)
        assert page.status_code == 200
        assert "shop" in page.text
        assert "vault" not in page.text
        assert httpx2.post(f"{address}/view/indexes", headers=shop, timeout=END_SECONDS).status_code == 405


def test_a_server_that_checks_no_tokens_is_refused(tmp_path: Path) -> None:
    source = write_jsonl(tmp_path / "vault.jsonl", VAULT)
    where = ("--repository", "vault", "--branch", "main", "--data", tmp_path / "data")
    run_ok("index", source, *where, "--embedder", "none")
    with Server(tmp_path / "data", "--embedder", "none") as trusting:
        process = start("explore", "--listen", "127.0.0.1:0", "--server", trusting.address)
        assert process.stdout is not None
        assert process.stderr is not None
        with process.stdout, process.stderr:
            assert process.wait(END_SECONDS) == 2
            warning = " ".join(re.sub("[│╭╮╰╯─]", " ", process.stderr.read()).split())
    assert "answers callers without a token, so it would not check theirs: set its access_mode to jwt" in warning


@pytest.mark.parametrize("path", ["/indexes/", "/static", "/view/indexes/"])
def test_no_redirect_names_this_server(browser: TestClient, key: SigningKey, path: str) -> None:
    assert browser.get(path, headers=bearer(key, "shop")).status_code == 404


@pytest.mark.asyncio
async def test_requests_of_one_caller_do_not_keep_those_of_another_waiting() -> None:
    turns, go_on, begun = CallerTurns(), asyncio.Event(), list[str]()

    async def request(token: str) -> None:
        async with turns.turn(token):
            begun.append(token)
            await go_on.wait()

    requests = [asyncio.ensure_future(request(token)) for token in [*"aaaaa", "b"]]
    for _ in range(3):
        await asyncio.sleep(0)
    assert sorted(begun) == [*("a" * MOST_AT_A_TIME), "b"]
    go_on.set()
    await asyncio.gather(*requests)
    assert sorted(begun) == [*"aaaaa", "b"]


@pytest.mark.asyncio
async def test_without_tokens_no_request_waits_for_a_turn() -> None:
    """All requests are one person's there, and the files of the page must not wait for answers."""
    go_on, begun = asyncio.Event(), list[str]()

    async def app(scope: Scope, _: Receive, __: Send) -> None:
        begun.append(scope["path"])
        await go_on.wait()

    guard = Guard(app, [HOST], needs_token=False)
    count = 2 * MOST_AT_A_TIME
    requests = [
        asyncio.ensure_future(
            guard(
                {"type": "http", "path": str(number), "headers": [(b"host", HOST.encode())]}, AsyncMock(), AsyncMock()
            )
        )
        for number in range(count)
    ]
    await asyncio.sleep(0)
    assert len(begun) == count
    go_on.set()
    await asyncio.gather(*requests)
