"""Shared by the commands of pipelines: their options for typer, and how they report errors."""

import getpass
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Final

import typer

from groundwire.printable_text import printable
from groundwire_pipelines.errors import DefinitionError, PipelineError, StepError

_CONVERSATION: Final = "Conversation"

DEFAULT_HISTORY: Final = Path(typer.get_app_dir("groundwire")) / "history.sqlite"

Repository = Annotated[
    list[str] | None,
    typer.Option(
        "--repository",
        "-r",
        help="Repository; repeatable.",
        show_default="the pipeline's, else that of GROUNDWIRE_REPOSITORY, else the only one",
    ),
]
Branch = Annotated[
    list[str] | None,
    typer.Option(
        "--branch",
        "-b",
        help="Its branch; repeatable.",
        show_default="the pipeline's, else that of GROUNDWIRE_BRANCH, else the only one",
    ),
]
Index = Annotated[str, typer.Option(help="The index version to read.", show_default="the pipeline's or active one")]
Folders = Annotated[
    list[Path] | None,
    typer.Option(
        "--folder", exists=True, file_okay=False, help="A folder of pipelines to search before the library; repeatable."
    ),
]
PipelineName = Annotated[
    str, typer.Argument(metavar="PIPELINE", help="A name on the search path, a file.yaml, or file.yaml#name.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="A setting for this run, its value in JSON or plain text; repeatable."
    ),
]
BudgetTokens = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="The most tokens of evidence: the setting max_context_tokens for this run.",
        show_default="the pipeline's",
    ),
]
PathFrom = Annotated[
    str, typer.Option("--from", help="Where paths begin, in words (setting path_from).", show_default="the question's")
]
PathTo = Annotated[
    str, typer.Option("--to", help="Where paths end, in words (setting path_to).", show_default="the question's")
]
English = Annotated[
    bool, typer.Option("--english/--not-english", help="The language of question and answer: English, or another one.")
]
Json = Annotated[bool, typer.Option("--json", help="Print the answer and its evidence as one JSON object.")]
Trace = Annotated[
    Path | None, typer.Option("--trace", dir_okay=False, help="Write what each step did to a file, an event a line.")
]
TraceTexts = Annotated[
    bool, typer.Option("--trace-texts", help="With --trace, write questions, answers and sources too.")
]
Session = Annotated[
    str, typer.Option(help="The conversation that the question belongs to.", rich_help_panel=_CONVERSATION)
]
User = Annotated[
    str,
    typer.Option(
        help="Whose conversation it is.", show_default="the operating system's user", rich_help_panel=_CONVERSATION
    ),
]
HistoryFile = Annotated[
    Path,
    typer.Option(
        "--history",
        envvar="GROUNDWIRE_HISTORY",
        dir_okay=False,
        help="The file that conversations are kept in.",
        rich_help_panel=_CONVERSATION,
    ),
]


def user_or_own(name: str) -> str:
    """The user of a conversation: the one that `--user` names, else the operating system's."""
    try:
        return name or getpass.getuser()
    except (OSError, KeyError) as error:
        raise typer.BadParameter(
            "the operating system has no name for this user; give one", param_hint="--user"
        ) from error


@contextmanager
def reported() -> Iterator[None]:
    """Prints an error of a pipeline, each problem of its files on a line of its own.

    Raises:
        typer.Exit: After an error, with exit code 1.
    """
    try:
        yield
    except PipelineError as error:
        if isinstance(error, DefinitionError):
            lines = list(map(str, error.problems))
        else:
            lines = [f"{error.rule}: {error}" if isinstance(error, StepError) else str(error)]
        for line in lines:
            typer.echo(f"error: {printable(' '.join(line.split()))}", err=True)
        raise typer.Exit(1) from None
