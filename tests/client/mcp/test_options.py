"""Options that would open the way, or that do not fit together, end the command with one line."""

from pathlib import Path
from typing import NoReturn

import pytest
import typer
from typer.testing import CliRunner

from groundwire_mcp.cli import register

SHOP = ["--scope", "shop::main"]


def never(folder: Path, cache: Path | None, embedder: str) -> NoReturn:
    raise AssertionError("nothing may be served")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([*SHOP, "--http", "0.0.0.0:0"], "other machines could ask"),
        ([*SHOP, "--http", "[::]:0"], "other machines could ask"),
        ([*SHOP, "--http", "example.org:0"], "other machines could ask"),
        ([*SHOP, "--http", "8000"], "must be HOST:PORT"),
        ([*SHOP, "--http", "127.0.0.1:99999"], "must be HOST:PORT"),
        ([*SHOP, "--caller-tokens"], "without --http"),
        ([*SHOP, "--expose"], "without --http"),
        (["--http", "0.0.0.0:0", "--expose"], "--expose: needs --scope"),
        ([*SHOP, "--http", "127.0.0.1:0", "--caller-tokens", "--token-file", __file__], "give one"),
        ([*SHOP, "--cache", "x"], "without --local"),
        ([*SHOP, "--local", "."], "leave out --scope"),
        ([*SHOP, "--scope", "shop::main::v1"], "twice"),
        (["--scope", "shop"], "must be REPOSITORY::BRANCH"),
        (["--scope", "shop::"], "must be REPOSITORY::BRANCH"),
        (["--local", ".", "--tenant", "acme"], "leave out --scope"),
        (["--local", ".", "--http", "0.0.0.0:0"], "other machines could ask"),
    ],
)
def test_options_that_do_not_fit_are_refused_in_one_line(options: list[str], said: str) -> None:
    app = typer.Typer()
    register(app, never)
    done = CliRunner().invoke(app, ["--server", "127.0.0.1:1", *options])
    assert done.exit_code == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""
