"""A server that believes whoever reaches it says so, when others than this machine can."""

from pathlib import Path

import pytest

from groundwire_server.config import Settings
from groundwire_server.rpc.serving.exposure import is_exposed
from support.jsonl import node
from support.program import Server, run_ok, write_jsonl
from support.workers import events


@pytest.mark.parametrize("listen", ["0.0.0.0:1", "[::]:1", "192.0.2.1:1", "groundwire:1", "localhost.example:1"])
def test_an_address_that_others_reach_is_exposed_in_the_mode_trusted(listen: str) -> None:
    assert is_exposed(Settings(listen=listen))
    certificates = {name: Path("x.pem") for name in ("tls_certificate", "tls_key")}
    assert is_exposed(Settings.model_validate({"listen": listen, **certificates}))
    assert not is_exposed(Settings.model_validate({"listen": listen, **certificates, "tls_client_ca": Path("x.pem")}))
    mtls = {"access_mode": "mtls", "access_mapping": Path("x.yaml"), "tls_client_ca": Path("x.pem"), **certificates}
    assert not is_exposed(Settings.model_validate({"listen": listen, **mtls}))


@pytest.mark.parametrize("listen", ["127.0.0.1:1", "127.1.2.3:1", "[::1]:1", "localhost:1", "LOCALHOST:1"])
def test_the_loopback_is_not_exposed(listen: str) -> None:
    assert not is_exposed(Settings(listen=listen))


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize(("listen", "warnings"), [("0.0.0.0:0", 1), ("127.0.0.1:0", 0)])
def test_the_log_says_so_once(tmp_path: Path, listen: str, warnings: int, workers: str) -> None:
    source = write_jsonl(tmp_path / "a.jsonl", [node("a", "tax", None)])
    run_ok("index", source, "-r", "shop", "-b", "main", "--embedder", "none", "--data", tmp_path / "data")
    flags = ("--embedder", "none", "--listen", listen, "--workers", workers)
    with Server(tmp_path / "data", *flags) as server:
        server.terminate()
        server.log_ended.wait()
        logged = events(server, "callers are not identified")
    assert len(logged) == warnings
    for event in logged:
        assert event["level"] == "warning"
        assert event["listen"].startswith("0.0.0.0:")
        assert "states its own access" in event["meaning"]
        assert "access_mode" in event["remedy"]
