"""`groundwire publish`, `published`, `withdraw` and `follow`, over a folder."""

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from unittest.mock import patch

import pytest
import typer
from typer.testing import CliRunner

from groundwire_cli.object_storage_commands import follow, published, withdraw
from groundwire_cli.object_storage_commands import publish as publish_command
from groundwire_index.nodes.node import Node
from groundwire_index.scope import Scope
from groundwire_index.store.store import IndexStore

V1, V2 = Scope("shop", "main", "v1"), Scope("shop", "main", "v2")
OF_SHOP = ("-r", "shop", "-b", "main")

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def folder(scratch: Callable[[], AbstractContextManager[Path]]) -> Iterator[Path]:
    with scratch() as directory:
        yield directory


@pytest.fixture
def command() -> Command:
    """Runs a command; its exit code, output and errors."""
    app = typer.Typer()
    for each in (publish_command, published, withdraw, follow):
        app.command()(each)

    def run(*arguments: str | Path) -> tuple[int, str, str]:
        result = CliRunner().invoke(app, [*map(str, arguments)])
        return result.exit_code, result.stdout, result.stderr

    return run


@pytest.fixture
def built(folder: Path, publish: Callable[..., None], make_node: Callable[..., Node]) -> Path:
    """A data folder with two versions; the second is active."""
    data = folder / "built"
    data.mkdir()
    for scope in (V1, V2):
        publish(data, [make_node("Tax", f"tax of {scope.active_index}", scope=scope)], scope=scope)
    return data


def test_a_version_is_published_listed_taken_and_withdrawn(command: Command, built: Path, folder: Path) -> None:
    address, served = folder / "published", folder / "served"
    code, output, _ = command("publish", address, *OF_SHOP, "--version", "v1", "--data", built)
    assert code == 0
    assert output.splitlines()[-1] == f"v1 is active at {address}"
    code, output, _ = command("follow", address, "--once", "--data", served)
    assert code == 0
    assert output.startswith("shop main v1 (active): 0.0 MB taken")
    code, output, _ = command("publish", address, *OF_SHOP, "--data", built)
    assert output.splitlines()[-1] == f"v2 is active at {address}; before it was v1"
    entries = json.loads(command("published", address, "--json")[1])
    assert [(entry["version"], entry["active"]) for entry in entries] == [("v1", False), ("v2", True)]
    assert len(command("published", address)[1].splitlines()) == 3
    assert command("withdraw", address, "v1", *OF_SHOP)[:2] == (0, "v1 is withdrawn\n")
    assert command("follow", address, "--once", "--data", served)[0] == 0
    assert IndexStore(served).versions(V1) == ["v2"]


@pytest.mark.parametrize(
    ("pattern", "is_taken"),
    [("shop", True), ("sh*", True), ("*", True), ("s?op", False), ("[s]hop", False), ("*p", False)],
)
def test_repositories_are_named_as_elsewhere(
    command: Command, built: Path, folder: Path, pattern: str, is_taken: bool
) -> None:
    address, served = folder / "published", folder / "served"
    command("publish", address, *OF_SHOP, "--data", built)
    command("follow", address, "--once", "-r", pattern, "--data", served)
    assert bool(IndexStore(served).versions(V1)) == is_taken


def test_a_version_can_be_published_before_it_is_active(command: Command, built: Path, folder: Path) -> None:
    address, served = folder / "published", folder / "served"
    assert command("publish", address, *OF_SHOP, "--no-activate", "--data", built)[0] == 0
    assert command("follow", address, "--once", "--data", served)[:2] == (0, "")
    empty = folder / "empty"  # which version is active can be changed where none is built
    code, output, _ = command("publish", address, *OF_SHOP, "--version", "v2", "--data", empty)
    assert (code, output.splitlines()[0]) == (0, "v2: was there already; 0 files, 0.0 MB copied")
    assert command("follow", address, "--once", "--data", served)[0] == 0
    assert IndexStore(served).active(V1) == "v2"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("publish", "published", *OF_SHOP, "--version", "v9"), "there is no index 'v9'"),
        (("publish", "published", "-r", "stock", "-b", "main"), "has no active version"),
        (("publish", "unknown://x", *OF_SHOP), "Protocol not known"),
        (("withdraw", "published", "v9", *OF_SHOP), "has no version 'v9'"),
        (("follow", "published", "--once"), "publish one by `groundwire publish`"),
    ],
)
def test_what_cannot_be_done_is_said_on_one_line(
    command: Command, built: Path, folder: Path, arguments: tuple[str, ...], message: str
) -> None:
    name, address, *others = arguments
    place = address if "://" in address else folder / address
    options = () if name == "withdraw" else ("--data", built if name == "publish" else folder / "served")
    code, output, errors = command(name, place, *others, *options)
    assert (code, output) == (1, "")
    assert message in errors
    assert len(errors.splitlines()) == 1


def test_an_address_is_named_without_its_password(command: Command) -> None:
    """S3 takes none there, and its library quotes it as a part of the bucket's name."""
    code, _, errors = command("published", "s3://key:pass%40word@bucket/team")
    assert code == 1
    assert errors.startswith("error: s3://bucket/team: ")
    assert "pass" not in errors


def test_a_follower_reports_a_failure_once_and_goes_on(command: Command, built: Path, folder: Path) -> None:
    address, served = folder / "published", folder / "served"
    command("publish", address, *OF_SHOP, "--data", built)
    texts = address / "shop" / "main" / "v2" / "text.utf8"
    content = texts.read_bytes()
    texts.write_bytes(b"X" + content[1:])
    looks = 0

    def pause(seconds: float) -> None:
        nonlocal looks
        assert seconds == 7
        looks += 1
        if looks == 3:
            texts.write_bytes(content)
        if looks == 4:
            raise KeyboardInterrupt

    with patch("groundwire_cli.object_storage_commands.time.sleep", pause):
        code, output, errors = command("follow", address, "--every", "7", "--data", served)
    assert code == 0
    assert output.splitlines()[0] == f"following {address}; Ctrl-C ends it"
    assert output.splitlines()[1].startswith("shop main v2 (active)")
    assert errors.count("text.utf8") == 1
    assert IndexStore(served).active(V1) == "v2"
