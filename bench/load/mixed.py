"""Locust's agents: a mixed load whose calls follow from each other's answers, from an environment of its own."""

import csv
import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.load.routes import Route
from bench.speed.peers import Peer, install
from bench.speed.report import ABSENT, Grid
from bench.speed.systems import ROOT

LOCUST = Peer("locust", "", ("locust==2.47.0", "grpcio==1.80.0", "protobuf==6.33.6"))
_PROGRAM = Path(LOCUST.name) / "bin" / "locust"
_ALL = "Aggregated"


@dataclass(frozen=True, slots=True)
class AgentCalls:
    """One kind of call of so many agents on one route; milliseconds as Locust rounds them."""

    route: str
    agents: int
    name: str
    calls: int
    failures: int
    calls_per_second: float
    p50: float
    p95: float
    p99: float


def install_locust(folder: Path) -> None:
    """Puts Locust into an environment below the folder. Raises InstallError."""
    install(folder, LOCUST)


def run_agents(folder: Path, route: Route, calls: Path, agents: int, seconds: float, work: Path) -> list[AgentCalls]:
    """Runs Locust from its environment below `folder`. Raises RuntimeError where it is not installed or fails."""
    program = folder / _PROGRAM
    if not program.exists():
        raise RuntimeError(f"{program} is not there; run `python -m bench.load install {folder}`")
    load = {"address": route.address, "calls": str(calls.resolve()), "tls": list(route.tls)}
    inherited = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    path = os.pathsep.join((str(ROOT), str(ROOT / "protos")))
    environment = {**inherited, "GROUNDWIRE_LOAD": json.dumps(load), "PYTHONPATH": path}
    file = Path(__file__).with_name("locust_agents.py")
    command = [
        str(program), "--headless", "--only-summary", "--users", str(agents), "--spawn-rate", str(agents), "--run-time",
        f"{round(seconds)}s", "--locustfile", str(file), "--csv", "locust", "--exit-code-on-error", "0",
    ]  # fmt: skip
    done = subprocess.run(command, cwd=work, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"locust failed: {done.stderr.strip()[-2_000:]}")
    with (work / "locust_stats.csv").open(encoding="utf-8", newline="") as table:
        return [_row(route.name, agents, row) for row in csv.DictReader(table)]


def agents_grid(rows: Sequence[AgentCalls], title: str) -> Grid:
    """A row a route and kind of call, all kinds last."""
    cells = [
        [
            f"{row.route}, {row.agents} agents, {'all' if row.name == _ALL else row.name}",
            f"{row.calls_per_second:,.0f}",
            f"{row.p50:.0f}",
            f"{row.p95:.0f}",
            f"{row.p99:.0f}",
            f"{row.failures:,}" if row.failures else ABSENT,
        ]
        for row in rows
    ]
    return Grid(title, ["load", "calls/s", "p50 ms", "p95", "p99", "failures"], cells)


def _row(route: str, agents: int, row: dict[str, str]) -> AgentCalls:
    calls, failures = int(row["Request Count"]), int(row["Failure Count"])
    p50, p95, p99 = (float(row[name]) for name in ("50%", "95%", "99%"))
    return AgentCalls(route, agents, row["Name"], calls, failures, float(row["Requests/s"]), p50, p95, p99)
