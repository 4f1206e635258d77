"""The start time and memory of a server, with one and more workers."""

import os
import time
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

import grpc

from bench.shared.programs import Memory, folder_bytes, memory, running, serve_command
from bench.shared.results import MEBIBYTE, Grid
from bench.speed.calls import METHODS, Scenario, requests
from bench.speed.corpus import Corpus
from bench.speed.index import ensure_index

_ASKED = (Scenario("semantic"), Scenario("hybrid", "1 % random"), Scenario("expand"), Scenario("fetch"))
_WARMING_CALLS = 64


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
    if cold:
        _evict(data)
    calls = [
        [(METHODS[scenario.kind], request.SerializeToString()) for scenario, request in zip(_ASKED, turn, strict=True)]
        for turn in zip(*(requests(corpus, scenario) for scenario in _ASKED), strict=True)
    ]
    started = time.perf_counter()
    with running(serve_command(data, ("--workers", str(workers))), work / f"start-{workers}.log") as server:
        _ask(server.address, calls[0][:1])
        answered = time.perf_counter() - started
        # A connection belongs to one worker, so several are needed to reach all workers.
        for number in range(_WARMING_CALLS):
            _ask(server.address, calls[number % len(calls)])
        used = memory(server.process)
    return Footprint(len(corpus), workers, cold, folder_bytes(data), server.start_seconds, answered, used)


def grid(footprints: Sequence[Footprint]) -> Grid:
    """One row per server."""
    times, sizes = ("listening after s", "first response after s"), ("resident MiB", "proportional", "private")
    rows = [
        [
            f"{footprint.nodes:,} nodes, workers: {footprint.workers}, {'cold' if footprint.cold else 'warm'}",
            f"{footprint.index_bytes / MEBIBYTE:,.0f}",
            f"{footprint.listening_seconds:.2f}",
            f"{footprint.answered_seconds:.2f}",
            *(f"{size / MEBIBYTE:,.0f}" for size in astuple(footprint.memory)),
        ]
        for footprint in footprints
    ]
    return Grid("Start and memory", ["server", "index MiB", *times, *sizes], rows)


def _ask(address: str, calls: Sequence[tuple[str, bytes]]) -> None:
    """Makes calls over a new connection."""
    with grpc.insecure_channel(address, [("grpc.use_local_subchannel_pool", 1)]) as channel:
        for name, content in calls:
            call: grpc.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(name)
            call(content)


def _evict(folder: Path) -> None:
    """Removes the pages of a folder's files from the page cache."""
    for path in filter(Path.is_file, folder.rglob("*")):
        with path.open("rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
