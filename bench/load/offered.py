"""Calls as bytes in a file, so that the program that sends them spends no time on making them."""

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class OfferedCall:
    """The full name of a method, and the bytes of a request."""

    method: str
    content: bytes


def write_offered(path: Path, calls: Sequence[OfferedCall]) -> None:
    """One call per line."""
    lines = (json.dumps([call.method, base64.b64encode(call.content).decode("ascii")]) + "\n" for call in calls)
    path.write_text("".join(lines), encoding="utf-8")


def read_offered(path: Path) -> list[OfferedCall]:
    """Reads what `write_offered` wrote."""
    lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [OfferedCall(method, base64.b64decode(content)) for method, content in lines]
