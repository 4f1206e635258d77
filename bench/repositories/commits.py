"""`python -m bench.repositories.commits GIT FOLDER`: a set of commit subjects as questions. See `bench/README.md`."""

import re
import tarfile
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path, PurePosixPath
from typing import Annotated

import typer

from bench.repositories.history import Commit, archive, commit_of, read_commits
from bench.repositories.subjects import question_of
from bench.repositories.tables import Change, TableError, fits_table, read_revision, write_changes
from bench.shared.results import console, explained

MOST_FILES = 4
_SOURCES = frozenset(
    """
    .astro .c .cc .cjs .cpp .cs .cshtml .cts .dart .erb .ex .exs .fs .go .gql .graphql .h .hpp .html .java .jinja
    .jinja2 .js .jsx .kt .kts .lua .mjs .mts .php .prisma .proto .py .pyi .razor .rb .rs .scala .sql .svelte .swift
    .ts .tsx .vb .vue .xaml
    """.split()
)
_TEST_WORDS = frozenset("e2e mocks spec specs test testdata tests".split())
_APART = frozenset("dist doc docs gen generated node_modules third_party vendor".split())
"""Folders of documentation, generated files, and other projects' code."""
_GENERATED = re.compile(
    r"\.(?:designer\.cs|g\.cs|min\.js|pb(?:\.\w+)+)$|(?:_pb2(?:_grpc)?\.pyi?|ModelSnapshot\.cs)$", re.I
)
_WORD = re.compile(r"[A-Z]+(?![a-z])[0-9]*|[A-Z]?[a-z0-9]+")
_BOT = re.compile(r"\bbot\b|crowdin|dependabot|github-actions|renovate|weblate", re.I)

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def make(
    git: Annotated[Path, typer.Argument(help="A clone of the repository, bare or not.", exists=True, file_okay=False)],
    folder: Annotated[Path, typer.Argument(help="The folder of the set; it holds REVISION.", file_okay=False)],
    most: Annotated[int, typer.Option(help="The most subjects to keep.", min=1)] = 120,
) -> None:
    """Write `source.tar.gz` and `commits.tsv` of the revision that a folder names."""
    with explained(TableError):
        revision = read_revision(folder / "REVISION")
        commit = commit_of(git, revision.commit)
        archive(git, commit, revision.pathspecs, folder / "source.tar.gz")
        with tarfile.open(folder / "source.tar.gz") as packed:
            files = {member.name for member in packed if member.isfile() and fits_table(member.name)}
        changes = changes_of(read_commits(git, commit), files)
        if not changes:
            raise RuntimeError(f"{git}: no commit up to {commit} is a question: see the rules in bench/README.md")
        write_changes(folder / "commits.tsv", spread(changes, most))
    console.print(f"{folder}: {min(len(changes), most)} of {len(changes)} subjects")


def changes_of(commits: Iterable[Commit], files: Collection[str]) -> list[Change]:
    """The commits with a subject that can be a question, and 1 to 4 touched sources, all among the files.

    Of commits with the same subject, ignoring case, the first is taken.
    """
    changes: dict[str, Change] = {}
    for commit in commits:
        text = question_of(commit.subject)
        paths = tuple(sorted(filter(is_source, commit.paths)))
        if text and 1 <= len(paths) <= MOST_FILES and all(path in files for path in paths) and not is_bot(commit):
            changes.setdefault(text.lower(), Change(text, paths))
    return list(changes.values())


def spread(changes: Sequence[Change], most: int) -> list[Change]:
    """At most `most` items, at even distances over the first half, or over the first `most` if the half has fewer."""
    pool = changes[: max(most, len(changes) // 2)]
    count = min(most, len(pool))
    return [pool[number * len(pool) // count] for number in range(count)]


def is_bot(commit: Commit) -> bool:
    """True if a program made the commit, by its author's name."""
    return _BOT.search(commit.author) is not None


def is_source(path: str) -> bool:
    """True if a file is source code of the product by its path: no test, no documentation, no generated file."""
    *folders, name = PurePosixPath(path).parts
    words = {word.lower() for part in (*folders, name) for word in _WORD.findall(part)}
    return (
        PurePosixPath(path).suffix.lower() in _SOURCES
        and words.isdisjoint(_TEST_WORDS)
        and _APART.isdisjoint(folder.lower() for folder in folders)
        and not _GENERATED.search(name)
    )


if __name__ == "__main__":
    app()
