"""Hundreds of thousands of calls, many cancelled or out of time: the server is afterwards as it was before."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import pytest
from google.protobuf.message import Message

from groundwire.v1 import index_pb2, retrieval_pb2
from groundwire.v1.scope_pb2 import IndexScope
from support.jsonl import edge, node
from support.load_process import Plan, outcome_of, start
from support.program import Server, run_ok, write_jsonl
from support.vitals import calls_at_work, memory_watched, open_files, thread_count

pytestmark = [pytest.mark.slow, pytest.mark.alone]

CALLS = 200_000
WARM_UP_CALLS = 90_000
ROUND_SECONDS = 5.0
WORKER_THREADS = 4
GROWTH_BYTES_A_CALL = 300
"""gRPC's core holds some 200 to 250 bytes a call: hardly any of one that ends as it should, more of one that is
cancelled or out of time. What Python holds stays as it is. A call of ours that is kept takes kilobytes."""
SCOPE = IndexScope(repository="shop", branch="main")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server over a small index, whose metrics tell what it is at."""
    folder = tmp_path_factory.mktemp("soak")
    nodes = [node(f"N{number}", f"void Invoice{number}() {{ }}", None) for number in range(30)]
    edges = [edge(f"cs::N{number}", f"cs::N{number + 1}", "Calls") for number in range(29)]
    source = write_jsonl(folder / "shop.jsonl", [*nodes, *edges])
    where = ("--repository", "shop", "--branch", "main", "--version", "v1", "--data", folder / "data")
    run_ok("index", source, *where, "--embedder", "none")
    # Few arenas: else it takes malloc half the test to fill all that it may use, and a leak could hide in that.
    environment = {"GROUNDWIRE_METRICS_LISTEN": "127.0.0.1:0", "MALLOC_ARENA_MAX": "2"}
    with Server(folder / "data", "--embedder", "none", environment=environment) as server:
        yield server


def plans(server: Server) -> Sequence[Plan]:
    """Callers of four methods. Of their calls a tenth is cancelled and a third has a few milliseconds."""
    search = retrieval_pb2.SearchNodesRequest(
        scope=SCOPE, search_type=retrieval_pb2.SEARCH_TYPE_BM25, query="invoice 7", top_k=5
    )
    walk = retrieval_pb2.ExpandDependencyTreeRequest(
        scope=SCOPE, seed_ids=["shop::main::cs::N0"], max_depth=3, max_nodes=10, edge_allowlist=["*"]
    )
    paths = retrieval_pb2.FindPathsRequest(
        scope=SCOPE, from_ids=["shop::main::cs::N0"], to_ids=["shop::main::cs::N4"], max_hops=5, max_paths=3,
        max_nodes=10, edge_allowlist=["*"],
    )  # fmt: skip
    requests: dict[str, Message] = {
        "RetrievalService/SearchNodes": search,
        "RetrievalService/ExpandDependencyTree": walk,
        "RetrievalService/FindPaths": paths,
        "IndexService/GetIndex": index_pb2.GetIndexRequest(scope=SCOPE),
    }
    return [
        Plan(
            server.address,
            f"/groundwire.v1.{method}",
            [request.SerializeToString().hex()],
            ROUND_SECONDS,
            # A search for paths takes as long as four other calls.
            callers=6 if method.endswith("FindPaths") else 24,
            deadlines=(0.005, 0.02, 10.0, 10.0, 10.0, 10.0),
            cancelled_share=0.1,
            cancelled_within=0.02,
            seed=number,
        )
        for number, (method, request) in enumerate(requests.items())
    ]


def load(plans: Sequence[Plan]) -> Counter[str]:
    """How the calls ended."""
    ends: Counter[str] = Counter()
    for process in [start(plan) for plan in plans]:
        ends.update(outcome_of(process).ends)
    return ends


def storm(plans: Sequence[Plan]) -> Counter[str]:
    """How the calls ended, all of which were cancelled, many before the server had seen them."""
    return load([replace(plan, cancelled_share=1) for plan in plans])


def soon(holds: Callable[[], bool], within_seconds: float = 10.0) -> bool:
    """Whether something comes to hold: calls end and connections close a moment after their clients have gone."""
    end = time.monotonic() + within_seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.2)
    return holds()


def growth_mib(samples: Sequence[float]) -> float:
    """By how much the memory held grew between the first third of the time and the last.

    The least of either is compared: what the allocator holds for a while comes and goes, what leaks is never less.
    """
    third = len(samples) // 3
    return min(samples[-third:]) - min(samples[:third])


def test_soak(server: Server) -> None:
    load([replace(plan, seconds=0.1) for plan in plans(server)])
    threads = thread_count(server) + WORKER_THREADS  # which are started one by one, when they are needed
    # What the allocator keeps of a storm is no measure of a leak, so memory is compared before the next one.
    ends = storm(plans(server))
    while ends.total() < WARM_UP_CALLS:
        ends.update(load(plans(server)))
    files, calls = open_files(server), ends.total()
    with memory_watched(server) as samples:
        while ends.total() < CALLS:
            ends.update(load(plans(server)))
    compared_calls = (ends.total() - calls) * 2 / 3
    ends.update(storm(plans(server)))
    assert soon(lambda: calls_at_work(server) == 0)
    print(f"{dict(ends)}; memory {min(samples):.0f} to {max(samples):.0f} MiB, {growth_mib(samples):+.1f}")

    assert {"OK", "CANCELLED", "DEADLINE_EXCEEDED"} <= set(ends)
    assert not [end for end in ends if end.startswith(("INTERNAL", "UNKNOWN", "UNAVAILABLE"))]
    assert growth_mib(samples) * (1 << 20) < GROWTH_BYTES_A_CALL * compared_calls
    assert soon(lambda: open_files(server) <= files)
    assert thread_count(server) <= threads
    assert [line for line in server.log if '"level": "error"' in line] == []
