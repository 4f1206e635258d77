"""Tens of thousands of calls, most of them cancelled or out of time: the server is afterwards as it was before."""

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
from support.vitals import calls_at_work, open_files, resident_mib, thread_count, weighed, weighed_program
from support.weighed_server import held

pytestmark = pytest.mark.slow

WARM_UP_CALLS = 12_000
WEIGHED_CALLS = 8_000
ROUND_SECONDS = 3.0
WORKER_THREADS = 4
PYTHON_BLOCKS_A_CALL = 0.05
"""A call of which anything is kept keeps at least one block. Measured: 0.003 to 0.025."""
NATIVE_BYTES_A_CALL = 300
"""gRPC's core holds some 100 to 200 bytes a call: nothing of one that ends as it should, more of one that is cancelled
or out of time. What we keep of a call in arrays or texts takes kilobytes."""
RESIDENT_NOISE_MIB = 4
"""By how much resident memory grows and shrinks whatever is in use."""
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
    # Few arenas: else resident memory grows until malloc has filled all that it may use.
    environment = {"GROUNDWIRE_METRICS_LISTEN": "127.0.0.1:0", "MALLOC_ARENA_MAX": "2"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GROUNDWIRE_EXECUTABLE", str(weighed_program(folder)))
        weighable = Server(folder / "data", "--embedder", "none", environment=environment)
    with weighable as server:
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


def soon(holds: Callable[[], bool], within_seconds: float = 300.0) -> bool:
    """Whether something comes to hold: calls end and connections close a moment after their clients have gone."""
    end = time.monotonic() + within_seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.2)
    return holds()


def made(plans: Sequence[Plan], calls: int) -> Counter[str]:
    """How the calls ended, which are at least so many."""
    ends: Counter[str] = Counter()
    while ends.total() < calls:
        ends.update(load(plans))
    return ends


def test_what_a_process_keeps_shows() -> None:
    before = held()
    kept = [bytes(300) for _ in range(100_000)]
    small = held()
    kept += [bytes(3_000) for _ in range(10_000)]
    large = held()
    # Other threads of this process keep and free some hundred blocks, and some hundred kilobytes, in between.
    assert 95_000 <= small.python_blocks - before.python_blocks < 105_000
    assert 28_000_000 <= large.native_bytes - small.native_bytes < 33_000_000
    del kept
    assert held().python_blocks < small.python_blocks - 90_000
    assert held().native_bytes < large.native_bytes - 28_000_000


def test_soak(server: Server) -> None:
    def rest() -> None:
        assert soon(lambda: calls_at_work(server) == 0)
        assert soon(lambda: open_files(server) <= files)

    files = open_files(server) + 1  # the metrics' own connection
    load([replace(plan, seconds=0.1) for plan in plans(server)])
    threads = thread_count(server) + WORKER_THREADS  # which are started one by one, when they are needed
    # What is made once and kept for all calls is no leak: memory is compared when all kinds of calls were seen often.
    ends = storm(plans(server)) + made(plans(server), WARM_UP_CALLS)
    rest()
    before, resident, calls = weighed(server), resident_mib(server), ends.total()
    ends.update(made(plans(server), WEIGHED_CALLS))
    rest()
    after, resident_growth, calls = weighed(server), resident_mib(server) - resident, ends.total() - calls
    ends.update(storm(plans(server)))
    rest()
    blocks, native = after.python_blocks - before.python_blocks, after.native_bytes - before.native_bytes
    print(
        f"{dict(ends)}; {calls} calls left {blocks} blocks, {native / calls:.0f} bytes each: {resident_growth:+.1f} MiB"
    )

    assert {"OK", "CANCELLED", "DEADLINE_EXCEEDED"} <= set(ends)
    assert not [end for end in ends if end.startswith(("INTERNAL", "UNKNOWN", "UNAVAILABLE"))]
    assert blocks < PYTHON_BLOCKS_A_CALL * calls
    assert native < NATIVE_BYTES_A_CALL * calls
    assert resident_growth * (1 << 20) < NATIVE_BYTES_A_CALL * calls + RESIDENT_NOISE_MIB * (1 << 20)
    assert thread_count(server) <= threads
    assert [line for line in server.log if '"level": "error"' in line] == []
