"""The commands for indexes, over Milvus."""

import json
import re
from pathlib import Path

import pytest

from groundwire_milvus.catalogue import Catalogue
from groundwire_milvus.store import MilvusStore
from support.builds import V1
from support.calls_in_outages import records
from support.milvus_server import MilvusServer
from support.program import run, run_ok, write_jsonl

SCOPE = ("--repository", "shop", "--branch", "main")


@pytest.fixture
def environment(milvus: MilvusServer, tmp_path: Path) -> dict[str, str]:
    return {
        "GROUNDWIRE_DATA": str(tmp_path / "data"),
        "GROUNDWIRE_BACKEND": "milvus",
        "GROUNDWIRE_MILVUS_URI": milvus.uri,
        "GROUNDWIRE_MILVUS_DATABASE": milvus.new_database(),
        "GROUNDWIRE_MILVUS_SECONDS": "60",
    }


@pytest.fixture
def source(tmp_path: Path) -> Path:
    nodes = [
        {"type": "node", "kind": "cs", "local_id": name, "text": f"class {name} {{}}", "path": f"src/{name}.cs"}
        for name in ("Order", "Invoice")
    ]
    edge = {"type": "edge", "from": "cs::Order", "to": "cs::Invoice", "edge_type": "Calls"}
    return write_jsonl(tmp_path / "source.jsonl", [*nodes, edge])


def test_versions_are_built_listed_activated_verified_and_deleted(
    environment: dict[str, str], milvus: MilvusServer, source: Path
) -> None:
    def groundwire(*arguments: str) -> str:
        return run_ok(*arguments, environment=environment)

    build = ("index", str(source), *SCOPE, "--embedder", "none", "--version")
    assert "shop main v1 (active)" in groundwire(*build, "v1")
    assert groundwire(*build[:-1]) == "shop main: unchanged, v1 stays active\n"
    assert "shop main v2 (published, not active)" in groundwire(*build, "v2", "--no-activate")
    listed = json.loads(groundwire("indexes", "--json"))
    assert [(entry["version"], entry["active"], entry["node_count"], entry["edge_count"]) for entry in listed] == [
        ("v1", True, 2, 1),
        ("v2", False, 2, 1),
    ]
    assert groundwire("verify", *SCOPE) == "v1 is sound\n"
    assert groundwire("activate", "v2", *SCOPE) == "v2 is active; before it was v1\n"
    assert groundwire("delete", "v1", *SCOPE) == "v1 is deleted\n"
    refused = run("delete", "v2", *SCOPE, environment=environment)
    assert (refused.returncode, refused.stderr) == (1, "error: index 'v2' is active; activate another first\n")
    taken = run(*build, "v1", environment=environment)
    assert taken.returncode == 1
    assert "version 'v1' of shop main was deleted in Milvus" in taken.stderr
    # Where they lie is a matter of the backend alone.
    embedded = {**environment, "GROUNDWIRE_BACKEND": "embedded"}
    assert json.loads(run_ok("indexes", "--json", environment=embedded)) == []

    address = milvus.address(environment["GROUNDWIRE_MILVUS_DATABASE"])
    store = MilvusStore(address)
    store.delete_rows(Catalogue(store).versions(V1)[0].collections.nodes, "row in [0]")
    store.close()
    damaged = run("verify", *SCOPE, environment=environment)
    assert damaged.returncode == 1
    assert re.fullmatch(r"error: \w+_nodes: has 1 rows; the catalogue says 2\n", damaged.stderr)


def test_versions_are_compared_and_exported_as_in_a_folder(environment: dict[str, str], tmp_path: Path) -> None:
    embedded = {**environment, "GROUNDWIRE_BACKEND": "embedded"}
    lines = records()
    for version, source in (("v1", lines), ("v2", [*lines[:100], *lines[120:121]])):
        file = write_jsonl(tmp_path / f"{version}.jsonl", source)
        for variables in (environment, embedded):
            build = ("index", file, *SCOPE, "--version", version, "--embedder", "none", "--skip-dangling-edges")
            run_ok(*build, environment=variables)
    for command in (
        ("diff", "v1", *SCOPE, "--json"),
        ("diff", "v2", "v1", *SCOPE),
        ("export", *SCOPE, "--version", "v1", "--output", "-"),
        ("export", *SCOPE, "--output", "-"),
    ):
        assert run_ok(*command, environment=environment) == run_ok(*command, environment=embedded)
    same = run("diff", "v2", *SCOPE, environment=environment)
    assert (same.returncode, same.stderr) == (2, "error: both are v2 of shop main; name another OLD\n")


def test_a_build_names_all_that_it_skipped(environment: dict[str, str], tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "shop.py").write_text("def total(): ...\n", encoding="utf-8")
    names = [f"binary{number}.py" for number in range(5)]
    for name in names:
        (tree / name).write_bytes(b"\x00\xff")
    printed = run_ok("index", tree, *SCOPE, "--embedder", "none", environment=environment)
    assert f": {', '.join(names)}\n" in printed


def test_a_milvus_that_is_away_is_one_line(source: Path, environment: dict[str, str]) -> None:
    away = {**environment, "GROUNDWIRE_MILVUS_URI": "http://127.0.0.1:1", "GROUNDWIRE_MILVUS_TOKEN": "root:SECRET"}
    for command in (
        ("indexes",),
        ("verify", *SCOPE),
        ("diff", "v1", *SCOPE),
        ("index", str(source), *SCOPE, "--embedder", "none"),
    ):
        ended = run(*command, environment=away)
        assert (ended.returncode, ended.stdout) == (1, "")
        assert re.fullmatch(r"error: Milvus.*127\.0\.0\.1:1.*\n", ended.stderr)
        assert "SECRET" not in ended.stderr


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--backend", "other"), "backend: 'other': must be one of embedded, milvus"),
        ((), "milvus_uri: must be given with the backend milvus"),
        (("--milvus-uri", "milvus"), "milvus_uri: 'milvus': must be http://HOST:PORT or https://HOST:PORT"),
        (
            ("--milvus-uri", "http://me:SECRET@milvus:19530"),
            "milvus_uri: 'http://...@milvus:19530': must hold no user name and no password; they belong in "
            "milvus_token_file",
        ),
        (
            ("--milvus-uri", "http://milvus:19530", "--milvus-token-file", "nowhere"),
            "milvus_token_file: nowhere: cannot be read: No such file or directory",
        ),
        (
            ("--milvus-uri", "https://milvus:19530", "--milvus-ca", "nowhere"),
            "milvus_ca: nowhere: cannot be read: No such file or directory",
        ),
        (
            ("--milvus-uri", "https://milvus:19530", "--milvus-ca", __file__),
            f"milvus_ca: {__file__}: must hold certificates in PEM",
        ),
        (
            ("--milvus-uri", "http://milvus:19530", "--milvus-ca", "ca.pem"),
            "milvus_ca: ca.pem: has no use with http://: milvus_uri must begin with https://, or leave it out",
        ),
    ],
)
def test_options_that_cannot_be_used_are_told(flags: tuple[str, ...], message: str) -> None:
    ended = run("indexes", "--backend", "milvus", *flags)
    assert (ended.returncode, ended.stderr) == (2, f"error: {message}\n")


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--milvus-index", "BEST"), "milvus_index: 'BEST': 'BEST' must be one of FLAT, HNSW, IVF_FLAT"),
        (("--milvus-index", "HNSW"), "milvus_index: has no use with the backend embedded; set backend"),
    ],
)
def test_an_index_that_cannot_be_made_is_told(source: Path, flags: tuple[str, ...], message: str) -> None:
    ended = run("index", str(source), *SCOPE, *flags)
    assert (ended.returncode, ended.stderr) == (2, f"error: {message}\n")
