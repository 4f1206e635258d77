"""What a call costs on servers that are asked in turn: what else the machine does falls on all of them alike."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np
from rich.console import Console
from rich.table import Table

from bench.adapters.protocol import WARMING, Scenario
from bench.speed.calls import Request
from bench.speed.programs import RunningProgram, cpu_seconds
from bench.speed.wire import measure


@dataclass(frozen=True, slots=True)
class Spent:
    """Microseconds a call, one a round: the server's CPU, and the median at the client."""

    cpu: list[float] = field(default_factory=list[float])
    median: list[float] = field(default_factory=list[float])


def ask_in_turn(
    servers: Mapping[str, RunningProgram],
    requests: Mapping[Scenario, Sequence[Request]],
    rounds: int,
    calls: int,
    clients: int,
) -> dict[str, dict[str, Spent]]:
    """By scenario and server, over `rounds`, in each of which every server gets `calls` of a kind from `clients`."""
    spent = {str(scenario): {name: Spent() for name in servers} for scenario in requests}
    for turn in range(rounds + 1):
        for scenario, (name, server) in product(requests, random.sample(sorted(servers.items()), len(servers))):
            before = cpu_seconds([server.process])
            measured = measure(server.address, scenario, requests[scenario], range(calls), clients)
            used = cpu_seconds([server.process]) - before
            if turn:  # the first warms up
                asked = calls + WARMING * clients
                spent[str(scenario)][name].cpu.append(1e6 * used / asked)
                spent[str(scenario)][name].median.append(1e3 * float(np.median(measured.milliseconds)))
    return spent


def print_spent(scenario: str, spent: Mapping[str, Spent]) -> None:
    """Differences and ratios are medians over the rounds, each to the first server in the same round."""
    table = Table(scenario, "CPU µs", "more CPU µs", "CPU ratio", "median µs", "median ratio")
    base = next(iter(spent.values()))
    for name, one in spent.items():
        cpu, median = np.array(one.cpu), np.array(one.median)
        table.add_row(
            name,
            f"{np.median(cpu):.0f}",
            f"{np.median(cpu - base.cpu):+.0f}",
            f"{np.median(cpu / base.cpu):.3f}",
            f"{np.median(median):.0f}",
            f"{np.median(median / base.median):.3f}",
        )
    Console().print(table)
