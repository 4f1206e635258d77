"""The speed of single calls, asked by h2load, a compiled client that needs less CPU than one in Python."""

import random
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from statistics import median

import numpy as np
import psutil
from rich.progress import Progress

from bench.load.calls import OfferedCall
from bench.shared.programs import RunningProgram, process_tree, run
from bench.shared.results import Grid

_MOST_CONNECTIONS = 4
_WARMING_SECONDS = 1
_OK = "200"


@dataclass(frozen=True, slots=True)
class Repeated:
    """One call repeated, `streams` at a time, in one round; milliseconds. `server_cpu` is per call."""

    server: str
    kind: str
    streams: int
    calls_per_second: float
    p50: float
    p99: float
    server_cpu: float


def repeat_calls(
    servers: Mapping[str, RunningProgram],
    calls: Mapping[str, OfferedCall],
    streams: Sequence[int],
    rounds: int,
    seconds: int,
    work: Path,
    progress: Progress,
) -> list[Repeated]:
    """Asks the servers in turn, in each round in another order. Raises RuntimeError if h2load or a call fails."""
    repeated = []
    cases = list(product(range(rounds), calls.items(), streams))
    for _, (kind, call), number in progress.track(cases, description="h2load"):
        for name, server in random.sample(sorted(servers.items()), len(servers)):
            repeated.append(_repeat(name, server, kind, call, number, seconds, work))
    return repeated


def h2load_grid(repeated: Sequence[Repeated], title: str) -> Grid:
    """Medians over the rounds; ratios compare with the first server, and are medians of the ratios of a round."""
    rounds: dict[tuple[str, int], dict[str, list[Repeated]]] = {}
    for result in repeated:
        rounds.setdefault((result.kind, result.streams), {}).setdefault(result.server, []).append(result)
    servers = sorted({result.server for result in repeated})  # "the other tree" before "this tree"
    rows = []
    for (kind, streams), by_server in rounds.items():
        base = by_server[servers[0]]
        for name in servers:
            results = by_server[name]
            figures = [
                f"{median(result.calls_per_second for result in results):,.0f}",
                *(
                    f"{median(getattr(result, field) for result in results):.2f}"
                    for field in ("p50", "p99", "server_cpu")
                ),
                f"{median(mine.p50 / other.p50 for mine, other in zip(results, base, strict=True)):.2f}",
                f"{median(mine.server_cpu / other.server_cpu for mine, other in zip(results, base, strict=True)):.2f}",
            ]
            rows.append([f"{kind}, {streams} at a time, {name}", *figures])
    return Grid(title, ["load", "calls/s", "p50 ms", "p99 ms", "server CPU ms", "p50 ratio", "CPU ratio"], rows)


def _repeat(
    name: str, server: RunningProgram, kind: str, call: OfferedCall, streams: int, seconds: int, work: Path
) -> Repeated:
    program = shutil.which("h2load")
    if program is None:
        raise RuntimeError("h2load is not installed; Debian's package nghttp2-client has it")
    body, log = work / "body", work / "h2load.log"
    body.write_bytes(b"\0" + len(call.content).to_bytes(4, "big") + call.content)
    log.unlink(missing_ok=True)
    connections = min(streams, _MOST_CONNECTIONS)
    command = [
        program, f"--clients={connections}", f"--max-concurrent-streams={streams // connections}",
        f"--duration={seconds}", f"--warm-up-time={_WARMING_SECONDS}", f"--data={body}", f"--log-file={log}",
        "--header=content-type: application/grpc", "--header=te: trailers", f"http://{server.address}{call.method}",
    ]  # fmt: skip
    processes = process_tree(server.process)
    before = _cpu_seconds(processes)
    run(command)
    spent = _cpu_seconds(processes) - before
    # A line has the call's start in microseconds, its HTTP status, and its microseconds.
    rows = [line.split("\t") for line in log.read_text(encoding="ascii").splitlines()]
    failed = [row for row in rows if row[1] != _OK]
    if failed or not rows:
        raise RuntimeError(f"h2load: {len(failed)} of {len(rows)} calls were not answered")
    p50, p99 = np.percentile([int(row[2]) / 1_000.0 for row in rows], (50.0, 99.0)).tolist()
    # Calls before the measured time cost the server the same, but are not in the log.
    cpu = 1_000.0 * spent * seconds / (seconds + _WARMING_SECONDS) / len(rows)
    return Repeated(name, kind, streams, len(rows) / seconds, p50, p99, cpu)


def _cpu_seconds(processes: Sequence[psutil.Process]) -> float:
    """User and system time that the processes have used so far."""
    return float(sum(sum(process.cpu_times()[:2]) for process in processes))
