"""Writes records to an audit file whose size is limited for a while, and prints which of them were written."""

import json
import resource
import sys
from pathlib import Path

from groundwire_server.rpc.audit_file import AuditFile

FILES = [AuditFile(Path(sys.argv[1])) for _ in range(2)]
HARD = resource.getrlimit(resource.RLIMIT_FSIZE)[1]


def write(number: int) -> str:
    try:
        FILES[number % 2].write(json.dumps({"number": number, "padding": "x" * 30}).encode() + b"\n")
    except OSError:
        return "failed"
    return "written"


resource.setrlimit(resource.RLIMIT_FSIZE, (120, HARD))
ends = [write(number) for number in range(5)]
resource.setrlimit(resource.RLIMIT_FSIZE, (HARD, HARD))
print(json.dumps(ends + [write(number) for number in range(5, 7)]))
