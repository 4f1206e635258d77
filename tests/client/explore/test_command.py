"""What `groundwire explore` says before it serves anything."""

import socket
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from groundwire_explore.cli import register


def refused(*arguments: str | Path) -> str:
    """What the command says on standard error, in one line; it must end as for a wrong use."""
    app = typer.Typer()
    register(app)
    ended = CliRunner().invoke(app, list(map(str, arguments)), env={"COLUMNS": "1000", "TERM": "dumb"})
    assert ended.exit_code == 2, ended.output
    return " ".join(ended.stderr.split())


def test_a_port_in_use_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        assert f"{port} cannot be used" in refused("--server", "127.0.0.1:1", "--port", str(port))


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--timeout", "0", "timeout must be a positive"),
        ("--trace", "absent.jsonl", "does not exist"),
        ("--port", "65536", "--port"),
    ],
)
def test_a_wrong_option_is_named(option: str, value: str, message: str) -> None:
    assert message in refused("--server", "127.0.0.1:1", option, value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--listen", "8422"], "must be HOST:PORT"),
        (["--listen", "127.0.0.1:99999"], "must be HOST:PORT"),
        (["--listen", "127.0.0.1:0", "--token-file", __file__], "--listen, --token-file: give one"),
        (["--listen", "127.0.0.1:0", "--trace", __file__], "--listen, --trace: give one"),
        (["--listen", "127.0.0.1:0", "--port", "1"], "--listen, --port: give one"),
        (["--allowed-host", "code.example"], "has no use without --listen"),
    ],
)
def test_options_that_do_not_go_together_are_refused(options: list[str], message: str) -> None:
    assert message in refused("--server", "127.0.0.1:1", *options)


def test_a_token_that_would_travel_in_the_clear_is_refused(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("secret")
    assert "--plaintext-token" in refused("--server", "example.com:50051", "--token-file", token)
