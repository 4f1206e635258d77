"""Compares servers: they take turns round by round, because the other load of the machine varies."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import grpc
from rich.progress import Progress

from bench.shared.programs import Memory, RunningProgram, memory, process_tree
from bench.shared.statistics import Times, times
from bench.speed.calls import Calls, Scenario
from bench.speed.corpus import Corpus
from bench.speed.wire import measure

LEAST_CALLS_A_CLIENT = 10


@dataclass(frozen=True, slots=True)
class Plan:
    """The number of calls: `calls` per round and scenario, and at least ten per client."""

    scenarios: Sequence[Scenario]
    clients: Sequence[int]
    rounds: int
    calls: int

    def count(self, clients: int) -> int:
        """The calls of one round of `clients`."""
        return max(self.calls, LEAST_CALLS_A_CLIENT * clients)


@dataclass(frozen=True, slots=True)
class Series:
    """One server's times in one scenario; None with the `problem` of a call that failed.

    `agreement` is the share of its answers that are those of the first server: the same rows in the same order.
    """

    server: str
    scenario: str
    clients: int
    times: Times | None
    recall: float | None
    calls_per_second: float | None
    agreement: float | None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The results of all servers on one corpus, and their memory after all calls."""

    corpus: Mapping[str, int]
    series: Sequence[Series]
    memory: Mapping[str, Memory]


@dataclass(slots=True)
class _Collected:
    rounds: list[list[float]] = field(default_factory=list[list[float]])
    recalls: list[float] = field(default_factory=list[float])
    agreements: list[float] = field(default_factory=list[float])
    seconds: float = 0.0
    problem: str = ""


def compare(servers: Mapping[str, RunningProgram], corpus: Corpus, plan: Plan, progress: Progress) -> Comparison:
    """Calls servers of the corpus in turn, A B A B. A server is not asked again what it has failed to answer."""
    cases = [(scenario, clients) for clients in plan.clients for scenario in plan.scenarios]
    collected = {(name, case): _Collected() for name in servers for case in cases}
    task = progress.add_task("asking", total=plan.rounds * len(cases))
    for number in range(plan.rounds):
        for case in cases:
            progress.update(task, description=f"{case[0]}, {case[1]} clients")
            first: list[list[int]] = []
            for name, server in servers.items():
                own = collected[name, case]
                answers = _collect(server, case, number, corpus, plan, own)
                if first and answers:
                    same = sum(one == other for one, other in zip(answers, first, strict=True))
                    own.agreements.append(same / len(answers))
                first = first or answers
            progress.advance(task)
    series = [_series(name, *case, found, plan) for (name, case), found in collected.items()]
    used = {name: memory(process_tree(server.process)) for name, server in servers.items()}
    return Comparison(corpus.shape, series, used)


def _collect(
    server: RunningProgram, case: tuple[Scenario, int], number: int, corpus: Corpus, plan: Plan, into: _Collected
) -> list[list[int]]:
    """Adds a round of a server to what is known of it; gives its answers, none if it fails."""
    if into.problem:
        return []
    scenario, clients = case
    count = plan.count(clients)
    numbers = range(number * count, (number + 1) * count)
    try:
        measured = measure(server.address, scenario.kind, Calls(corpus).requests(scenario), numbers, clients)
    except grpc.RpcError as error:
        into.problem = " ".join(str(error).split())
        return []
    into.rounds.append(measured.milliseconds)
    into.seconds += measured.seconds
    if scenario.kind == "semantic":
        into.recalls.append(corpus.recall(scenario.filter, number * count, measured.answers))
    return measured.answers


def _series(name: str, scenario: Scenario, clients: int, found: _Collected, plan: Plan) -> Series:
    if found.problem:
        return Series(name, str(scenario), clients, None, None, None, None, found.problem)
    rate = len(found.rounds) * plan.count(clients) / found.seconds
    recall, agreement = _mean(found.recalls), _mean(found.agreements)
    return Series(name, str(scenario), clients, times(found.rounds), recall, rate, agreement)


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
