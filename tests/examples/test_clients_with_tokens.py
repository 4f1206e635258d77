"""Each example client behind Envoy with mutual TLS, before servers that grant what a token says."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from groundwire_ingest.records import StatedAccess
from support.builds import V1, build, node
from support.example_clients import ExampleClient, Outcome
from support.mesh import Mesh
from support.token_issuer import AUDIENCE, ISSUER, SigningKey, key_set

pytestmark = pytest.mark.slow

KEY = SigningKey.ec("key")
PUBLIC = StatedAccess("", (), (), 0)
FINANCE = replace(PUBLIC, acl_tags=("finance",))
MAPPING = """
acl_tags: {claims: [{claim: groups}]}
scopes: {always: ["shop::*"]}
"""


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mesh]:
    """Servers of an index with one public node and one of finance."""
    folder = tmp_path_factory.mktemp("guarded")
    build(folder / "data", [node("Open", "invoice", access=PUBLIC), node("Margin", "invoice", access=FINANCE)], V1)
    (folder / "keys.json").write_text(key_set(KEY), encoding="utf-8")
    (folder / "access.yaml").write_text(MAPPING, encoding="utf-8")
    environment = {
        "GROUNDWIRE_ACCESS_MODE": "jwt",
        "GROUNDWIRE_ACCESS_MAPPING": str(folder / "access.yaml"),
        "GROUNDWIRE_JWT_KEYS": str(folder / "keys.json"),
        "GROUNDWIRE_JWT_ISSUER": ISSUER,
        "GROUNDWIRE_JWT_AUDIENCES": AUDIENCE,
    }
    with Mesh(folder / "mesh", folder / "data", "--embedder", "none", environment=environment) as mesh:
        yield mesh


def ask(client: ExampleClient, mesh: Mesh, token_file: Path, token: str) -> Outcome:
    token_file.write_text(token, encoding="ascii")
    address = f"localhost:{mesh.envoy.address.rpartition(':')[2]}"
    return client.run(address, mesh.identities.caller, "--token-file", str(token_file))


def hits(outcome: Outcome) -> list[str]:
    assert outcome.exit_code == 0, outcome
    return [line["id"].rpartition("::")[2] for line in outcome.lines if line["type"] == "hit"]


def test_the_token_decides_what_is_found(client: ExampleClient, guarded: Mesh, tmp_path: Path) -> None:
    token_file = tmp_path / "token"
    assert hits(ask(client, guarded, token_file, KEY.token(groups=["finance"]))) == ["Margin", "Open"]
    assert hits(ask(client, guarded, token_file, KEY.token(groups=["sales"]))) == ["Open"]


def test_a_token_of_another_key_is_told(client: ExampleClient, guarded: Mesh, tmp_path: Path) -> None:
    outcome = ask(client, guarded, tmp_path / "token", SigningKey.ec("key").token(groups=["finance"]))
    (line,) = outcome.lines
    assert (outcome.exit_code, line["method"], line["status"]) == (1, "SearchNodes", "UNAUTHENTICATED")
    assert line["reason"].startswith("ERROR_REASON_")
