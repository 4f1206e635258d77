"""One Groundwire server that knows its callers by tokens, and `groundwire mcp` before it."""

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import pytest

from groundwire_index.progress import ProgressCallback
from groundwire_index.scope import Scope
from groundwire_ingest.build.build import BuildOptions, build_index
from groundwire_ingest.jsonl.jsonl import JsonlSource
from support.mcp_calls import Agent, http_server
from support.program import Server, write_jsonl
from support.token_issuer import SigningKey, token_environment

MAPPING = """
acl_tags: {claims: [{claim: tags}]}
scopes: {claims: [{claim: repositories, values: {shop: ["shop::main"], vault: ["vault::main"]}}]}
"""
SHOP, VAULT = Scope("shop", "main", "v1"), Scope("vault", "main", "v1")
ORDER, PRICE, TAX, SALARY = (f"shop::main::py::{name}" for name in ("order", "price", "tax", "salary"))
SECRET = "vault::main::py::order"
LINKS = {SHOP: "https://git.example/shop/{path}#L{start_line}"}
"""The templates of the links of indexes that make some."""


class _NoProgress:
    def stage(self, name: str, unit: str, price: float = 0.0) -> AbstractContextManager[ProgressCallback]:
        return nullcontext(lambda done, total: None)


def _function(name: str, body: str, tags: list[str], line: int) -> dict[str, object]:
    return {
        "type": "node",
        "kind": "py",
        "local_id": name,
        "text": f"def {name}():\n    return {body}\n",
        "symbol": f"shop.{name}",
        "path": f"src/{name}.py",
        "start_line": line,
        "end_line": line + 1,
        "language": "python",
        "acl_tags": tags,
    }


def _calls(caller: str, callee: str) -> dict[str, object]:
    return {"type": "edge", "from": f"py::{caller}", "to": f"py::{callee}", "edge_type": "Calls", "line": 12}


SOURCES = {
    SHOP: [
        _function("order", "price() # invoice total", [], 10),
        _function("price", "tax() # invoice", [], 20),
        _function("tax", "rate # " + "vat invoice " * 300, [], 30),
        _function("salary", "order() # invoice payroll", ["hr"], 40),
        _calls("order", "price"),
        _calls("price", "tax"),
        _calls("salary", "order"),
    ],
    VAULT: [_function("order", "'haystackneedle' # invoice", [], 1)],
}


@dataclass(frozen=True, slots=True)
class Site:
    """A server, who issues its tokens, and a folder for files."""

    address: str
    key: SigningKey
    folder: Path

    def token(self, *repositories: str, tags: tuple[str, ...] = ()) -> str:
        """A token that grants these."""
        return self.key.token(repositories=list(repositories), tags=list(tags), exp=int(time.time()) + 3_600)

    def token_file(self, *repositories: str) -> Path:
        """A file of a token that grants these."""
        file = self.folder / f"token-{'-'.join(repositories)}"
        file.write_text(self.token(*repositories), encoding="utf-8")
        return file


@dataclass(frozen=True, slots=True)
class Front:
    """`groundwire mcp` over HTTP, whose callers bring their tokens; `log` grows."""

    url: str
    log: list[str]
    site: Site

    def agent(self, *repositories: str, tags: tuple[str, ...] = (), mode: str = "auto") -> Agent:
        """An agent whose token grants these."""
        return Agent(self.url, self.site.token(*repositories, tags=tags), mode)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server of two repositories, of which `shop` has a node that needs the tag `hr`."""
    folder = tmp_path_factory.mktemp("mcp")
    for scope, records in SOURCES.items():
        source = write_jsonl(folder / f"{scope.repository}.jsonl", records)
        options = BuildOptions(folder / "data", scope, embedder=None, link_template=LINKS.get(scope, ""))
        build_index(JsonlSource(source), options, _NoProgress())
    key = SigningKey.ed25519("mcp")
    environment = token_environment(folder, key, MAPPING)
    with Server(folder / "data", "--embedder", "none", environment=environment) as server:
        yield Site(server.address, key, folder)


@pytest.fixture(scope="session")
def front(site: Site) -> Iterator[Front]:
    """Both repositories, and one that is not there, to callers with tokens."""
    log: list[str] = []
    scopes = ("--scope", "shop::main", "--scope", "vault::main", "--scope", "absent::main")
    options = ("--caller-tokens", "--allowed-host", "mcp.example")
    with http_server("--server", site.address, *scopes, *options, log=log) as url:
        yield Front(url, log, site)


@pytest.fixture(scope="session")
def shopper(front: Front) -> Agent:
    """An agent that may see the public nodes of `shop`."""
    return front.agent("shop")
