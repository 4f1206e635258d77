"""The cost of calls with this source tree, compared with another one such as a worktree of an earlier commit.

    git worktree add /tmp/earlier COMMIT
    python -m bench.speed.trees /tmp/earlier --out results

Each tree builds its own index of the same corpus and serves it; both run on the packages of this environment.
"""

import os
import random
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
import yaml

from bench.shared.programs import RunningProgram, cpu_seconds, python_path, running, serve_command
from bench.shared.results import Grid, print_grid
from bench.speed.calls import Calls, Request
from bench.speed.protocol import WARMING, Scenario
from bench.speed.synthesis import Shape, write_corpus
from bench.speed.wire import measure

SHAPE = Shape(20_000, policy_classes=1_000)
SCENARIOS = (Scenario("expand"), Scenario("fetch"), Scenario("bm25"), Scenario("semantic"), Scenario("query"))
_THIS_TREE = Path(__file__).parents[2]
_BUILD = """
import sys
from pathlib import Path
from bench.speed.index import ensure_index
from bench.speed.synthesis import Shape, write_corpus
print(ensure_index(write_corpus(Path(sys.argv[1]), Shape(int(sys.argv[2]), policy_classes=int(sys.argv[3])))))
"""


def main(
    tree: Annotated[Path, typer.Argument(help="The other tree, the base of the ratios.", exists=True)],
    out: Annotated[Path, typer.Option(help="The folder for corpora, indexes and logs.")],
    rounds: Annotated[int, typer.Option(min=1)] = 9,
    calls: Annotated[int, typer.Option(min=1, help="Calls of each kind and server in a round.")] = 300,
    clients: Annotated[int, typer.Option(min=2, help="How many ask at the same time.")] = 4,
) -> None:
    """Compare the cost of calls with this source tree and with another one."""
    out.mkdir(parents=True, exist_ok=True)
    records = {"audit": "on", "audit_file": str(out / "audit.jsonl")}
    variants: tuple[tuple[str, Path, dict[str, str]], ...] = (
        ("the other tree", tree, {}),
        ("this tree", _THIS_TREE, {}),
        ("this tree, with an audit", _THIS_TREE, records),
    )
    with ExitStack() as stack:
        servers = {
            name: stack.enter_context(
                running(
                    _serve(tree, _index(tree, out), settings, out / f"tree-{number}.yaml"),
                    out / f"tree-{number}.log",
                )
            )
            for number, (name, tree, settings) in enumerate(variants)
        }
        corpus = write_corpus(out / "this", SHAPE)
        requests = {scenario: Calls(corpus).requests(scenario) for scenario in SCENARIOS}
        spent = ask_in_turn(servers, requests, rounds, calls, clients)
    for scenario, of_scenario in spent.items():
        print_grid(grid(scenario, of_scenario))


@dataclass(frozen=True, slots=True)
class Spent:
    """Microseconds per call, one value per round: the server's CPU, and the median at the client."""

    cpu: list[float] = field(default_factory=list[float])
    median: list[float] = field(default_factory=list[float])


def ask_in_turn(
    servers: Mapping[str, RunningProgram],
    requests: Mapping[Scenario, Sequence[Request]],
    rounds: int,
    calls: int,
    clients: int,
) -> dict[str, dict[str, Spent]]:
    """The results by scenario and server. In each of `rounds`, every server gets `calls` of a kind from `clients`."""
    spent = {str(scenario): {name: Spent() for name in servers} for scenario in requests}
    for turn in range(rounds + 1):
        for scenario, (name, server) in product(requests, random.sample(sorted(servers.items()), len(servers))):
            before = cpu_seconds([server.process])
            measured = measure(server.address, scenario.kind, requests[scenario], range(calls), clients)
            used = cpu_seconds([server.process]) - before
            if turn:  # the first warms up
                asked = calls + WARMING * clients
                spent[str(scenario)][name].cpu.append(1e6 * used / asked)
                spent[str(scenario)][name].median.append(1e3 * float(np.median(measured.milliseconds)))
    return spent


def grid(scenario: str, spent: Mapping[str, Spent]) -> Grid:
    """Differences and ratios are medians over the rounds; each compares with the first server in the same round."""
    headings = [scenario, "CPU µs", "more CPU µs", "CPU ratio", "median µs", "median ratio"]
    base = next(iter(spent.values()))
    rows = []
    for name, one in spent.items():
        cpu, median = np.array(one.cpu), np.array(one.median)
        columns = {"{:.0f}": cpu, "{:+.0f}": cpu - base.cpu, "{:.3f}": cpu / base.cpu}
        rows.append(
            [
                name,
                *(form.format(np.median(values)) for form, values in columns.items()),
                f"{np.median(median):.0f}",
                f"{np.median(median / base.median):.3f}",
            ]
        )
    return Grid(scenario, headings, rows)


def _serve(tree: Path, data: Path, settings: dict[str, str], config: Path) -> list[str]:
    config.write_text(yaml.safe_dump(settings), encoding="utf-8")
    return ["env", f"PYTHONPATH={python_path(tree)}", *serve_command(data, ("--config", str(config)))]


def _index(tree: Path, out: Path) -> Path:
    """The data folder that a tree has built, of the same corpus for every tree."""
    folder = out / ("this" if tree == _THIS_TREE else "other")
    sizes = (str(SHAPE.nodes), str(SHAPE.policy_classes))
    done = subprocess.run(
        [sys.executable, "-c", _BUILD, str(folder.resolve()), *sizes],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": python_path(tree)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return Path(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    typer.run(main)
