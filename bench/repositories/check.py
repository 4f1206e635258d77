"""`python -m bench.repositories.check FOLDER...`: checks that every place of the tables exists in the sources."""

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from bench.repositories.declarations import declares
from bench.repositories.indexing import unpack
from bench.repositories.places import in_file
from bench.repositories.tables import Place, TableError, Tables, read_tables
from bench.shared.results import console

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def check(
    folders: Annotated[
        list[Path],
        typer.Argument(help="Each holds source.tar.gz and the tables of a set.", exists=True, file_okay=False),
    ],
) -> None:
    """Look up every place of the tables in the sources, and report those that do not exist."""
    try:
        problems = [f"{folder}: {problem}" for folder in folders for problem in check_set(folder)]
    except (OSError, TableError) as error:
        problems = [str(error)]
    for problem in problems:
        console.print(f"[red]error:[/red] {escape(problem)}")
    if problems:
        raise typer.Exit(1)


def check_set(folder: Path) -> list[str]:
    """The problems of the places and files of a set, in the order of its tables. Raises OSError, TableError."""
    with tempfile.TemporaryDirectory() as work:
        source = unpack(folder / "source.tar.gz", Path(work))
        texts = {
            path.relative_to(source).as_posix(): path.read_text(encoding="utf-8", errors="replace")
            for path in sorted(source.rglob("*"))
            if path.is_file()
        }
    tables = read_tables(folder)
    places = [
        f"{row}: {place.path}#{place.symbol}: {problem}"
        for row, place in _places(tables)
        if (problem := problem_of(place, texts))
    ]
    files = [
        f"subject {number}: {path}: no file has this path"
        for number, change in enumerate(tables.changes, start=1)
        for path in change.paths
        if path not in texts
    ]
    return places + files


def problem_of(place: Place, texts: Mapping[str, str]) -> str:
    """The problem of a place, given the texts by path; empty if exactly one file matches and declares the symbol."""
    paths = [path for path in texts if in_file(path, place.path)]
    if not paths:
        return "no file has a path that ends so"
    if len(paths) > 1:
        return f"{len(paths)} files have a path that ends so: write more of it, as in {paths[0]}"
    if place.symbol and not declares(texts[paths[0]], paths[0], place.symbol):
        return "the file has no line that declares the symbol"
    return ""


def _places(tables: Tables) -> Iterator[tuple[str, Place]]:
    """Every place of both tables, with its row."""
    for number, question in enumerate(tables.questions, start=1):
        yield from ((f"question {number}", place) for places in question.places for place in places)
    for number, relation in enumerate(tables.relations, start=1):
        yield from ((f"relation {number}", place) for place in (*relation.start, *relation.end))


if __name__ == "__main__":
    app()
