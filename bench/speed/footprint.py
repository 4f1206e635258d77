"""The start time and memory of a server, with one and more workers."""

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import grpc

from bench.shared.programs import Memory, memory, process_tree, running, serve_command
from bench.shared.results import Grid
from bench.speed.calls import Calls, Scenario
from bench.speed.corpus import Corpus
from bench.speed.index import ensure_index
from bench.speed.wire import method

_ASKED = (Scenario("semantic"), Scenario("hybrid", "1 % random"), Scenario("expand"), Scenario("fetch"))
_WARMING_CALLS = 64
_MEBIBYTE = 1 << 20


@dataclass(frozen=True, slots=True)
class Footprint:
    """A server with `workers`: seconds until it listens and until its first response, and its memory after use.

    `cold` means that the index's pages were not in memory before.
    """

    nodes: int
    workers: int
    cold: bool
    index_bytes: int
    listening_seconds: float
    answered_seconds: float
    memory: Memory


def measure_footprint(corpus: Corpus, workers: int, cold: bool, work: Path) -> Footprint:
    """Starts a server, makes some calls of each kind over one channel each, and ends it. Raises RuntimeError."""
    data = ensure_index(corpus)
    files = [path for path in data.rglob("*") if path.is_file()]
    if cold:
        _evict(files)
    calls = Calls(corpus)
    requests = {scenario: calls.requests(scenario) for scenario in _ASKED}
    options = ("--workers", str(workers)) if workers > 1 else ()
    work.mkdir(parents=True, exist_ok=True)
    started = time.perf_counter()
    with running(serve_command(data, options), work / f"start-{workers}.log") as server:
        with grpc.insecure_channel(server.address) as channel:
            method(channel, "semantic")(requests[_ASKED[0]][0])
        answered = time.perf_counter() - started
        # A connection belongs to one worker, so several are needed to reach all workers.
        for number in range(_WARMING_CALLS):
            with grpc.insecure_channel(server.address, [("grpc.use_local_subchannel_pool", 1)]) as channel:
                for scenario, prepared in requests.items():
                    method(channel, scenario.kind)(prepared[number % len(prepared)])
        used = memory(process_tree(server.process))
    size = sum(path.stat().st_size for path in files)
    return Footprint(len(corpus), workers, cold, size, server.start_seconds, answered, used)


def grid(footprints: Sequence[Footprint]) -> Grid:
    """One row per server."""
    times, sizes = ("listening after s", "first response after s"), ("resident MiB", "proportional", "private")
    rows = [
        [
            f"{one.nodes:,} nodes, workers: {one.workers}, {'cold' if one.cold else 'warm'}",
            f"{one.index_bytes / _MEBIBYTE:,.0f}",
            f"{one.listening_seconds:.2f}",
            f"{one.answered_seconds:.2f}",
            *(f"{getattr(one.memory, kind) / _MEBIBYTE:,.0f}" for kind in ("resident", "proportional", "private")),
        ]
        for one in footprints
    ]
    return Grid("Start and memory", ["server", "index MiB", *times, *sizes], rows)


def _evict(files: Sequence[Path]) -> None:
    """Removes the files' pages from the page cache."""
    for path in files:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(descriptor)
