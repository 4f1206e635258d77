"""The file of records: on a disk that fills up and is freed again, no line stands in two."""

import json
import subprocess
import sys
from pathlib import Path

FILLING = """
import json, resource, sys
from pathlib import Path
from groundwire_server.rpc.audit import _Lines

lines, hard = _Lines(Path(sys.argv[1])), resource.getrlimit(resource.RLIMIT_FSIZE)[1]

def write(number):
    try:
        lines.write(json.dumps({"number": number, "padding": "x" * 30}).encode() + b"\\n")
    except OSError:
        return "failed"
    return "written"

resource.setrlimit(resource.RLIMIT_FSIZE, (120, hard))
ends = [write(number) for number in range(5)]
resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
print(json.dumps(ends + [write(number) for number in range(5, 7)]))
"""


def test_a_line_that_did_not_fit_is_ended_before_the_next(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    done = subprocess.run([sys.executable, "-c", FILLING, path], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == ["written", "written", "failed", "failed", "failed", "written", "written"]
    *whole, torn, after, last = path.read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["number"] for line in (*whole, after, last)] == [0, 1, 5, 6]
    assert 0 < len(torn) < len(last)
