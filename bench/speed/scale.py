"""Groundwire with its index on the local disk and with the same index in Milvus, by the number of nodes."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.progress import Progress

from bench.shared.programs import Memory, running, serve_command
from bench.shared.results import ABSENT, Grid, write_results
from bench.speed.comparison import Comparison, Plan, Series, compare
from bench.speed.corpus import Corpus
from bench.speed.footprint import Footprint
from bench.speed.footprint import grid as footprint_grid
from bench.speed.index import build_seconds, ensure_index
from bench.speed.milvus import Milvus, address_of, ensure_published, milvus_lite, serve_options

EMBEDDED, ON_MILVUS = "embedded", "on Milvus"
_MEBIBYTE = 1 << 20


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
    """One corpus: its calls, what the index on the local disk takes, and what the one in Milvus takes."""

    comparison: Comparison
    index_bytes: int
    build_seconds: float | None
    in_milvus: InMilvus | None

    @property
    def nodes(self) -> int:
        """How many nodes it has."""
        return self.comparison.corpus["nodes"]


def measure_size(
    corpus: Corpus, plan: Plan, milvus: Milvus | None, with_milvus: bool, work: Path, progress: Progress
) -> Size:
    """Calls Groundwire over the local index, in turn with the one in Milvus if that is wanted.

    Without a running `milvus`, milvus-lite is run. Raises IngestError, StorageUnavailableError and RuntimeError.
    """
    work.mkdir(parents=True, exist_ok=True)
    data = ensure_index(corpus)
    size = sum(path.stat().st_size for path in data.rglob("*") if path.is_file())
    lite = corpus.folder / "milvus-lite"
    published = None
    if with_milvus:
        # Another process than that which serves, so that publishing does not count as memory of serving.
        with nullcontext(milvus) if milvus else milvus_lite(lite) as writing:
            published = ensure_published(corpus, writing)
    with ExitStack() as stack:
        servers = {EMBEDDED: stack.enter_context(running(serve_command(data), work / "embedded.log"))}
        if published is None:
            return Size(compare(servers, corpus, plan, progress), size, build_seconds(corpus), None)
        serving = milvus or stack.enter_context(milvus_lite(lite))
        idle, address = serving.memory, address_of(corpus, serving)
        command = serve_command(data, serve_options(address, work / "milvus.yaml"))
        servers[ON_MILVUS] = stack.enter_context(running(command, work / "milvus.log"))
        comparison = compare(servers, corpus, plan, progress)
        used = serving.memory
        held = InMilvus(published, serving.file_bytes, idle, used)
        return Size(comparison, size, build_seconds(corpus), held)


def write_scale(out: Path, sizes: Sequence[Size], footprints: Sequence[Footprint]) -> None:
    """Writes `scale`: the calls of each size, its costs, and a server's start and memory."""
    tables = [*(grid for size in sizes for grid in _calls(size)), _costs(sizes)]
    content = {"sizes": [asdict(one) for one in sizes], "starts": [asdict(one) for one in footprints]}
    failed = [(size.nodes, one) for size in sizes for one in size.comparison.series if one.problem]
    notes = "".join(f"- {nodes:,} nodes, {one.server}, {one.scenario}: {one.problem}\n" for nodes, one in failed)
    write_results(out, "scale", [*tables, footprint_grid(footprints)], content, notes)


def _calls(size: Size) -> Iterator[Grid]:
    """For each number of clients: the servers' times, and whether the nodes are right."""
    series = {(one.server, one.scenario, one.clients): one for one in size.comparison.series}
    servers = list(dict.fromkeys(server for server, _, _ in series))
    for clients in sorted({number for _, _, number in series}):
        rows = []
        for scenario in dict.fromkeys(scenario for _, scenario, _ in series):
            own = [series[server, scenario, clients] for server in servers]
            rows.append([scenario, *(cell for one in own for cell in _cells(one, own[0]))])
        what = ("p50", "p95", "p99", "calls/s", "recall@10", "p50 ratio", "same answers")
        # The first server is the base of ratios and answers.
        headings = [f"{server} {name}" for server in servers for name in (what[:5] if server == EMBEDDED else what)]
        title = f"Calls, ms: {size.nodes:,} nodes, {clients} client{'s' if clients > 1 else ''}"
        yield Grid(title, ["call", *headings], rows)


def _cells(one: Series, base: Series) -> list[str]:
    cells = [ABSENT] * 5
    if one.times:
        percentiles = (f"{value:,.2f}" for value in (one.times.median, one.times.p95, one.times.p99))
        cells = [*percentiles, f"{one.calls_per_second:,.1f}", _share(one.recall)]
    if one is base:
        return cells
    ratio = f"{one.times.median / base.times.median:.1f}" if one.times and base.times else ABSENT
    return [*cells, ratio, _share(one.agreement)]


def _share(value: float | None) -> str:
    return ABSENT if value is None else f"{value:.3f}"


def _costs(sizes: Sequence[Size]) -> Grid:
    columns = ("build s", "publish s", "files MiB", "bytes a node", "server MiB", "Milvus MiB", "bytes a node")
    rows = [row for size in sizes for row in _costs_of(size)]
    return Grid("Build, files and private memory; that of Milvus above what it takes idle", ["index", *columns], rows)


def _costs_of(size: Size) -> Iterator[list[str]]:
    private = {name: _amount(used.private, size.nodes)[0] for name, used in size.comparison.memory.items()}
    built = ABSENT if size.build_seconds is None else f"{size.build_seconds:,.0f}"
    files = _amount(size.index_bytes, size.nodes)
    yield [f"{size.nodes:,} nodes, {EMBEDDED}", built, ABSENT, *files, private[EMBEDDED], ABSENT, ABSENT]
    if one := size.in_milvus:
        published, files = f"{sum(one.published.values()):,.0f}", _amount(one.file_bytes, size.nodes)
        held = one.used.private - one.idle.private if one.used and one.idle else None
        server = private[ON_MILVUS]
        yield [f"{size.nodes:,} nodes, {ON_MILVUS}", built, published, *files, server, *_amount(held, size.nodes)]


def _amount(size: int | None, nodes: int) -> tuple[str, str]:
    return (ABSENT, ABSENT) if size is None else (f"{size / _MEBIBYTE:,.0f}", f"{size / nodes:,.0f}")
