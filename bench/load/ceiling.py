"""The highest throughput of a server, with h2load, a compiled client that needs less CPU than one in Python.

It supports no client certificates, so it uses the route without TLS.
"""

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.load.offered import OfferedCall
from bench.shared.programs import cpu_seconds, process_tree
from bench.shared.statistics import Times, times

CONNECTIONS = 4
_WARMING_SECONDS = 1
_OK = "200"
_PREFIX_BYTES = 5


@dataclass(frozen=True, slots=True)
class Ceiling:
    """One call repeated, `streams` at a time. `server_cpu` is in milliseconds per call."""

    kind: str
    streams: int
    calls_per_second: float
    times: Times
    server_cpu: float


def measure_ceiling(
    kind: str, call: OfferedCall, address: str, process: int, streams: int, seconds: int, work: Path
) -> Ceiling:
    """Runs h2load against a server. Raises RuntimeError if it is not installed or fails, or a call fails."""
    program = shutil.which("h2load")
    if program is None:
        raise RuntimeError("h2load is not installed; Debian's package nghttp2-client has it")
    body, log = work / "body", work / "h2load.log"
    body.write_bytes(b"\0" + len(call.content).to_bytes(_PREFIX_BYTES - 1, "big") + call.content)
    log.unlink(missing_ok=True)
    command = [
        program, f"--clients={CONNECTIONS}", f"--max-concurrent-streams={max(1, streams // CONNECTIONS)}",
        f"--duration={seconds}", f"--warm-up-time={_WARMING_SECONDS}", f"--data={body}", f"--log-file={log}",
        "--header=content-type: application/grpc", "--header=te: trailers", f"http://{address}{call.method}",
    ]  # fmt: skip
    servers = process_tree(process)
    before = cpu_seconds(servers)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    spent = cpu_seconds(servers) - before
    if done.returncode:
        raise RuntimeError(f"h2load failed: {done.stderr.strip()[-2_000:]}")
    rows = [line.split("\t") for line in log.read_text(encoding="ascii").splitlines()]
    return _ceiling(kind, streams, seconds, rows, spent)


def _ceiling(kind: str, streams: int, seconds: int, rows: Sequence[Sequence[str]], cpu: float) -> Ceiling:
    """Parses h2load's log, whose lines have a call's start in microseconds, its HTTP status, and its microseconds."""
    failed = [row for row in rows if row[1] != _OK]
    if failed or not rows:
        raise RuntimeError(f"h2load: {len(failed)} of {len(rows)} calls were not answered")
    milliseconds = [int(row[2]) / 1_000.0 for row in rows]
    # Calls before the measured time cost the server the same, but are not in the log.
    measured_cpu = cpu * seconds / (seconds + _WARMING_SECONDS)
    return Ceiling(kind, streams, len(rows) / seconds, times([milliseconds]), 1_000.0 * measured_cpu / len(rows))
