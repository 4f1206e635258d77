"""Ten times as many calls as a server can answer: it answers nearly as many as ever, and refuses the rest well."""

import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import pytest

from groundwire.v1 import query_pb2
from groundwire.v1.scope_pb2 import IndexScope
from support.jsonl import node
from support.load_process import Outcome, Plan, outcome_of, start
from support.program import Server, run_ok, write_jsonl
from support.vitals import health_watched, processor_seconds, resident_mib

pytestmark = [pytest.mark.slow, pytest.mark.alone]

NODES = 5_000
DIMENSION = 32
OVERLOAD = 10
DEADLINE_SECONDS = 2.0
LEAST_GOODPUT = 0.8
"""The least share of its processor time that an overloaded server spends on what it answers."""
LEAST_RATE = 0.6
"""The least share of answers a second, which the load's own processor time and other programs lower as well."""
NORMAL_AGAIN_SECONDS = 5
WORDS = [f"{noun}{verb}" for noun in ("Invoice", "Order", "Tax", "Stock") for verb in ("Create", "Update", "Find")]
_MEMORY = Path("/dev/shm")


@pytest.fixture(scope="module")
def data() -> Iterator[Path]:
    """A data folder with one index of a few thousand nodes."""
    chance = random.Random(1)
    nodes = [
        node(
            f"N{number}",
            f"void {' '.join(chance.choices(WORDS, k=40))}",
            [chance.gauss(0, 1) for _ in range(DIMENSION)],
            path=f"src/{number % 50}.cs",
        )
        for number in range(NODES)
    ]
    with TemporaryDirectory(dir=_MEMORY if _MEMORY.is_dir() else None) as directory:
        folder = Path(directory)
        source = write_jsonl(folder / "nodes.jsonl", nodes)
        where = ("--repository", "shop", "--branch", "main", "--data", folder / "data")
        run_ok("index", source, *where, "--embedder", "none")
        yield folder / "data"


@pytest.fixture
def server(data: Path) -> Iterator[Server]:
    """A server with a port for health."""
    with Server(data, "--embedder", "none", "--health-listen", "127.0.0.1:0") as server:
        yield server


def queries() -> Sequence[str]:
    """Queries that ask for much: four hundred diverse texts out of thousands, a hundred times a refusal's work."""
    chance = random.Random(2)
    requests = [
        query_pb2.QueryRequest(
            scope=IndexScope(repository="shop", branch="main"),
            query=" ".join(chance.choices(WORDS, k=6)),
            query_vector=[chance.gauss(0, 1) for _ in range(DIMENSION)],
            hybrid=query_pb2.HybridParameters(
                top_k=400, vec_limit=2_000, lex_limit=2_000, max_candidates=3_000, diversify_strength=0.5
            ),
        )
        for _ in range(50)
    ]
    return [request.SerializeToString().hex() for request in requests]


def test_ten_times_overload(server: Server) -> None:
    plan = Plan(server.address, "/groundwire.v1.QueryService/Query", queries(), seconds=8, callers=8)

    def load(plan: Plan) -> Outcome:
        return outcome_of(start(plan))

    load(replace(plan, seconds=2))
    usual = load(replace(plan, seconds=4, callers=1))
    before = processor_seconds(server)
    full = load(plan)
    peak, cost = max(usual.rate, full.rate), (processor_seconds(server) - before) / len(full.ok_seconds)
    with health_watched(server) as health_problems:
        overload = replace(plan, seconds=15, rate=OVERLOAD * peak, deadlines=(DEADLINE_SECONDS,))
        before = processor_seconds(server)
        loading = start(overload)
        time.sleep(4)
        memory = resident_mib(server)
        flood = outcome_of(loading)
        cost_in_flood = (processor_seconds(server) - before) / max(1, len(flood.ok_seconds))
        memory_growth = resident_mib(server) - memory
        ended = time.monotonic()
        time.sleep(1)
        after = load(replace(plan, seconds=2, callers=1))
        assert time.monotonic() - ended < NORMAL_AGAIN_SECONDS
    print(f"answered a second: at most {peak:.1f}, in the flood {flood.rate:.1f}: {flood.rate / peak:.2f}")
    print(f"processor seconds an answer: {cost:.4f}, in the flood {cost_in_flood:.4f}: {cost / cost_in_flood:.2f}")
    print(f"flood: {flood.sent / flood.seconds:.0f}/s; {flood.ends}; memory {memory:.0f}{memory_growth:+.0f} MiB")
    print(f"one caller's median: {median(usual.ok_seconds):.4f} s before, {median(after.ok_seconds):.4f} s after")

    # Of its own processor time: how much of the machine it gets is not the server's to say, the load takes some of it.
    assert cost_in_flood <= cost / LEAST_GOODPUT, flood.ends
    assert flood.rate >= LEAST_RATE * peak, flood.ends
    refusals = {"RESOURCE_EXHAUSTED OVERLOADED waiting", "RESOURCE_EXHAUSTED OVERLOADED deadline"}
    deadlines = {"DEADLINE_EXCEEDED", "DEADLINE_EXCEEDED DEADLINE_EXCEEDED"}
    assert set(flood.ends) <= {"OK", *refusals, *deadlines}
    assert sum(flood.ends.get(end, 0) for end in refusals) > 0.5 * flood.sent
    assert 0.1 <= min(flood.retry_seconds) <= max(flood.retry_seconds) <= 20
    assert health_problems == []
    assert memory_growth < 0.1 * memory
    assert set(after.ends) == {"OK"}
    assert median(after.ok_seconds) < 2 * median(usual.ok_seconds)
