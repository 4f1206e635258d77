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
from bench.repositories.tables import TableError, read_tables
from bench.repositories.wire import BUDGET_TOKENS, measure_evidence, rankings
from bench.shared.programs import build_index, running, serve_command
from bench.shared.results import explained, write_results
from groundwire_client import GroundwireClient, GroundwireError
from groundwire_index.embedding.model_names import DEFAULT_MODEL
from groundwire_pipelines import PipelineError

_CALL_SECONDS = 60.0


def main(
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
        compared = {**rankings(client, scope, nodes), BASELINE: bm25_ranking(chunks_of(source), DEPTH)}
        return SetFigures(
            name,
            len(nodes),
            {name: [found_by(rank(one.text), one) for one in tables.questions] for name, rank in compared.items()},
            {name: [files_found_by(rank(one.text), one) for one in tables.changes] for name, rank in compared.items()},
            measure_evidence(client, server.address, scope, tables.questions),
            measure_relations(ahead_on_server(client, scope), nodes, tables.relations),
        )


if __name__ == "__main__":
    typer.run(main)
