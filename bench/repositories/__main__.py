"""`python -m bench.repositories`: retrieval quality on real repositories. See `bench/README.md`."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from bench.repositories.baseline import bm25_ranking, chunks_of
from bench.repositories.figures import DEPTH, files_found_by, found_by
from bench.repositories.indexing import exported_nodes, unpack
from bench.repositories.places import Piece
from bench.repositories.relations import ahead_on_server, measure_relations
from bench.repositories.report import BASELINE, SetFigures, grids
from bench.repositories.tables import Question, TableError, read_tables
from bench.repositories.wire import RELATIONS_BUDGET, Ranking, measure_evidence, rankings, relations_shown
from bench.shared.programs import build_index, running, serve_command
from bench.shared.results import explained, write_results
from groundwire_client import GroundwireClient, GroundwireError
from groundwire_index.embedding.model_names import DEFAULT_MODEL

_CALL_SECONDS = 60.0


def main(
    folders: Annotated[
        list[Path],
        typer.Argument(help="Each holds source.tar.gz and the tables of a set.", exists=True, file_okay=False),
    ],
    out: Annotated[Path, typer.Option(help="The folder for the sources, the indexes and the results.")],
) -> None:
    """Index repositories, ask their questions, look for their relations, and write the figures."""
    with explained(GroundwireError, TableError):
        sets = [measure_set(folder, out / folder.resolve().name) for folder in folders]
    content = {"sets": [asdict(figures) for figures in sets]}
    write_results(out, "repositories", grids(sets, RELATIONS_BUDGET), content)


def measure_set(folder: Path, work: Path) -> SetFigures:
    """All figures of one set, whose sources and index go into `work`.

    Raises GroundwireError, OSError, RuntimeError, TableError.
    """
    name, data, tables = work.name, work / "data", read_tables(folder)
    source = unpack(folder / "source.tar.gz", work)
    scope = build_index(source, name, data, DEFAULT_MODEL)
    nodes = {
        id_: Piece(node.get("path", ""), node.get("symbol", ""), node["text"])
        for id_, node in exported_nodes(name, data, work / "nodes.jsonl")
    }
    with (
        running(serve_command(data, embedder=DEFAULT_MODEL), work / "server.log") as server,
        GroundwireClient(server.address, timeout=_CALL_SECONDS) as client,
    ):
        compared = {**rankings(client, scope, nodes), BASELINE: _baseline(source)}
        subjects = [(change, Question(change.text, ())) for change in tables.changes]
        return SetFigures(
            name=name,
            nodes=len(nodes),
            rankings={
                system: [found_by(rank(question), question) for question in tables.questions]
                for system, rank in compared.items()
            },
            changes={
                system: [files_found_by(rank(subject), change) for change, subject in subjects]
                for system, rank in compared.items()
            },
            evidence=measure_evidence(client, scope, tables.questions),
            relations=measure_relations(ahead_on_server(client, scope), nodes, tables.relations),
            relations_shown=relations_shown(client, scope, tables.relations),
        )


def _baseline(source: Path) -> Ranking:
    rank = bm25_ranking(chunks_of(source), DEPTH)
    return lambda question: rank(question.text)


if __name__ == "__main__":
    typer.run(main)
