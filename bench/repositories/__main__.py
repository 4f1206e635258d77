"""`python -m bench.repositories`: retrieval quality on real repositories. See `bench/README.md`."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from bench.repositories.baseline import bm25_ranking, chunks_of
from bench.repositories.figures import DEPTH, files_found_by, found_by
from bench.repositories.indexing import build, unpack
from bench.repositories.relations import ahead_on_server, measure_relations
from bench.repositories.report import BASELINE, SetFigures, grids
from bench.repositories.tables import TableError, read_tables
from bench.repositories.wire import BUDGET_TOKENS, measure_evidence, rankings
from bench.shared.programs import running, serve_command
from bench.shared.results import explained, write_results
from groundwire_client import GroundwireClient, GroundwireError
from groundwire_index.embedding.model_names import DEFAULT_MODEL
from groundwire_pipelines import PipelineError

_CALL_SECONDS = 60.0

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def measure(
    folders: Annotated[
        list[Path],
        typer.Argument(help="Each holds source.tar.gz and the tables of a set.", exists=True, file_okay=False),
    ],
    out: Annotated[Path, typer.Option(help="The folder for the sources, the indexes and the results.")],
) -> None:
    """Index repositories, ask their questions, look for their relations, and write the figures."""
    with explained(GroundwireError, PipelineError, TableError):
        sets = [measure_set(folder, out / folder.resolve().name) for folder in folders]
    content = {"sets": [asdict(one) for one in sets], "budget_tokens": BUDGET_TOKENS}
    write_results(out, "repositories", grids(sets, BUDGET_TOKENS), content)


def measure_set(folder: Path, work: Path) -> SetFigures:
    """All figures of one set, whose sources and index go into `work`.

    Raises GroundwireError, OSError, PipelineError, RuntimeError, TableError.
    """
    tables = read_tables(folder)
    source = unpack(folder / "source.tar.gz", work)
    built = build(source, folder.resolve().name, work)
    chunks = chunks_of(source)
    with (
        running(serve_command(built.data, embedder=DEFAULT_MODEL), work / "server.log") as server,
        GroundwireClient(server.address, timeout=_CALL_SECONDS) as client,
    ):
        compared = {**rankings(client, built.scope, built.nodes), BASELINE: bm25_ranking(chunks, DEPTH)}
        found = {
            name: [found_by(ranking(question.text), question) for question in tables.questions]
            for name, ranking in compared.items()
        }
        changes = {
            name: [files_found_by(ranking(change.text), change) for change in tables.changes]
            for name, ranking in compared.items()
        }
        evidence = measure_evidence(client, server.address, built.scope, tables.questions)
        reached = measure_relations(ahead_on_server(client, built.scope), built.nodes, tables.relations)
    return SetFigures(
        name=folder.resolve().name,
        nodes=len(built.nodes),
        edges=built.edges,
        index_seconds=built.seconds,
        index_peak_bytes=built.peak_bytes,
        chunks=len(chunks),
        rankings=found,
        changes=changes,
        evidence=evidence,
        relations=reached,
    )


if __name__ == "__main__":
    app()
