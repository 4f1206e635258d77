"""`groundwire history`, in this process."""

import asyncio
import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from groundwire_pipelines.cli import register
from groundwire_pipelines.history.sqlite import SqliteHistory
from groundwire_pipelines.runtime import Turn

app = typer.Typer()
register(app)


def turn(name: str) -> Turn:
    return Turn(f"Was ist {name}?", f"What is {name}?", f"{name} is a tax.", f"{name} ist eine Steuer.\x1b[2J")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Two conversations of Ann's, the longer one with a summary, and one of Bob's."""
    history = SqliteHistory(tmp_path / "history.sqlite")

    async def talk() -> None:
        for user, session, name in (
            ("ann", "b", "VAT"),
            ("ann", "b", "Toll"),
            ("ann", "a", "Duty"),
            ("bob", "b", "Levy"),
        ):
            await history.append(user, session, turn(name))
        await history.save_summary("ann", "b", "VAT was explained.", covers=1, previous_version=0)

    asyncio.run(talk())
    return tmp_path / "history.sqlite"


def history(*arguments: str, file: Path, answer: str = "") -> Result:
    """Runs the command as Ann."""
    environment = {"GROUNDWIRE_HISTORY": str(file), "LOGNAME": "ann"}
    return CliRunner().invoke(app, ["history", *arguments], env=environment, input=answer, catch_exceptions=False)


def test_lists_ones_own_conversations_unless_another_user_is_named(file: Path) -> None:
    assert history("list", file=file).stdout == "a  turns: 1\nb  turns: 2\n"
    assert history("list", "--user", "bob", file=file).stdout == "b  turns: 1\n"
    assert json.loads(history("list", "--json", file=file).stdout)[1] == {
        "user_id": "ann",
        "session_id": "b",
        "turns": 2,
    }


def test_shows_a_conversation_as_its_user_saw_it(file: Path) -> None:
    assert history("show", "b", file=file).stdout == (
        "1. Was ist VAT?\n\nVAT ist eine Steuer.␛[2J\n\n2. Was ist Toll?\n\nToll ist eine Steuer.␛[2J\n\n"
        "Summary of the first turns (1):\n\nVAT was explained.\n"
    )


def test_exports_all_that_is_kept_as_json(file: Path) -> None:
    exported = json.loads(history("export", "b", file=file).stdout)
    assert (exported["user_id"], exported["session_id"], exported["summary"]) == ("ann", "b", "VAT was explained.")
    assert exported["summarised_turns"] == 1
    assert [Turn(**turn_fields) for turn_fields in exported["turns"]] == [turn("VAT"), turn("Toll")]


def test_deletes_what_it_was_told_to_and_no_more(file: Path) -> None:
    kept = history("delete", "b", file=file, answer="n\n")
    assert (kept.exit_code, "Delete b of ann (turns: 2)?" in kept.stderr) == (1, True)
    assert history("list", file=file).stdout == "a  turns: 1\nb  turns: 2\n"
    assert history("delete", "b", file=file, answer="y\n").exit_code == 0
    assert history("delete", "a", "--yes", file=file).exit_code == 0
    assert history("list", file=file).stdout == ""
    assert history("list", "--user", "bob", file=file).stdout == "b  turns: 1\n"


@pytest.mark.parametrize("command", ["show", "export", "delete"])
def test_a_conversation_of_somebody_else_is_none(file: Path, command: str) -> None:
    asyncio.run(SqliteHistory(file).append("bob", "c", turn("Levy")))
    result = history(command, "c", file=file)
    assert (result.exit_code, result.stdout) == (1, "")
    assert f"error: there is no conversation 'c' of 'ann' in {file}: see history list" in result.stderr.replace(
        "\n", ""
    )


@pytest.mark.parametrize("arguments", [("list",), ("show", "b"), ("delete", "b", "--yes")])
def test_a_history_that_is_not_there_is_not_made(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    file = tmp_path / "none.sqlite"
    result = history(*arguments, file=file)
    assert (result.exit_code, file.exists()) == (1, False)
    assert "error: there is no history" in result.stderr
