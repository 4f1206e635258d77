"""Compares systems: they take turns round by round, because the other load of the machine varies."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from rich.progress import Progress

from bench.shared.programs import Memory, memory
from bench.shared.statistics import Times, times
from bench.speed.corpus import Corpus
from bench.speed.protocol import Scenario, UnsupportedError
from bench.speed.systems import AdapterError, AdapterProcess, Loaded, System

LEAST_CALLS_A_CLIENT = 10
Answers: TypeAlias = list[list[int]]
"""The rows that each of several calls gave."""


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
    """One system's times in one scenario; without any, `problem` says why: it does not support it, or failed.

    `agreement` is the share of its answers that are those of the first system: the same rows in the same order.
    """

    system: str
    scenario: str
    clients: int
    times: Times | None
    recall: float | None
    calls_per_second: float | None
    agreement: float | None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The results of all systems on one corpus; `failed` ones could not load it. `memory` is that after all calls."""

    corpus: Mapping[str, int]
    loaded: Mapping[str, Loaded]
    failed: Mapping[str, str]
    series: Sequence[Series]
    memory: Mapping[str, Memory]


@dataclass(slots=True)
class _Collected:
    rounds: list[list[float]] = field(default_factory=list)
    recalls: list[float] = field(default_factory=list)
    agreements: list[float] = field(default_factory=list)
    seconds: float = 0.0
    problem: str = ""


def compare(systems: Sequence[System], corpus: Corpus, plan: Plan, work: Path, progress: Progress) -> Comparison:
    """Loads the corpus into every system, then calls them in turn, A B C A B C.

    A system that fails is left out from then on.
    """
    loaded: dict[str, Loaded] = {}
    failed: dict[str, str] = {}
    with ExitStack() as stack:
        running: list[AdapterProcess] = []
        task = progress.add_task("loading", total=len(systems))
        for system in systems:
            progress.update(task, description=f"loading {system.name}")
            adapter = stack.enter_context(AdapterProcess(system, work / system.name))
            try:
                loaded[system.name] = adapter.load(corpus.folder)
                running.append(adapter)
            except AdapterError as error:
                failed[system.name] = str(error)
            progress.advance(task)
        series = _ask(running, corpus, plan, progress)
        used: dict[str, Memory] = {}
        for adapter in running:
            with suppress(AdapterError):  # it has ended
                used[adapter.name] = memory(adapter.processes())
    return Comparison(corpus.shape, loaded, failed, series, used)


def _ask(running: Sequence[AdapterProcess], corpus: Corpus, plan: Plan, progress: Progress) -> list[Series]:
    cases = [(scenario, clients) for clients in plan.clients for scenario in plan.scenarios]
    collected = {(adapter.name, case): _Collected() for adapter in running for case in cases}
    task = progress.add_task("asking", total=plan.rounds * len(cases))
    for number in range(plan.rounds):
        for case in cases:
            progress.update(task, description=f"{case[0]}, {case[1]} clients")
            into = [collected[adapter.name, case] for adapter in running]
            answers = [
                _collect(adapter, case, number, corpus, plan, own) for adapter, own in zip(running, into, strict=True)
            ]
            for found, given in zip(into[1:], answers[1:], strict=True):
                if given and answers[0]:
                    found.agreements.append(_agreement(given, answers[0]))
            progress.advance(task)
    return [_series(name, *case, found, plan) for (name, case), found in collected.items()]


def _collect(
    adapter: AdapterProcess, case: tuple[Scenario, int], number: int, corpus: Corpus, plan: Plan, into: _Collected
) -> Answers:
    """Adds a round of a system to what is known of it; gives its answers, none if it fails."""
    if into.problem:
        return []
    scenario, clients = case
    count = plan.count(clients)
    try:
        measurement = adapter.ask(scenario, number * count, count, clients)
    except (UnsupportedError, AdapterError) as error:
        into.problem = str(error)
        return []
    into.rounds.append(measurement.milliseconds)
    into.seconds += measurement.seconds
    if scenario.kind == "semantic":
        into.recalls.append(corpus.recall(scenario.filter, number * count, measurement.answers))
    return measurement.answers


def _agreement(answers: Answers, others: Answers) -> float:
    return sum(own == other for own, other in zip(answers, others, strict=True)) / len(answers)


def _series(name: str, scenario: Scenario, clients: int, found: _Collected, plan: Plan) -> Series:
    if found.problem:
        return Series(name, str(scenario), clients, None, None, None, None, found.problem)
    calls = len(found.rounds) * plan.count(clients)
    return Series(
        name,
        str(scenario),
        clients,
        times(found.rounds),
        _mean(found.recalls),
        calls / found.seconds,
        _mean(found.agreements),
    )


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
