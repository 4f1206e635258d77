"""A build whose process is killed while it publishes."""

import time
from pathlib import Path

import pytest

from groundwire_milvus.catalogue import Catalogue
from groundwire_milvus.entries import State
from groundwire_milvus.schema import CATALOGUE
from groundwire_milvus.store import MilvusStore
from support.builds import V1
from support.milvus_server import MilvusServer
from support.program import run_ok, start, write_jsonl

SECONDS = 300


@pytest.mark.slow
def test_a_killed_build_is_seen_by_nobody_and_removed_by_the_next(milvus: MilvusServer, tmp_path: Path) -> None:
    nodes = [
        {"type": "node", "kind": "cs", "local_id": f"a/{number}", "text": f"class A{number} {{}}"}
        for number in range(3_000)
    ]
    source = write_jsonl(tmp_path / "source.jsonl", nodes)
    database = milvus.new_database()
    environment = {
        "GROUNDWIRE_DATA": str(tmp_path / "data"),
        "GROUNDWIRE_BACKEND": "milvus",
        "GROUNDWIRE_MILVUS_URI": milvus.uri,
        "GROUNDWIRE_MILVUS_DATABASE": database,
        "GROUNDWIRE_MILVUS_SECONDS": "60",
    }
    build = ("index", str(source), "--repository", "shop", "--branch", "main", "--embedder", "none", "--version", "v1")
    catalogue = Catalogue(MilvusStore(milvus.address(database)))
    killed = start(*build, environment=environment)
    deadline = time.monotonic() + SECONDS
    while not any(name.endswith("_nodes") for name in catalogue.store.collections()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    killed.kill()
    killed.wait(SECONDS)
    for stream in (killed.stdout, killed.stderr):
        assert stream is not None
        stream.close()
    assert len(catalogue.others(V1, State.BUILDING)) == 1
    assert catalogue.versions() == []

    run_ok(*build, environment=environment)
    catalogue.verify(V1)
    assert catalogue.others(V1, State.BUILDING) == []
    assert set(catalogue.store.collections()) == {CATALOGUE, *catalogue.require(V1).collections.all}
    catalogue.store.close()
