"""Reads a git repository: its commits with the files that they touched, and the sources of one commit."""

import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

_COMMIT, _FIELD = "\0", "\1"


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit: its hash, who wrote it, as `name <address>`, its message, and the paths of the files it touched.

    `body` is the first line of the message below the subject, empty for none.
    """

    hash: str
    author: str
    subject: str
    body: str
    paths: tuple[str, ...]


def commit_of(git: Path, revision: str) -> str:
    """The hash of the commit that a branch, tag or hash names. Raises RuntimeError with git's message."""
    named = ("--verify", "--end-of-options", f"{revision}^{{commit}}")
    return _git(git, "rev-parse", *named).decode("ascii").strip()


def read_commits(git: Path, commit: str) -> Iterator[Commit]:
    """A commit and those that lead to it, newest first, without merges. Raises RuntimeError with git's message.

    A path with characters that git quotes stays quoted, and so is the path of no file.
    """
    shown = ("--no-merges", "--no-renames", "--no-show-signature", "--name-only")
    form = "--format=%x00%H%x01%an <%ae>%x01%s%x01%b%x01"
    log = _git(git, "-c", "core.quotePath=false", "log", *shown, form, commit, "--").decode("utf-8", errors="replace")
    for entry in log.split(_COMMIT)[1:]:
        hash_, author, subject, body, paths = entry.split(_FIELD, maxsplit=4)
        first = next(iter(body.strip().splitlines()), "")
        yield Commit(hash_, author, subject, first, tuple(filter(None, paths.split("\n"))))


def archive(git: Path, commit: str, pathspecs: Sequence[str], file: Path) -> None:
    """Writes the sources of a commit that match the pathspecs as a compressed archive. Raises RuntimeError."""
    _git(git, "archive", "--format=tar.gz", f"--output={file.absolute()}", commit, "--", *pathspecs)


def difference(git: Path, old: str, new: str, path: str) -> str:
    """The patch of one file between two commits, without context, empty where it is the same. Raises RuntimeError."""
    shown = ("--unified=0", "--no-renames", "--no-ext-diff", "--no-color")
    return _git(git, "diff", *shown, old, new, "--", path).decode("utf-8", errors="replace")


def _git(git: Path, *arguments: str) -> bytes:
    done = subprocess.run(["git", "-C", git, *arguments], capture_output=True, check=False)
    if done.returncode:
        raise RuntimeError(f"git {arguments[0]} in {git} failed: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout
