"""What several threads get done when one at a time computes in Python, and when they share it as they like.

    python -m bench.interpreter --out results

The engine is called in this process. Both ways have their turn in every round, so what else the machine does falls on
both; the medians over the rounds are told.
"""

import argparse
import inspect
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console
from rich.table import Table

from bench.adapters.engine import EngineAdapter
from bench.adapters.protocol import Scenario, closed_loop
from bench.speed.synthesis import Shape, write_corpus

SCENARIOS = (Scenario("semantic"), Scenario("bm25"), Scenario("hybrid"), Scenario("fetch"), Scenario("query"))
THREADS = (1, 2, 4)


class SharingAdapter(EngineAdapter):
    """The same engine without the turns that its threads take."""

    def _action(self, kind: str) -> tuple[Callable[[Any, Any], Any], Callable[[Any], list[str]]]:
        run, ids = super()._action(kind)
        return partial(inspect.unwrap(run), self._engine), ids


def main() -> None:
    """Runs the measurement and prints its table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="the folder for the corpus")
    parser.add_argument("--nodes", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--calls", type=int, default=300, help="calls of each kind in a turn")
    arguments = parser.parse_args()
    nodes: int = arguments.nodes
    corpus = write_corpus(arguments.out / f"corpus-{nodes}-1000", Shape(nodes, policy_classes=1_000))
    adapters = (EngineAdapter(), SharingAdapter())
    for adapter in adapters:
        adapter.load(corpus, arguments.out)
    table = Table("call", "threads", "calls/s in turn", "calls/s sharing", "ratio")
    for scenario in SCENARIOS:
        for threads in THREADS:
            turns, sharing = _rates(adapters, scenario, threads, arguments.rounds, arguments.calls)
            table.add_row(str(scenario), str(threads), f"{turns:.0f}", f"{sharing:.0f}", f"{turns / sharing:.2f}")
    Console().print(table)


def _rates(
    adapters: tuple[EngineAdapter, EngineAdapter], scenario: Scenario, threads: int, rounds: int, calls: int
) -> list[float]:
    """Calls a second of each adapter."""
    asks = [adapter.session(scenario) for adapter in adapters]
    rates: list[list[float]] = [[], []]
    for number in range(rounds + 1):
        for ask, found in zip(asks, rates, strict=True):
            run = closed_loop([ask] * threads, range(number * calls, (number + 1) * calls))
            found.append(calls / run.seconds)
    return [median(found[1:]) for found in rates]


if __name__ == "__main__":
    main()
