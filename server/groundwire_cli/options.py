"""Options and endings that the commands share."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from groundwire.printable_text import one_line, printable
from groundwire_index.backends import BACKENDS
from groundwire_index.operator_errors import OperatorError
from groundwire_index.scope import Scope, name_problem, version_problem
from groundwire_index.storage import Storage

Data = Annotated[Path, typer.Option("--data", envvar="GROUNDWIRE_DATA", help="The folder that holds the indexes.")]
Repository = Annotated[str, typer.Option("--repository", "-r", help="The repository the index belongs to.")]
Branch = Annotated[str, typer.Option("--branch", "-b", help="The branch the index belongs to.")]

DEFAULT_DATA = Path("groundwire-data")
EXIT_FAILED = 1
EXIT_USAGE = 2


def checked_scope(repository: str, branch: str, version: str = "") -> Scope:
    """A scope whose names are well formed; ends the command otherwise."""
    for option, problem in (
        (f"--repository {repository!r}", name_problem(repository)),
        (f"--branch {branch!r}", name_problem(branch)),
        (f"version {version!r}", version_problem(version) if version else None),
    ):
        if problem:
            fail(f"{option} {problem}", EXIT_USAGE)
    return Scope(repository, branch, version)


def pinned_scope(storage: Storage, scope: Scope) -> Scope:
    """The scope with its active version unless it pins one; ends the command where it has none."""
    pinned = replace(scope, active_index=scope.active_index or storage.active(scope))
    if not pinned.active_index:
        fail(f"{scope.repository} {scope.branch} has no active version in {storage.place}; name a version")
    return pinned


def fail(message: str, code: int = EXIT_FAILED) -> NoReturn:
    """Says on stderr why the command ends, and ends it."""
    print(f"error: {printable(message)}", file=sys.stderr)
    raise typer.Exit(code)


@contextmanager
def reporting_failures(extra: str = "server") -> Iterator[None]:
    """Turns a user's error into one line and an exit code; `extra` names what installs the libraries imported."""
    try:
        yield
    except ModuleNotFoundError as error:
        extras = ",".join([extra, *_extras_of_backends(error.name)])
        fail(f'{error.name} is not installed; pip install "groundwire[{extras}]"', EXIT_USAGE)
    except BrokenPipeError:
        raise  # who read the output has gone, as `head` does: Typer ends the command without a word
    except (OperatorError, OSError) as error:
        fail(message_of(error))


def _extras_of_backends(library: str | None) -> list[str]:
    """The extras that install a library for a backend."""
    return [extra for backend in BACKENDS.values() for name, extra in backend.extras.items() if name == library]


def message_of(error: OperatorError | OSError) -> str:
    """The error in one line."""
    if isinstance(error, OSError):
        return one_line(f"{error.filename or 'the file system'}: {error.strerror or error}")
    return one_line(str(error))
