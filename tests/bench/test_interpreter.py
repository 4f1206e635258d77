"""The bench of threads that take turns."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow


def test_every_call_is_measured_both_ways(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "bench.interpreter", "--out", str(tmp_path)]
    sizes = ["--nodes", "300", "--rounds", "1", "--calls", "12"]
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root), *sys.path])}
    run = subprocess.run([*command, *sizes], cwd=root, env=environment, capture_output=True, text=True, check=True)
    rows = re.findall(r"│ (\w+) +│ (\d) +│ (\d+) +│ (\d+) +│ ([\d.]+) +│", run.stdout)
    assert {(call, int(threads)) for call, threads, *_ in rows} == {
        (call, threads) for call in ("semantic", "bm25", "hybrid", "fetch", "query") for threads in (1, 2, 4)
    }
    assert all(int(turns) > 0 and int(sharing) > 0 for _, _, turns, sharing, _ in rows)
