"""The mix of calls that is offered, as bytes in a file, so that the program that sends them need not make them."""

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from bench.speed.calls import METHODS, Calls, Scenario
from bench.speed.corpus import Corpus

SEED = 11
MIX: Mapping[str, int] = {"semantic": 2, "bm25": 3, "hybrid": 2, "expand": 4, "fetch": 4, "query": 1}
"""The number of each kind among sixteen calls."""


@dataclass(frozen=True, slots=True)
class OfferedCall:
    """The full name of a method, and the bytes of a request."""

    method: str
    content: bytes


def offered_calls(corpus: Corpus, kinds: Sequence[str] = tuple(MIX)) -> list[OfferedCall]:
    """Every query of the corpus in each kind, as often as the mix says, shuffled by a fixed seed."""
    calls = Calls(corpus)
    offered = [
        OfferedCall(METHODS[kind], request.SerializeToString())
        for kind in kinds
        for request in [*calls.requests(Scenario(kind))] * MIX[kind]
    ]
    Random(SEED).shuffle(offered)
    return offered


def write_offered(path: Path, calls: Sequence[OfferedCall]) -> None:
    """One call per line."""
    lines = (json.dumps([call.method, base64.b64encode(call.content).decode("ascii")]) + "\n" for call in calls)
    path.write_text("".join(lines), encoding="utf-8")


def read_offered(path: Path) -> list[OfferedCall]:
    """Reads what `write_offered` wrote."""
    lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [OfferedCall(method, base64.b64decode(content)) for method, content in lines]
