"""The file of records: whatever becomes of the disk, it holds whole lines alone."""

import json
import subprocess
import sys
from pathlib import Path

FILLING = """
import json, resource, sys
from pathlib import Path
from groundwire_server.rpc.audit import _Lines

files, hard = [_Lines(Path(sys.argv[1])) for _ in range(2)], resource.getrlimit(resource.RLIMIT_FSIZE)[1]

def write(number):
    try:
        files[number % 2].write(json.dumps({"number": number, "padding": "x" * 30}).encode() + b"\\n")
    except OSError:
        return "failed"
    return "written"

resource.setrlimit(resource.RLIMIT_FSIZE, (120, hard))
ends = [write(number) for number in range(5)]
resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
print(json.dumps(ends + [write(number) for number in range(5, 7)]))
"""


def test_what_does_not_fit_is_taken_back_whoever_writes_next(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    done = subprocess.run([sys.executable, "-c", FILLING, path], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == ["written", "written", "failed", "failed", "failed", "written", "written"]
    assert [json.loads(line)["number"] for line in path.read_text(encoding="utf-8").splitlines()] == [0, 1, 5, 6]
