"""The mix of calls that is offered."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import NamedTuple

from bench.speed.calls import METHODS, Scenario, requests
from bench.speed.corpus import Corpus

SEED = 11
MIX: Mapping[str, int] = {"semantic": 2, "bm25": 3, "hybrid": 2, "expand": 4, "fetch": 4, "query": 1}
"""The number of each kind among sixteen calls."""


class OfferedCall(NamedTuple):
    """The full name of a method, and the bytes of a request."""

    method: str
    content: bytes


def offered_calls(corpus: Corpus, kinds: Sequence[str] = tuple(MIX)) -> list[OfferedCall]:
    """Every query of the corpus in each kind, as often as the mix says, shuffled by a fixed seed."""
    offered = [
        OfferedCall(METHODS[kind], request.SerializeToString())
        for kind in kinds
        for request in requests(corpus, Scenario(kind)) * MIX[kind]
    ]
    Random(SEED).shuffle(offered)
    return offered
