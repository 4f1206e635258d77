"""Questions to several repositories, by how many a corpus is split into, with the whole corpus in one as the base."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import grpc
import numpy as np

from bench.shared.programs import running, serve_command
from bench.shared.results import Grid
from bench.speed.calls import METHODS, Request, Scenario, requests
from bench.speed.corpus import Corpus
from bench.speed.index import SCOPE, Stages, SyntheticSource, ensure_index
from groundwire.v1 import query_pb2, retrieval_pb2, scope_pb2
from groundwire_index.scope import Scope
from groundwire_index.store.store import IndexStore
from groundwire_ingest.build.build import BuildOptions, build_index

KINDS = ("semantic", "bm25", "hybrid", "query")


def measure_several(corpus: Corpus, counts: Sequence[int], rounds: int, work: Path) -> Mapping[str, list[float]]:
    """The median milliseconds of each kind of call: of the whole corpus, then of each number of repositories.

    Every split has a server of its own with all data; calls take turns. Raises IngestError and RuntimeError.
    """
    data = ensure_index(corpus)
    for count in counts:
        for number, rows in enumerate(np.array_split(np.arange(len(corpus)), count)):
            scope = Scope(f"{_prefix(count)}{number:04d}", "main", SCOPE.active_index)
            if not IndexStore(data).active(scope):
                source = SyntheticSource(corpus, range(int(rows[0]), int(rows[-1]) + 1))
                build_index(source, BuildOptions(data, scope, embedder=None), Stages())
    scopes_of_counts = [[scope_pb2.IndexScope(repository=f"{_prefix(count)}*", branch="main")] for count in counts]
    medians: dict[str, list[float]] = {}
    with running(serve_command(data), work / "several.log") as server, grpc.insecure_channel(server.address) as channel:
        for kind in KINDS:
            single = requests(corpus, Scenario(kind))
            variants = [[_about(request, scopes) for request in single] for scopes in ([], *scopes_of_counts)]
            call: grpc.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(METHODS[kind])
            for variant in variants:  # opens every index
                call(variant[0], timeout=600)
            seconds = [[_timed(call, variant[turn % len(single)]) for variant in variants] for turn in range(rounds)]
            medians[kind] = (np.median(np.asarray(seconds), axis=0) * 1_000).tolist()
    return medians


def grid(corpus: Corpus, counts: Sequence[int], medians: Mapping[str, list[float]]) -> Grid:
    """Milliseconds, and ratios to the whole corpus in one repository."""
    headings = ["call", "1 ms", *(heading for count in counts for heading in (f"{count} ms", "ratio"))]
    rows = [
        [kind, f"{base:.2f}", *(cell for value in others for cell in (f"{value:.2f}", f"{value / base:.1f}"))]
        for kind, (base, *others) in medians.items()
    ]
    return Grid(f"Calls by the number of repositories: {len(corpus):,} nodes in all, one client", headings, rows)


def _prefix(count: int) -> str:
    return f"of{count:04d}-"


def _about(request: Request, scopes: Sequence[scope_pb2.IndexScope]) -> bytes:
    """The request about several scopes, where there are some."""
    message = type(request).FromString(request.SerializeToString())
    if scopes and isinstance(message, retrieval_pb2.SearchNodesRequest | query_pb2.QueryRequest):
        message.ClearField("scope")
        message.scopes.extend(scopes)
    return message.SerializeToString()


def _timed(call: "grpc.UnaryUnaryMultiCallable[bytes, bytes]", request: bytes) -> float:
    began = time.perf_counter()
    call(request, timeout=600)
    return time.perf_counter() - began
