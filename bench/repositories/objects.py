"""How often current definitions of a real database stand first: `python -m bench.repositories.objects`."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer

from bench.repositories.tables import TableError
from bench.shared.programs import build_index, running, serve_command
from bench.shared.results import Grid, explained, write_results
from groundwire_client import GroundwireClient, GroundwireError, IndexScope

_CALL_SECONDS = 60.0
_FIRST = 5
_FIELDS = 5

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@dataclass(frozen=True, slots=True)
class DatabaseObject:
    """An object that is defined several times, a question for it in words, and the files that define it currently."""

    type: str
    name: str
    question: str
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ObjectAnswer:
    """The rank of a current definition among ten matches, 0 if there is none of it."""

    kind: str
    name: str
    rank: int


@app.command()
def main(
    source: Annotated[Path, typer.Argument(help="The source tree, at the revision of the set.", file_okay=False)],
    table: Annotated[Path, typer.Argument(help="objects.tsv of the set.", exists=True, dir_okay=False)],
    out: Annotated[Path, typer.Option(help="The folder for the index and the results.")],
    embedder: Annotated[str, typer.Option(help="The model; none searches by words.")] = "none",
) -> None:
    """Index the tree, ask for each object by its name and in words, and write how many are first."""
    with explained(GroundwireError, TableError):
        objects = list(read_objects(table))
        name = table.resolve().parent.name
        scope = build_index(source, name, out / "data", embedder)
        with (
            running(serve_command(out / "data", embedder=embedder), out / "server.log") as server,
            GroundwireClient(server.address, timeout=_CALL_SECONDS) as client,
        ):
            answers = [
                ObjectAnswer(kind, item.name, _rank(client, scope, item, question))
                for item in objects
                for kind, question in questions(item).items()
            ]
    write_results(out, "objects", [grid(name, answers)], {"answers": list(map(asdict, answers))})


def read_objects(table: Path) -> Iterator[DatabaseObject]:
    """The objects of a table: number, type, name, question and paths, which `|` separates. Raises TableError."""
    for number, line in enumerate(table.read_text(encoding="utf-8").splitlines(), 1):
        fields = line.split("\t")
        if len(fields) != _FIELDS or not all(fields):
            raise TableError(f"{table}, line {number}: has {len(fields)} fields; write {_FIELDS}, none of them empty")
        _, type_, name, question, paths = fields
        yield DatabaseObject(type_, name, question, tuple(paths.split("|")))


def questions(item: DatabaseObject) -> dict[str, str]:
    """The questions for an object, by kind."""
    return {
        "current definition of NAME": f"the current definition of {item.name}",
        "name alone": item.name,
        "in words": item.question,
    }


def grid(name: str, answers: Sequence[ObjectAnswer]) -> Grid:
    """How many of each kind are first, and among the first five."""
    rows = []
    for kind in dict.fromkeys(answer.kind for answer in answers):
        ranks = [answer.rank for answer in answers if answer.kind == kind]
        figures = (sum(rank == 1 for rank in ranks), sum(1 <= rank <= _FIRST for rank in ranks))
        rows.append([kind, *(f"{figure} of {len(ranks)}" for figure in figures)])
    return Grid(f"{name}: current definitions", ["asked", "first", "in five"], rows)


def _rank(client: GroundwireClient, scope: IndexScope, item: DatabaseObject, question: str) -> int:
    for match in client.query(scope, question, top_k=10).matches:
        symbol = match.symbol.rpartition(".")[2].strip('[]"`').casefold()
        if match.location.path in item.paths and symbol == item.name.casefold():
            return match.rank
    return 0


if __name__ == "__main__":
    app()
