"""Groundwire with its index on the local disk and with the same index in Milvus, by the number of nodes."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.progress import Progress

from bench.shared.programs import Memory, folder_bytes, memory, running, serve_command
from bench.shared.results import ABSENT, MEBIBYTE, Grid, write_results
from bench.speed.comparison import Plan, Series, compare, mean
from bench.speed.corpus import Corpus
from bench.speed.footprint import Footprint
from bench.speed.footprint import grid as footprint_grid
from bench.speed.index import build_seconds, ensure_index
from bench.speed.milvus import Milvus, ensure_published, milvus_lite, serve_from

EMBEDDED, ON_MILVUS = "embedded", "on Milvus"


@dataclass(frozen=True, slots=True)
class InMilvus:
    """The costs of an index in Milvus: seconds of each stage of its publication, files and memory.

    `idle` is the memory of Milvus before it was asked anything, `used` that after all calls; both, and its files, are
    None if it runs elsewhere.
    """

    published: Mapping[str, float]
    file_bytes: int | None
    idle: Memory | None
    used: Memory | None


@dataclass(frozen=True, slots=True)
class Size:
    """One corpus: its calls, the servers' memory after all of them, and the costs of its indexes."""

    nodes: int
    series: Sequence[Series]
    memory: Mapping[str, Memory]
    index_bytes: int
    build_seconds: float
    in_milvus: InMilvus | None


def measure_size(
    corpus: Corpus, plan: Plan, milvus: Milvus | None, with_milvus: bool, work: Path, progress: Progress
) -> Size:
    """Calls Groundwire over the local index, in turn with the one in Milvus if that is wanted.

    Without a running `milvus`, milvus-lite is run. Raises IngestError, StorageUnavailableError and RuntimeError.
    """
    data = ensure_index(corpus)
    lite = corpus.folder / "milvus-lite"
    commands = {EMBEDDED: serve_command(data)}
    serving: Milvus | None = None
    published: Mapping[str, float] = {}
    idle: Memory | None = None
    with ExitStack() as stack:
        if with_milvus:
            # Another process than that which serves, so that publishing does not count as memory of serving.
            with nullcontext(milvus) if milvus else milvus_lite(lite) as writing:
                published = ensure_published(corpus, writing)
            serving = milvus or stack.enter_context(milvus_lite(lite))
            idle = serving.memory
            commands[ON_MILVUS] = serve_from(corpus, serving, data)
        servers = {
            name: stack.enter_context(running(command, work / f"{name}.log")) for name, command in commands.items()
        }
        series = compare(servers, corpus, plan, progress)
        used = {name: memory(server.process) for name, server in servers.items()}
        in_milvus = InMilvus(published, serving.file_bytes, idle, serving.memory) if serving else None
    return Size(len(corpus), series, used, folder_bytes(data), build_seconds(corpus), in_milvus)


def write_scale(out: Path, sizes: Sequence[Size], footprints: Sequence[Footprint]) -> None:
    """Writes `scale`: the calls of each size, its costs, and a server's start and memory."""
    tables = [*(grid for size in sizes for grid in _calls(size)), _costs(sizes)]
    figures = [{**asdict(size), "series": [item.figures() for item in size.series]} for size in sizes]
    content = {"sizes": figures, "starts": [asdict(item) for item in footprints]}
    failed = [(size.nodes, item) for size in sizes for item in size.series if item.problem]
    notes = "".join(f"- {nodes:,} nodes, {item.server}, {item.scenario}: {item.problem}\n" for nodes, item in failed)
    write_results(out, "scale", [*tables, footprint_grid(footprints)], content, notes)


def _calls(size: Size) -> Iterator[Grid]:
    """For each number of clients: the servers' times, and whether the nodes are right."""
    servers = list(size.memory)
    for clients in sorted({series.clients for series in size.series}):
        rows: dict[str, list[Series]] = {}
        for series in size.series:
            if series.clients == clients:
                rows.setdefault(series.scenario, []).append(series)
        what = ("p50", "p95", "p99", "calls/s", "recall@10", "p50 ratio", "same answers")
        # The first server is the base of ratios and answers.
        headings = [f"{server} {name}" for server in servers for name in (what[:5] if server == EMBEDDED else what)]
        cells = [
            [name, *(cell for series in series_of_row for cell in _cells(series, series_of_row[0]))]
            for name, series_of_row in rows.items()
        ]
        title = f"Calls, ms: {size.nodes:,} nodes, {clients} client{'s' if clients > 1 else ''}"
        yield Grid(title, ["call", *headings], cells)


def _cells(series: Series, base: Series) -> list[str]:
    if series.problem:
        return [ABSENT] * (5 if series is base else 7)
    cells = [*(f"{value:,.2f}" for value in series.percentiles), f"{series.rate:,.1f}", _share(mean(series.recalls))]
    if series is base:
        return cells
    ratio = ABSENT if base.problem else f"{series.percentiles[0] / base.percentiles[0]:.1f}"
    return [*cells, ratio, _share(mean(series.agreements))]


def _share(value: float | None) -> str:
    return ABSENT if value is None else f"{value:.3f}"


def _costs(sizes: Sequence[Size]) -> Grid:
    columns = ("build s", "publish s", "files MiB", "bytes a node", "server MiB", "Milvus MiB", "bytes a node")
    rows = []
    for size in sizes:
        built, private = f"{size.build_seconds:,.0f}", {name: used.private for name, used in size.memory.items()}
        server = _amount(private[EMBEDDED], size.nodes)[0]
        local = [built, ABSENT, *_amount(size.index_bytes, size.nodes), server, ABSENT, ABSENT]
        rows.append([f"{size.nodes:,} nodes, {EMBEDDED}", *local])
        if costs := size.in_milvus:
            published, server = f"{sum(costs.published.values()):,.0f}", _amount(private[ON_MILVUS], size.nodes)[0]
            held = costs.used.private - costs.idle.private if costs.used and costs.idle else None
            files, inside = _amount(costs.file_bytes, size.nodes), _amount(held, size.nodes)
            rows.append([f"{size.nodes:,} nodes, {ON_MILVUS}", built, published, *files, server, *inside])
    return Grid("Build, files and private memory; that of Milvus above what it takes idle", ["index", *columns], rows)


def _amount(size: int | None, nodes: int) -> tuple[str, str]:
    return (ABSENT, ABSENT) if size is None else (f"{size / MEBIBYTE:,.0f}", f"{size / nodes:,.0f}")
