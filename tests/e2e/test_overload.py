"""Ten times as many calls as a server can answer: it goes on answering, and refuses the rest well.

The test prints the share of its processor time that the server spends on answers. Decision 74 has it from a quiet
machine.
"""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import pytest

from groundwire.v1 import query_pb2
from groundwire.v1.scope_pb2 import IndexScope
from support.jsonl import node
from support.load_process import Outcome, Plan, outcome_of, start
from support.program import Server, run_ok, write_jsonl
from support.vitals import HealthWatch, await_shown, processor_seconds, resident_mib

pytestmark = [pytest.mark.slow, pytest.mark.alone]

NODES = 5_000
DIMENSION = 32
OVERLOAD = 10
DEADLINE_SECONDS = 2.0
LEAST_GOODPUT = 0.4
"""The least share of its processor time that an overloaded server spends on what it answers.

A server that collapses spends a tenth. On a busy machine the share is lower than on a quiet one, because more calls
miss their deadline after they have begun.
"""
PAIRS = 2
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
    """A server with ports for health and metrics."""
    ports = ("--health-listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0")
    with Server(data, "--embedder", "none", *ports) as server:
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


@dataclass(frozen=True)
class Pair:
    """A full load and a flood after it. Each has a cost: the server's processor seconds an answer."""

    full: Outcome
    full_cost: float
    flood: Outcome
    flood_cost: float

    @property
    def goodput(self) -> float:
        """The share of its processor time that the server spends on what it answers in the flood."""
        return self.full_cost / self.flood_cost

    @property
    def rate(self) -> float:
        """The answers a second in the flood, as a share of those before it."""
        return self.flood.rate / self.full.rate


def load(plan: Plan) -> Outcome:
    return outcome_of(start(plan))


def priced(server: Server, plan: Plan) -> tuple[Outcome, float]:
    """What became of a load, and its cost."""
    before = processor_seconds(server)
    outcome = load(plan)
    return outcome, (processor_seconds(server) - before) / max(1, len(outcome.ok_seconds))


def pairs(server: Server, plan: Plan) -> Iterator[Pair]:
    """Pairs that alternate, so that what else the machine does meets both sides."""
    for _ in range(PAIRS):
        full, full_cost = priced(server, replace(plan, seconds=3))
        flood = replace(plan, seconds=4, rate=OVERLOAD * full.rate, deadlines=(DEADLINE_SECONDS,))
        yield Pair(full, full_cost, *priced(server, flood))


def is_clear(made: Sequence[Pair]) -> bool:
    """Whether the goodput is farther from its limit than the costs of one and the same load are from each other."""
    costs = [pair.full_cost for pair in made]
    return abs(median(pair.goodput for pair in made) / LEAST_GOODPUT - 1) > max(costs) / min(costs) - 1


def test_ten_times_overload(server: Server) -> None:
    plan = Plan(server.address, "/groundwire.v1.QueryService/Query", queries(), seconds=2, callers=8)
    load(plan)
    _, usual_cost = priced(server, replace(plan, seconds=4, callers=1))
    with HealthWatch(server) as health:
        made = list(pairs(server, plan))
        memory = resident_mib(server)
        made += pairs(server, plan)
        if not is_clear(made):
            made += pairs(server, plan)
        memory_growth = resident_mib(server) - memory
    await_shown(server, running_calls=0, waiting_calls=0)
    after, after_cost = priced(server, replace(plan, callers=1))
    floods = [pair.flood for pair in made]
    ends = sum((Counter(flood.ends) for flood in floods), Counter[str]())
    rates, goodputs = sorted(pair.rate for pair in made), sorted(pair.goodput for pair in made)
    print(f"of the answers a second before, in the floods: {[f'{rate:.2f}' for rate in rates]}")
    print(f"of the server's processor time, for answers: {[f'{goodput:.2f}' for goodput in goodputs]}")
    print(f"floods: {dict(ends)}; memory {memory:.0f}{memory_growth:+.0f} MiB")
    print(f"one caller's answer: {usual_cost:.4f} s of the processor before, {after_cost:.4f} s after")
    print(f"health: {median(health.seconds):.4f} s")

    # Of its own processor time: how much of the machine it gets is not the server's to say, the load takes some of it.
    assert median(goodputs) >= LEAST_GOODPUT, ends
    refusals = {"RESOURCE_EXHAUSTED OVERLOADED waiting", "RESOURCE_EXHAUSTED OVERLOADED deadline"}
    deadlines = {"DEADLINE_EXCEEDED", "DEADLINE_EXCEEDED DEADLINE_EXCEEDED"}
    assert set(ends) <= {"OK", *refusals, *deadlines}
    for flood in floods:
        assert sum(flood.ends.get(end, 0) for end in refusals) > 0.5 * flood.sent
        assert 0.1 <= min(flood.retry_seconds) <= max(flood.retry_seconds) <= 20
    assert health.problems == []
    # Health does not queue with the calls: it is told sooner than calls that were accepted are answered.
    assert median(health.seconds) < median(seconds for flood in floods for seconds in flood.ok_seconds)
    assert memory_growth < 0.1 * memory
    assert set(after.ends) == {"OK"}
    assert after_cost < 2 * usual_cost
