"""`groundwire indexes`, `activate` and `delete`, and which options they take together."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from groundwire_cli.version_commands import activate, delete, indexes
from groundwire_index.nodes.node import Node
from groundwire_index.scope import Scope

NAMES = ("repository-" + "r" * 100, "feature/" + "b" * 90, "version-" + "v" * 100)


@pytest.fixture
def command() -> Callable[..., tuple[int, str, str]]:
    """Runs a command on a narrow terminal; its exit code, output and errors."""
    app = typer.Typer()
    for function in (indexes, activate, delete):
        app.command()(function)

    def run(*arguments: str, **environment: str) -> tuple[int, str, str]:
        result = CliRunner().invoke(app, arguments, env={"COLUMNS": "40", **environment})
        return result.exit_code, result.stdout, result.stderr

    return run


def test_a_name_is_never_broken(
    command: Callable[..., tuple[int, str, str]],
    tmp_path: Path,
    publish: Callable[..., None],
    make_node: Callable[..., Node],
) -> None:
    scope = Scope(*NAMES)
    publish(tmp_path, [make_node("A", scope=scope)], scope=scope)
    code, output, _ = command("indexes", "--data", str(tmp_path))
    assert code == 0
    assert output.splitlines()[1].split()[:4] == [*NAMES, "yes"]
    repository, branch, _ = NAMES
    for options, versions in ((("-r", repository, "-b", branch), 1), (("-r", "other"), 0), (("-b", "other"), 0)):
        assert len(json.loads(command("indexes", *options, "--json", "--data", str(tmp_path))[1])) == versions


def test_where_there_is_no_index_the_cure_is_told(command: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    absent = str(tmp_path / "absent")
    code, _, notes = command("indexes", "--data", absent)
    assert code == 0
    assert f"there is no data folder {absent!r}: build one by `groundwire index" in notes
    _, _, notes = command("indexes", "--data", str(tmp_path), "-r", "shop")
    assert "there is no index of that repository and branch: build one" in notes


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--server", "localhost:1", "--data", "x"), "--data"),
        (("--server", "localhost:1", "--backend", "embedded"), "--backend"),
        (("--tenant", "acme"), "--tenant: needs --server"),
        (("--server", ""), "--server: is empty"),
        (("--tls-ca", __file__), "--tls-ca: needs --server"),
    ],
)
def test_options_without_an_effect_are_refused(
    command: Callable[..., tuple[int, str, str]], options: tuple[str, ...], named: str
) -> None:
    code, output, errors = command("indexes", *options)
    assert (code, output) == (2, "")
    assert named in " ".join(errors.replace("│", " ").split())


def test_the_server_to_ask_questions_is_not_the_one_to_change(
    command: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    variables = {"GROUNDWIRE_SERVER": "localhost:1", "GROUNDWIRE_TOKEN_FILE": __file__}
    where = ("-r", "shop", "-b", "main", "--data", str(tmp_path))
    code, _, errors = command("delete", "v1", *where, **variables)
    assert code == 1
    assert "UNAVAILABLE" not in errors
