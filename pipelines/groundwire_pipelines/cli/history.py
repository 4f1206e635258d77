"""`groundwire history`: the conversations that `groundwire run --session` keeps."""

import asyncio
import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from groundwire.printable_text import printable
from groundwire_pipelines.cli import options
from groundwire_pipelines.cli.options import reported, user_or_own
from groundwire_pipelines.errors import PipelineError
from groundwire_pipelines.history.sqlite import SqliteHistory, Transcript

history_app = typer.Typer(
    no_args_is_help=True, help="List, read, export and delete the conversations of `run --session`."
)

_Session = Annotated[str, typer.Argument(metavar="SESSION", help="The conversation's name.")]
_Yes = Annotated[bool, typer.Option("--yes", help="Delete without asking.")]


@history_app.command("list")
def list_sessions(
    user: options.User = "", history: options.HistoryFile = options.DEFAULT_HISTORY, as_json: options.AsJson = False
) -> None:
    """List a user's conversations, each with the number of its turns."""
    with reported():
        sessions = asyncio.run(_opened(history).sessions(user_or_own(user)))
    if as_json:
        typer.echo(json.dumps([asdict(session) for session in sessions], indent=2))
        return
    for session in sessions:
        typer.echo(f"{printable(session.session_id)}  turns: {session.turns}")


@history_app.command()
def show(session: _Session, user: options.User = "", history: options.HistoryFile = options.DEFAULT_HISTORY) -> None:
    """Print a conversation as its user saw it."""
    transcript = _transcript(session, user, history)
    for number, turn in enumerate(transcript.turns, start=1):
        typer.echo(printable(f"{number}. {turn.question}\n\n{turn.answer}\n"))
    if transcript.summary:
        typer.echo(printable(f"Summary of the first turns ({transcript.summarised_turns}):\n\n{transcript.summary}"))


@history_app.command()
def export(session: _Session, user: options.User = "", history: options.HistoryFile = options.DEFAULT_HISTORY) -> None:
    """Print a whole stored conversation as one JSON object."""
    typer.echo(json.dumps(asdict(_transcript(session, user, history)), indent=2))


@history_app.command()
def delete(
    session: _Session,
    user: options.User = "",
    history: options.HistoryFile = options.DEFAULT_HISTORY,
    yes: _Yes = False,
) -> None:
    """Delete a conversation permanently."""
    transcript = _transcript(session, user, history)
    if not yes:
        typer.confirm(
            f"Delete {printable(session)} of {printable(transcript.user_id)} (turns: {len(transcript.turns)})?",
            abort=True,
            err=True,
        )
    with reported():
        asyncio.run(SqliteHistory(history).delete(transcript.user_id, session))


def _transcript(session: str, user: str, history: Path) -> Transcript:
    name = user_or_own(user)
    with reported():
        transcript = asyncio.run(_opened(history).transcript(name, session))
        if transcript is None:
            raise PipelineError(f"there is no conversation {session!r} of {name!r} in {history}: see history list")
    return transcript


def _opened(history: Path) -> SqliteHistory:
    if not history.exists():
        raise PipelineError(f"there is no history {history}: a run with --session makes it")
    return SqliteHistory(history)
