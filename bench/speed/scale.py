"""Groundwire with its index on the local disk and with the same index in Milvus, by the number of nodes."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.progress import Progress

from bench.shared.programs import Memory
from bench.shared.results import ABSENT, Grid, write_results
from bench.speed.comparison import Comparison, Plan, Series, compare
from bench.speed.corpus import Corpus
from bench.speed.footprint import Footprint
from bench.speed.footprint import grid as footprint_grid
from bench.speed.index import build_seconds, ensure_index
from bench.speed.milvus import Milvus, address_of, bytes_a_node, ensure_published, milvus_lite, serve_options
from bench.speed.plot import plot_scale
from bench.speed.report import notes
from bench.speed.requests import Requests, count_requests
from bench.speed.systems import own_system

EMBEDDED, ON_MILVUS = "embedded", "on Milvus"
_EMBEDDED = own_system(EMBEDDED, "groundwire")
_MEBIBYTE, _KIBIBYTE = 1 << 20, 1 << 10


@dataclass(frozen=True, slots=True)
class InMilvus:
    """The costs of an index in Milvus: seconds of each stage of its publication, the bytes of a node, and of calls.

    `idle` is the memory of Milvus before it was asked anything, `used` that after all calls; both, and its files, are
    None if it runs elsewhere.
    """

    published: Mapping[str, float]
    bytes_a_node: Mapping[str, float]
    file_bytes: int | None
    idle: Memory | None
    used: Memory | None
    requests: Sequence[Requests]


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


def measure_alone(corpus: Corpus, plan: Plan, work: Path, progress: Progress) -> Size:
    """Calls Groundwire over the local index alone. Raises IngestError."""
    return _size(corpus, compare([_EMBEDDED], corpus, plan, work, progress), None)


def measure_both(corpus: Corpus, plan: Plan, milvus: Milvus | None, work: Path, progress: Progress) -> Size:
    """Calls Groundwire over both indexes in turn. Without a `milvus`, milvus-lite is run for it.

    Raises IngestError, StorageUnavailableError and RuntimeError.
    """
    with _running(milvus, corpus) as writing:
        published = ensure_published(corpus, writing)
    # What publishing takes is not counted as memory of serving.
    with _running(milvus, corpus) as serving:
        idle, address = serving.memory, address_of(corpus, serving)
        on_milvus = own_system(ON_MILVUS, "groundwire", serve_options(address, work / "milvus.yaml"))
        comparison = compare([_EMBEDDED, on_milvus], corpus, plan, work, progress)
        used = serving.memory
        requests = count_requests(corpus, address, plan.scenarios, plan.calls, work)
        held = InMilvus(published, bytes_a_node(address), serving.file_bytes, idle, used, requests)
        return _size(corpus, comparison, held)


def _running(milvus: Milvus | None, corpus: Corpus) -> AbstractContextManager[Milvus]:
    return milvus_lite(corpus.folder / "milvus-lite") if milvus is None else nullcontext(milvus)


def _size(corpus: Corpus, comparison: Comparison, in_milvus: InMilvus | None) -> Size:
    files = [path for path in ensure_index(corpus).rglob("*") if path.is_file()]
    return Size(comparison, sum(path.stat().st_size for path in files), build_seconds(corpus), in_milvus)


def write_scale(out: Path, sizes: Sequence[Size], footprints: Sequence[Footprint]) -> None:
    """Writes `scale`: the calls of each size, its costs, requests to Milvus, and a server's start and memory."""
    tables = [*(grid for size in sizes for grid in _calls(size)), _costs(sizes)]
    for size in sizes:
        if size.in_milvus:
            tables += [_bytes(size, size.in_milvus), _requests(size, size.in_milvus)]
    content = {"sizes": [asdict(one) for one in sizes], "starts": [asdict(one) for one in footprints]}
    write_results(out, "scale", [*tables, footprint_grid(footprints)], content, _notes(sizes))
    medians: dict[str, list[tuple[int, float]]] = {}
    for size in sizes:
        for one in size.comparison.series:
            if one.times and one.clients == 1:
                medians.setdefault(f"{one.scenario}, {one.system}", []).append((size.nodes, one.times.median))
    plot_scale(out / "scale.png", "Median over the wire, one client", medians)


def _notes(sizes: Sequence[Size]) -> str:
    return "".join(f"\n{size.nodes:,} nodes\n\n{notes(size.comparison)}" for size in sizes)


def _calls(size: Size) -> Iterator[Grid]:
    """For each number of clients: both systems' times, and whether the nodes are right."""
    series = {(one.system, one.scenario, one.clients): one for one in size.comparison.series}
    for clients in sorted({number for _, _, number in series}):
        own = [one for one in series.values() if (one.system, one.clients) == (EMBEDDED, clients)]
        pairs = [(one, series.get((ON_MILVUS, one.scenario, clients))) for one in own]
        rows = [[one.scenario, *_side(one), *_beside(one, other)] for one, other in pairs]
        title = f"Embedded and on Milvus, ms: {size.nodes:,} nodes, {clients} client{'s' if clients > 1 else ''}"
        sides = [f"{side} {what}" for side in (EMBEDDED, ON_MILVUS) for what in ("p50", "p95", "calls/s")]
        yield Grid(title, ["call", *sides, "p50 ratio", "recall@10", "same answers"], rows)


def _side(series: Series | None) -> list[str]:
    if series is None or series.times is None:
        return [ABSENT] * 3
    return [f"{series.times.median:,.2f}", f"{series.times.p95:,.2f}", f"{series.calls_per_second or 0.0:,.1f}"]


def _beside(embedded: Series, on_milvus: Series | None) -> list[str]:
    """The other side; then the ratio of medians, both recalls, and the share of answers in common."""
    recalls = [f"{one.recall:.3f}" for one in (embedded, on_milvus) if one and one.recall is not None]
    told = [" ".join(recalls) or ABSENT, ABSENT]
    if on_milvus is None or on_milvus.times is None or embedded.times is None:
        return [*_side(on_milvus), ABSENT, *told]
    told[1] = ABSENT if on_milvus.agreement is None else f"{on_milvus.agreement:.3f}"
    return [*_side(on_milvus), f"{on_milvus.times.median / embedded.times.median:.1f}", *told]


def _costs(sizes: Sequence[Size]) -> Grid:
    headings = [
        "index",
        "build s",
        "publish s",
        "files MiB",
        "bytes a node",
        "server MiB",
        "Milvus MiB",
        "bytes a node",
    ]
    rows = [row for size in sizes for row in _costs_of(size)]
    return Grid("Build, files and private memory; that of Milvus above what it takes idle", headings, rows)


def _costs_of(size: Size) -> Iterator[list[str]]:
    private = {name: used.private for name, used in size.comparison.memory.items()}
    built = ABSENT if size.build_seconds is None else f"{size.build_seconds:,.0f}"
    files, server = _amount(size.index_bytes, size.nodes), _mebibytes(private.get(EMBEDDED))
    yield [f"{size.nodes:,} nodes, {EMBEDDED}", built, ABSENT, *files, server, ABSENT, ABSENT]
    if size.in_milvus:
        one = size.in_milvus
        published = f"{sum(one.published.values()):,.0f}"
        files, server = _amount(one.file_bytes, size.nodes), _mebibytes(private.get(ON_MILVUS))
        held = one.used.private - one.idle.private if one.used and one.idle else None
        yield [f"{size.nodes:,} nodes, {ON_MILVUS}", built, published, *files, server, *_amount(held, size.nodes)]


def _amount(size: int | None, nodes: int) -> tuple[str, str]:
    return (ABSENT, ABSENT) if size is None else (_mebibytes(size), f"{size / nodes:,.0f}")


def _mebibytes(size: int | None) -> str:
    return ABSENT if size is None else f"{size / _MEBIBYTE:,.0f}"


def _bytes(size: Size, found: InMilvus) -> Grid:
    rows = [[purpose, f"{count:,.0f}"] for purpose, count in found.bytes_a_node.items()]
    return Grid(f"Bytes of a node in Milvus, uncompressed: {size.nodes:,} nodes", ["for", "bytes"], rows)


def _requests(size: Size, found: InMilvus) -> Grid:
    rows = [
        [
            one.scenario,
            f"{one.searches:.1f}",
            f"{one.queries:.1f}",
            f"{one.sent / _KIBIBYTE:,.1f}",
            f"{one.received / _KIBIBYTE:,.1f}",
        ]
        for one in found.requests
    ]
    headings = ["call", "searches", "queries", "KiB sent", "KiB received"]
    return Grid(f"Requests of one call to Milvus: {size.nodes:,} nodes", headings, rows)
