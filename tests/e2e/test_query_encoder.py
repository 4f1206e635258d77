"""Servers over converted models start without torch, and over the same data give the same bytes."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from shutil import copytree

import pytest

from groundwire_client import GroundwireClient, IndexScope, SearchType
from support import programs
from support.program import Server, run_ok, write_jsonl

pytestmark = pytest.mark.slow

SCOPE = IndexScope(repository="shop", branch="main")
TEXTS = ["load a user by id", "pay an invoice", "draw a red circle", "parse the date of an order", "open a socket"]
QUERIES = [f"{verb} {thing}" for verb in ("find", "who pays", "how to draw") for thing in ("users", "bills", "circles")]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("encoder")
    records = [
        {"type": "node", "kind": "md", "local_id": f"T{place}", "text": text} for place, text in enumerate(TEXTS)
    ]
    run_ok("index", write_jsonl(folder / "t.jsonl", records), "-r", "shop", "-b", "main", "--data", folder / "data")
    return folder / "data"


def answers(client: GroundwireClient) -> list[object]:
    with ThreadPoolExecutor(8) as pool:
        results = pool.map(
            lambda query: client.search(SCOPE, query, search_type=SearchType.SEARCH_TYPE_SEMANTIC, top_k=5), QUERIES * 4
        )
        return [[(hit.id, hit.score) for hit in result.hits] for result in results]


def test_a_server_over_converted_models_loads_no_torch(data: Path) -> None:
    assert programs.output("embed_query", data) == "[]\n"


def test_two_servers_give_the_same_bytes_under_load(data: Path, tmp_path: Path) -> None:
    copy = copytree(data, tmp_path / "copy")
    by_server: list[list[object]] = []
    for folder in (data, copy):
        with Server(folder) as server, GroundwireClient(server.address, timeout=300) as client:
            by_server.append(answers(client))
    assert by_server[0] == by_server[1]
    assert by_server[0][: len(QUERIES)] * 4 == by_server[0]
