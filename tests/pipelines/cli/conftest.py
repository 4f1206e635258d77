"""A server in this process, and no model but those that a test names."""

from collections.abc import Iterator

import pytest

from support.retrieval_server import WorldServer, serving


@pytest.fixture
def world() -> WorldServer:
    return WorldServer()


@pytest.fixture
def address(world: WorldServer) -> Iterator[str]:
    with serving(world) as address:
        yield address


@pytest.fixture(autouse=True)
def no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("URL", "NAME", "KEY"):
        monkeypatch.delenv(f"GROUNDWIRE_MODEL_{name}", raising=False)
