"""`python -m bench`: the speed of calls by the number of nodes, and the cost of builds. See `README.md`."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer
from rich.progress import Progress

from bench.peers.comparison import choose_peers, compare_peers
from bench.shared.programs import trees
from bench.shared.results import console, explained, write_results
from bench.speed.between import grid as between_grid
from bench.speed.between import measure_between
from bench.speed.calls import SCENARIOS, USUAL, Scenario
from bench.speed.comparison import Plan
from bench.speed.corpus import Corpus
from bench.speed.edits import grid as edits_grid
from bench.speed.edits import measure_edits
from bench.speed.footprint import measure_footprint
from bench.speed.index import ensure_index, write_source
from bench.speed.ingest import grid as ingest_grid
from bench.speed.ingest import measure_ingest
from bench.speed.installation import grid as installation_grid
from bench.speed.installation import measure_installation
from bench.speed.lines import grid as lines_grid
from bench.speed.lines import measure_lines
from bench.speed.milvus import Milvus
from bench.speed.publishing import grid as publishing_grid
from bench.speed.publishing import measure_publishing
from bench.speed.scale import measure_size, write_scale
from bench.speed.several import grid as several_grid
from bench.speed.several import measure_several
from bench.speed.synthesis import Shape, write_corpus
from groundwire_ingest.ingest_errors import IngestError
from groundwire_milvus.storage_errors import StorageUnavailableError
from groundwire_object_storage.object_folder import ObjectStorageError

_ERRORS = (IngestError, ObjectStorageError, StorageUnavailableError)
SIZES = (20_000, 200_000, 1_000_000)
QUESTIONS = ("how is a request answered?", "where is the configuration read?", "what writes to the store?")

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None)
Out = Annotated[Path, typer.Option(help="The folder for corpora, indexes and results.")]
Nodes = Annotated[int, typer.Option(min=100, help="How many nodes the synthetic corpus has.")]
Embedder = Annotated[str, typer.Option(help="As `groundwire index` takes it.")]
Tree = Annotated[
    Path | None, typer.Option(help="Another source tree, the base of the ratios.", exists=True, file_okay=False)
]


@app.command()
def scale(
    out: Out,
    nodes: Annotated[list[int] | None, typer.Option(min=100, help="Sizes of corpora; repeat it for more.")] = None,
    milvus: Annotated[str, typer.Option(help="A running Milvus, http://HOST:PORT; else milvus-lite is run.")] = "",
    milvus_process: Annotated[int | None, typer.Option(help="Its process, if it runs here: for its memory.")] = None,
    milvus_nodes: Annotated[int, typer.Option(min=0, help="The largest corpus that is put into Milvus.")] = SIZES[1],
    workers: Annotated[list[int] | None, typer.Option(help="Workers of the servers whose memory is measured.")] = None,
    clients: Annotated[list[int] | None, typer.Option(help="Clients at a time; repeat it for more.")] = None,
    rounds: Annotated[int, typer.Option(min=1, help="How often both servers have their turn.")] = 4,
    calls: Annotated[int, typer.Option(min=1, help="Calls of each kind and turn; at least ten a client.")] = 50,
    only: Annotated[
        list[str] | None, typer.Option(help="A call to measure, by its name; repeat it. The usual ones unless given.")
    ] = None,
) -> None:
    """Groundwire over a local index and over the same one in Milvus, by the number of nodes; start and memory."""
    with explained(*_ERRORS), Progress(console=console, transient=True) as progress:
        plan = Plan(_chosen(only) if only else USUAL, clients or (1, 8), rounds, calls)
        given = Milvus(milvus, milvus_process, None) if milvus else None
        sizes, footprints = [], []
        for size in nodes or SIZES:
            corpus, work = _corpus(out, size, progress), out / f"run-{size}"
            footprints += [measure_footprint(corpus, count, count == 1, work) for count in workers or (1, 4)]
            footprints.append(measure_footprint(corpus, 1, False, work))
            sizes.append(measure_size(corpus, plan, given, size <= milvus_nodes, work, progress))
        write_scale(out, sizes, footprints)


@app.command()
def several(
    out: Out,
    nodes: Nodes = SIZES[0],
    repositories: Annotated[list[int] | None, typer.Option(min=2, max=200, help="Splits; repeat it for more.")] = None,
    rounds: Annotated[int, typer.Option(min=1, help="Calls of each kind and split.")] = 40,
) -> None:
    """Calls about several repositories together, by how many the same nodes are split into."""
    with explained(*_ERRORS), Progress(console=console, transient=True) as progress:
        corpus, counts = _corpus(out, nodes, progress), repositories or (2, 20, 200)
        medians = measure_several(corpus, counts, rounds, out / f"run-several-{nodes}")
        write_results(out, f"several-{nodes}", [several_grid(corpus, counts, medians)], {"milliseconds": medians})


@app.command()
def between(
    out: Out,
    source: Annotated[
        list[Path], typer.Option(help="A folder of source code; two or more.", exists=True, file_okay=False)
    ],
    text: Annotated[list[str] | None, typer.Option(help="What queries ask for; repeat it for more.")] = None,
    rounds: Annotated[int, typer.Option(min=2, help="Calls of each kind and index.")] = 40,
) -> None:
    """Walks and queries over repositories with edges between them, over one index of all, and without such edges."""
    with explained(*_ERRORS):
        costs = measure_between(source, text or QUESTIONS, rounds, out / "run-between")
        names = " and ".join(path.resolve().name for path in source)
        write_results(out, "between", [between_grid(costs, names)], asdict(costs))


@app.command()
def ingest(
    out: Out,
    nodes: Nodes = SIZES[0],
    embedder: Embedder = "none",
    source: Annotated[
        Path | None, typer.Option(help="A folder to index in place of synthetic nodes.", exists=True)
    ] = None,
    tree: Tree = None,
    rounds: Annotated[int, typer.Option(min=1, help="How often each tree builds; figures are medians.")] = 1,
) -> None:
    """Time, memory and disk of a first build and of one of an unchanged source."""
    with explained(*_ERRORS), TemporaryDirectory() as folder:
        written = Path(folder, "synthetic.jsonl")
        if source is None:
            write_source(written, write_corpus(out / f"corpus-{nodes}", Shape(nodes)))
        what = f"{nodes} synthetic nodes" if source is None else source.name
        costs = measure_ingest(source or written, embedder, rounds, tree)
        table = ingest_grid(costs, f"Building {what}, embedder {embedder}")
        name = f"ingest-{what.replace(' ', '-')}-{Path(embedder).name}"
        write_results(out, name, [table], {build: asdict(cost) for build, cost in costs.items()})


@app.command()
def edits(
    out: Out,
    source: Annotated[Path, typer.Option(help="A folder of source code; it is copied.", exists=True, file_okay=False)],
    embedder: Embedder = "none",
    rounds: Annotated[int, typer.Option(min=1, help="How many edits; figures are medians.")] = 5,
) -> None:
    """Builds after the edit of one file, by an indexer that follows changes and by a new one, and of other branches."""
    with explained(*_ERRORS):
        seconds = measure_edits(source, embedder, rounds)
        table = edits_grid(seconds, f"{source.name}, one file edited, embedder {embedder}")
        write_results(out, f"edits-{source.name}", [table], seconds)


@app.command()
def peers(
    out: Out,
    nodes: Nodes = SIZES[0],
    queries: Annotated[
        int, typer.Option(min=5, help="How many queries; each is asked once in each kind of call.")
    ] = 500,
    peers: Annotated[
        list[str] | None, typer.Option(help="A peer to compare, by its name; repeat it. All unless given.")
    ] = None,
) -> None:
    """Groundwire and other stores over the same vectors, texts and access tags, next to the cost of a bare call."""
    with explained(*_ERRORS), Progress(console=console, transient=True) as progress:
        chosen = choose_peers(peers or ())
        corpus = write_corpus(out / f"corpus-{nodes}-{queries}", Shape(nodes, queries=queries))
        compare_peers(out, corpus, chosen, progress)


@app.command()
def lines(
    out: Out,
    source: Annotated[Path, typer.Option(help="A folder of source code.", exists=True, file_okay=False)],
    literals: Annotated[int, typer.Option(min=1, help="How many words of the files are searched for.")] = 20,
    rounds: Annotated[int, typer.Option(min=1, help="How often each is searched for.")] = 5,
) -> None:
    """Exact search (SearchText) beside ripgrep on one core."""
    with explained(*_ERRORS):
        milliseconds = measure_lines(source, literals, rounds, out / "run-lines")
        table = lines_grid(milliseconds, f"Lines of {source.name}")
        write_results(out, f"lines-{source.name}", [table], milliseconds)


@app.command()
def publishing(
    out: Out,
    source: Annotated[Path, typer.Option(help="A folder of source code.", exists=True, file_okay=False)],
    rounds: Annotated[int, typer.Option(min=1, help="How often each is done.")] = 5,
) -> None:
    """Publishing a version to object storage and taking it from there, beside a copy of its folder."""
    with explained(*_ERRORS):
        costs = measure_publishing(source, rounds, out / "run-publishing")
        table = publishing_grid(costs, f"The index of {source.resolve().name}")
        write_results(out, f"publishing-{source.resolve().name}", [table], asdict(costs))


@app.command()
def installation(out: Out, tree: Tree = None) -> None:
    """The size of an installation for serving, and the time until a fresh one first answers."""
    with explained():
        measured = {name: measure_installation(each, out / f"run-{name}") for name, each in trees(tree).items()}
        content = {name: asdict(installed) for name, installed in measured.items()}
        write_results(out, "installation", [installation_grid(measured)], content)


def _chosen(names: Sequence[str]) -> Sequence[Scenario]:
    known = {str(scenario): scenario for scenario in SCENARIOS}
    if unknown := [name for name in names if name not in known]:
        raise typer.BadParameter(f"{', '.join(unknown)}: must be among {'; '.join(known)}", param_hint="--only")
    return [known[name] for name in names]


def _corpus(out: Path, nodes: int, progress: Progress) -> Corpus:
    task = progress.add_task(f"corpus and index of {nodes:,} nodes", total=None)
    corpus = write_corpus(out / f"corpus-{nodes}", Shape(nodes))
    ensure_index(corpus)
    progress.remove_task(task)
    return corpus


if __name__ == "__main__":
    app()
