"""`groundwire index` and `groundwire export`: from a source to an index, and from an index to JSONL."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from groundwire_index.commands.options import (
    DEFAULT_DATA,
    EXIT_USAGE,
    Branch,
    Data,
    Repository,
    checked_scope,
    fail,
    reporting_failures,
)
from groundwire_index.commands.storage import Storage, with_storage
from groundwire_index.commands.versions import catalogue_at
from groundwire_index.embedding.model_names import DEFAULT_MODEL
from groundwire_index.milvus.dense_index import DenseIndex, dense_index

if TYPE_CHECKING:
    from groundwire_index.embedding.embedder import Embedder
    from groundwire_index.milvus.address import MilvusAddress
    from groundwire_ingest.build.build import BuildReport, Destination
    from groundwire_ingest.build.progress import Progress

NO_EMBEDDER = "none"
_PATHS_SHOWN = 3


@with_storage
def index(
    source: Annotated[
        Path, typer.Argument(help="A source tree, RoslynIndexer bundle, SCIP index, Slack export or JSONL.")
    ],
    repository: Repository,
    branch: Branch,
    storage: Storage,
    version: Annotated[str, typer.Option(help="The version's name; the time of the build unless given.")] = "",
    embedder: Annotated[
        str, typer.Option(help="A sentence-transformers model by name or path; none to embed nothing.")
    ] = DEFAULT_MODEL,
    activate: Annotated[bool, typer.Option("--activate/--no-activate", help="Let the new version answer.")] = True,
    skip_dangling_edges: Annotated[
        bool, typer.Option("--skip-dangling-edges", help="Count and drop edges to nodes that are not there.")
    ] = False,
    milvus_index: Annotated[
        str,
        typer.Option(
            envvar="GROUNDWIRE_MILVUS_INDEX",
            help="How Milvus searches dense vectors. FLAT is exact. HNSW and IVF_FLAT, also with parameters "
            "(HNSW:M=32,efConstruction=360,ef=400 or IVF_FLAT:nlist=1024,nprobe=64), miss some nodes, and hidden nodes "
            "shape which.",
        ),
    ] = "FLAT",
) -> None:
    """Build an index version from SOURCE, publish it, and let it answer.

    For Milvus it is built in the data folder first, which keeps the embeddings and encoders in any case.
    """
    name = version or datetime.now(UTC).strftime("%Y-%m-%d_%H%M%S")
    scope = checked_scope(repository, branch, name)
    dense = _checked_index(milvus_index, storage)
    with reporting_failures("index"):
        from groundwire_index.store.store import IndexStore
        from groundwire_index.store.writer import SKIPPED_FILE
        from groundwire_ingest.build.build import BuildOptions, build_index
        from groundwire_ingest.commands.progress import TerminalProgress
        from groundwire_ingest.recognise import recognise

        progress = TerminalProgress()
        options = BuildOptions(
            data=storage.data,
            scope=scope,
            embedder=None if embedder == NO_EMBEDDER else _load_embedder(embedder, progress),
            activate=activate,
            skip_dangling_edges=skip_dangling_edges,
        )
        destination = None if storage.milvus is None else _milvus(storage.data, storage.milvus, progress, dense)
        report = build_index(recognise(source), options, progress, destination)
        # In Milvus there is no such file.
        skipped_file = None if destination else IndexStore(storage.data).directory(scope) / SKIPPED_FILE
    _print_report(report, skipped_file)


def _checked_index(asked: str, storage: Storage) -> DenseIndex:
    try:
        index = dense_index(asked)
    except ValueError as error:
        fail(f"--milvus-index: {error}", EXIT_USAGE)
    if storage.milvus is None and not index.is_exact:
        fail("--milvus-index must be FLAT without --backend milvus", EXIT_USAGE)
    return index


def _milvus(data: Path, address: "MilvusAddress", progress: "Progress", index: DenseIndex) -> "Destination":
    from groundwire_ingest.milvus.destination import MilvusDestination

    return MilvusDestination(data, catalogue_at(address), progress, dense_index=index)


def _load_embedder(model: str, progress: "Progress") -> "Embedder":
    with progress.stage("Loading model") as report:
        from groundwire_ingest.embedding.load import load_embedder

        embedder = load_embedder(model)
        report(1, 1)
    return embedder


def export(
    repository: Repository,
    branch: Branch,
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write; - for standard output.")],
    version: Annotated[str, typer.Option(help="The version; the active one unless given.")] = "",
    data: Data = DEFAULT_DATA,
) -> None:
    """Write an index as JSONL, which `groundwire index` reads back. Includes everything, whatever its access."""
    scope = checked_scope(repository, branch, version)
    with reporting_failures("index"):
        from groundwire_ingest.jsonl.export import export_index

        count = export_index(data, scope, output)
    Console(stderr=True).print(f"{count:,} lines written to {output}")


def _print_report(report: "BuildReport", skipped_file: Path | None) -> None:
    console = Console()
    scope = report.scope
    state = "active" if report.activated else "published, not active"
    console.print(f"[bold]{scope.repository} {scope.branch} {scope.active_index}[/bold] ({state}) from {report.source}")
    table = Table("what", "count", show_header=True)
    table.columns[1].justify = "right"
    table.add_row("nodes", f"{report.node_count:,}")
    for kind, count in report.kinds:
        table.add_row(f"  {kind}", f"{count:,}")
    table.add_row("edges", f"{sum(count for _, count in report.edge_types):,}")
    for edge_type, count in report.edge_types:
        table.add_row(f"  {edge_type}", f"{count:,}")
    if report.dropped_edges:
        table.add_row("dangling edges dropped", f"{report.dropped_edges:,}")
    table.add_row("texts embedded", f"{report.embedded:,}")
    table.add_row("embeddings reused", f"{report.reused:,}")
    table.add_row("files skipped, in whole or part", f"{len(report.skipped):,}")
    console.print(table)
    by_reason: dict[str, list[str]] = {}
    for skipped in report.skipped:
        by_reason.setdefault(skipped.why, []).append(skipped.path)
    for why, paths in sorted(by_reason.items()):
        named = ", ".join(paths[:_PATHS_SHOWN]) + (", ..." if len(paths) > _PATHS_SHOWN else "")
        console.print(f"skipped {len(paths):,}: {why}: {named}", markup=False, highlight=False, soft_wrap=True)
    if report.skipped and skipped_file is not None:
        console.print(f"all of them, by name: {skipped_file}", markup=False, highlight=False, soft_wrap=True)
