"""How often the current definition of an object stands first: `python -m bench.repositories.definitions`."""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer

from bench.repositories.definition_tree import IN_OWN_FILES, Definition, definition_tree
from bench.shared.programs import build_index, running, serve_command
from bench.shared.results import Grid, explained, write_results
from groundwire_client import GroundwireClient, GroundwireError, IndexScope
from groundwire_index.embedding.model_names import DEFAULT_MODEL

_CALL_SECONDS = 60.0
_NAME = "definitions"
_BUDGET = 2_000
_FIRST = 5

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a question: the current definition's rank among ten matches, 0 if it is not among them.

    `leads_evidence` is True if the first passage is the current definition.
    """

    kind: str
    name: str
    has_own_file: bool
    rank: int
    leads_evidence: bool


@app.command()
def main(out: Annotated[Path, typer.Option(help="The folder for the sources, the index and the results.")]) -> None:
    """Make the tree, index it, ask for each definition by its name and in words, and write how many are first."""
    with explained(GroundwireError):
        files, definitions = definition_tree()
        scope = build_index(_written(files, out / _NAME / "source"), _NAME, out / "data", DEFAULT_MODEL)
        with (
            running(serve_command(out / "data", embedder=DEFAULT_MODEL), out / "server.log") as server,
            GroundwireClient(server.address, timeout=_CALL_SECONDS) as client,
        ):
            answers = [
                _ask(client, scope, definition, kind, question, number < IN_OWN_FILES)
                for number, definition in enumerate(definitions)
                for kind, question in questions(definition).items()
            ]
    write_results(out, _NAME, [grid(answers)], {"answers": list(map(asdict, answers))})


def questions(definition: Definition) -> dict[str, str]:
    """The questions for a definition, by kind."""
    return {
        "current definition of NAME": f"the current definition of {definition.name}",
        "name alone": definition.name,
        "in words": definition.question,
    }


def grid(answers: Sequence[Answer]) -> Grid:
    """How many of each kind are first and among the first five, and lead the evidence."""
    rows = []
    for has_own_file, place in ((True, "a file of its own"), (False, "release scripts only")):
        for kind in dict.fromkeys(answer.kind for answer in answers):
            chosen = [answer for answer in answers if answer.kind == kind and answer.has_own_file == has_own_file]
            figures = (
                sum(answer.rank == 1 for answer in chosen),
                sum(1 <= answer.rank <= _FIRST for answer in chosen),
                sum(answer.leads_evidence for answer in chosen),
            )
            rows.append([f"{place}, {kind}", *(f"{figure} of {len(chosen)}" for figure in figures)])
    return Grid("Current definitions", ["asked", "first", "in five", "first in evidence"], rows)


def _ask(
    client: GroundwireClient, scope: IndexScope, definition: Definition, kind: str, question: str, has_own_file: bool
) -> Answer:
    def is_current(path: str, symbol: str) -> bool:
        return path == definition.path and symbol.rpartition(".")[2] == definition.name

    matches = client.query(scope, question, top_k=10).matches
    ranks = [match.rank for match in matches if is_current(match.location.path, match.symbol)]
    texts = client.evidence(scope, question, _BUDGET).texts
    leads = bool(texts) and is_current(texts[0].path, texts[0].symbol)
    return Answer(kind, definition.name, has_own_file, min(ranks, default=0), leads)


def _written(files: Mapping[str, str], folder: Path) -> Path:
    """Writes the files anew; returns the folder."""
    shutil.rmtree(folder, ignore_errors=True)
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8", newline="\n")
    return folder


if __name__ == "__main__":
    app()
