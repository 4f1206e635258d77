"""`python -m bench`: latency beside peers, throughput, scale, text queries, ingestion. See `README.md`."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer
from rich.progress import Progress

from bench.peers.environments import PEERS, InstallError, install, installed
from bench.quality.sets import SetError, read_corpus, read_queries
from bench.shared.results import console, explained, write_results
from bench.speed import throughput as loads
from bench.speed.comparison import Plan, compare
from bench.speed.corpus import Corpus
from bench.speed.footprint import measure_footprint
from bench.speed.index import ensure_index
from bench.speed.ingest import grid as ingest_grid
from bench.speed.ingest import measure_ingest, trees, write_source
from bench.speed.installation import grid as installation_grid
from bench.speed.installation import measure_installation
from bench.speed.milvus import Milvus
from bench.speed.plot import plot_throughput
from bench.speed.protocol import Scenario, UnsupportedError
from bench.speed.report import GROUNDWIRE, write_latency
from bench.speed.scale import measure_alone, measure_both, write_scale
from bench.speed.scenarios import SCENARIOS
from bench.speed.semantic_paths import measure_paths
from bench.speed.synthesis import Shape, write_corpus
from bench.speed.systems import AdapterError, own_system
from bench.speed.text_queries import grid as text_grid
from bench.speed.text_queries import measure_text_queries
from groundwire_index.embedding.model_names import DEFAULT_MODEL
from groundwire_index.milvus.errors import StorageUnavailableError
from groundwire_ingest.errors import IngestError

_ERRORS = (AdapterError, IngestError, SetError, StorageUnavailableError, UnsupportedError)
SIZES = (20_000, 200_000, 1_000_000)
_OWN = own_system(GROUNDWIRE, "groundwire")

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None)
peers_app = typer.Typer(no_args_is_help=True)
app.add_typer(peers_app, name="peers", help="The systems that Groundwire is compared with.")
Out = Annotated[Path, typer.Option(help="The folder for corpora, indexes and results.")]
Nodes = Annotated[int, typer.Option(min=100, help="How many nodes the synthetic corpus has.")]
Clients = Annotated[list[int] | None, typer.Option("--clients", help="Clients at a time; repeat it for more.")]
Classes = Annotated[int, typer.Option(min=1, help="How many policy classes the corpus has.")]
Rounds = Annotated[int, typer.Option(min=1, help="How often every system has its turn.")]
Calls = Annotated[int, typer.Option(min=1, help="Calls of each kind, system and turn; at least ten a client.")]
Tree = Annotated[
    Path | None, typer.Option(help="Another source tree, the base of the ratios.", exists=True, file_okay=False)
]
Only = Annotated[list[str] | None, typer.Option("--only", help="Calls to measure, by their name; all unless given.")]


@app.command()
def latency(
    out: Out,
    nodes: Nodes = SIZES[0],
    policy_classes: Classes = 1_000,
    peers: Annotated[Path | None, typer.Option(help="Where `peers install` put them; without it, none.")] = None,
    clients: Clients = None,
    rounds: Rounds = 4,
    calls: Calls = 50,
    only: Only = None,
) -> None:
    """Median, p95 and p99 of every call, compared with other systems, and recall@10."""
    with explained(*_ERRORS), Progress(console=console, transient=True) as progress:
        scenarios = _chosen(only, SCENARIOS)
        corpus = _corpus(out, nodes, policy_classes, progress)
        systems = [_OWN, *(installed(peers) if peers else ())]
        plan = Plan(scenarios, clients or (1, 8), rounds, calls)
        comparison = compare(systems, corpus, plan, out / f"run-{nodes}", progress)
        write_latency(out, f"latency-{nodes}", comparison, plan)


@app.command()
def throughput(
    out: Out,
    nodes: Nodes = SIZES[0],
    policy_classes: Classes = 1_000,
    workers: Annotated[list[int] | None, typer.Option(help="Workers of a server; repeat it for more servers.")] = None,
    clients: Clients = None,
    seconds: Annotated[float, typer.Option(min=0.1, help="How long each load lasts.")] = 3.0,
    only: Only = None,
) -> None:
    """Calls per second of closed loops, with the CPU time per call of server and clients."""
    with explained(*_ERRORS), Progress(console=console, transient=True) as progress:
        scenarios = _chosen(only, loads.KINDS)
        corpus = _corpus(out, nodes, policy_classes, progress)
        measured = loads.measure_throughput(
            corpus,
            workers or (1, 2),
            scenarios,
            clients or (1, 2, 4, 8, 16, 32),
            seconds,
            out / f"run-{nodes}",
            progress,
        )
        name = f"throughput-{nodes}"
        content = {"loads": [{**asdict(load), "capacity": load.capacity} for load in measured], "corpus": corpus.shape}
        write_results(out, name, loads.grids(measured, nodes), content)
        plot_throughput(out / f"{name}.png", f"Closed loops over the wire, {nodes:,} nodes", measured)


@app.command()
def scale(
    out: Out,
    nodes: Annotated[list[int] | None, typer.Option(min=100, help="Sizes of corpora; repeat it for more.")] = None,
    policy_classes: Classes = 1_000,
    milvus: Annotated[str, typer.Option(help="A running Milvus, http://HOST:PORT; else milvus-lite is run.")] = "",
    milvus_process: Annotated[int | None, typer.Option(help="Its process, if it runs here: for its memory.")] = None,
    milvus_nodes: Annotated[int, typer.Option(min=0, help="The largest corpus that is put into Milvus.")] = SIZES[1],
    workers: Annotated[list[int] | None, typer.Option(help="Workers of the servers whose memory is told.")] = None,
    clients: Clients = None,
    rounds: Rounds = 4,
    calls: Calls = 50,
    only: Only = None,
) -> None:
    """Groundwire over a local index and over the same one in Milvus, by the number of nodes; start and memory."""
    with explained(*_ERRORS), Progress(console=console, transient=True) as progress:
        plan = Plan(_chosen(only, SCENARIOS) if only else loads.KINDS, clients or (1, 8), rounds, calls)
        given = Milvus(milvus, milvus_process, None) if milvus else None
        sizes, footprints = [], []
        for size in nodes or SIZES:
            corpus = _corpus(out, size, policy_classes, progress)
            work = out / f"run-{size}"
            footprints += [measure_footprint(corpus, count, count == 1, work) for count in workers or (1, 4)]
            footprints.append(measure_footprint(corpus, 1, False, work))
            if size <= milvus_nodes:
                sizes.append(measure_both(corpus, plan, given, work, progress))
            else:
                sizes.append(measure_alone(corpus, plan, work, progress))
        write_scale(out, sizes, footprints)


@app.command()
def text(
    corpus_file: Annotated[Path, typer.Argument(help="`id` and `text`, one document a line.")],
    queries_file: Annotated[Path, typer.Argument(help="`query` and its `relevant` ids, one a line.")],
    out: Out,
    embedder: Annotated[str, typer.Option(help="As `groundwire index` takes it.")] = DEFAULT_MODEL,
    clients: Clients = None,
    rounds: Rounds = 3,
    queries: Annotated[int, typer.Option(min=10, help="How many of the queries are asked.")] = 300,
) -> None:
    """Text queries over the wire, which the server embeds; none is in a cache."""
    with explained(*_ERRORS), Progress(console=console, transient=True) as progress:
        corpus = read_corpus(corpus_file)
        asked = read_queries(queries_file, corpus)[:queries]
        texts = [one.query for one in asked]
        work = out / "run-text"
        loads = measure_text_queries(corpus, texts, embedder, clients or (1, 32), rounds, work, progress)
        write_results(out, "text", [text_grid(loads, len(corpus))], {"loads": [asdict(one) for one in loads]})


@app.command()
def ingest(
    out: Out,
    nodes: Nodes = SIZES[0],
    words: Annotated[int, typer.Option(min=5, help="How many words a text has in the median.")] = 80,
    embedder: Annotated[str, typer.Option(help="As `groundwire index` takes it.")] = "none",
    source: Annotated[Path | None, typer.Option(help="What to index in place of synthetic code.", exists=True)] = None,
    tree: Tree = None,
    rounds: Annotated[int, typer.Option(min=1, help="How often each tree builds; figures are medians.")] = 1,
) -> None:
    """Time, memory and disk of a first build and of one of an unchanged source."""
    with explained(*_ERRORS), TemporaryDirectory() as folder:
        made = Path(folder, "source.jsonl")
        what = write_source(made, nodes, words) if source is None else source.name
        costs = measure_ingest(source or made, embedder, rounds, tree)
        name = f"ingest-{nodes if source is None else source.name}-{Path(embedder).name}"
        table = ingest_grid(costs, f"Building {what}, embedder {embedder}")
        write_results(out, name, [table], {build: asdict(cost) for build, cost in costs.items()})


@app.command()
def paths(out: Out, nodes: Nodes = SIZES[-1], policy_classes: Classes = 1_000, queries: Calls = 50) -> None:
    """The cost of each path of a semantic search, in process, by how many rows are visible."""
    with explained(*_ERRORS), Progress(console=console, transient=True) as progress:
        table = measure_paths(_corpus(out, nodes, policy_classes, progress), queries)
        write_results(out, f"paths-{nodes}", [table], {"rows": table.rows})


@app.command()
def installation(out: Out, tree: Tree = None) -> None:
    """The size of an installation for serving, and the time until a fresh one first answers."""
    with explained(*_ERRORS):
        found = {name: measure_installation(each, out / f"run-{name}") for name, each in trees(tree).items()}
        content = {name: asdict(one) for name, one in found.items()}
        write_results(out, "installation", [installation_grid(found)], content)


@peers_app.command("install")
def install_peers(
    folder: Annotated[Path, typer.Argument(help="Where each peer gets a virtual environment of its own.")],
    only: Annotated[list[str] | None, typer.Option("--only", help="A peer to install; all unless given.")] = None,
) -> None:
    """Install the systems to compare with, in exact versions, each into an environment of its own."""
    failed = False
    for peer in PEERS:
        if only and peer.name not in only:
            continue
        console.print(f"installing {peer.name}: {', '.join(peer.packages)}", markup=False)
        try:
            install(folder, peer)
        except InstallError as error:
            failed = True
            console.print(str(error), style="red", markup=False)
    raise typer.Exit(1 if failed else 0)


def _chosen(names: Sequence[str] | None, possible: Sequence[Scenario]) -> Sequence[Scenario]:
    known = {str(scenario): scenario for scenario in possible}
    unknown = [name for name in names or () if name not in known]
    if unknown:
        raise typer.BadParameter(f"{', '.join(unknown)}: must be among {'; '.join(known)}", param_hint="--only")
    return [known[name] for name in names] if names else possible


def _corpus(out: Path, nodes: int, policy_classes: int, progress: Progress) -> Corpus:
    task = progress.add_task(f"corpus and index of {nodes:,} nodes", total=None)
    corpus = write_corpus(out / f"corpus-{nodes}-{policy_classes}", Shape(nodes, policy_classes=policy_classes))
    ensure_index(corpus)
    progress.remove_task(task)
    return corpus


if __name__ == "__main__":
    app()
