"""The mix of calls that is offered."""

from collections.abc import Mapping, Sequence
from random import Random

from bench.load.offered import OfferedCall
from bench.speed.calls import Calls
from bench.speed.corpus import Corpus
from bench.speed.protocol import Scenario

SEED = 11
MIX: Mapping[str, int] = {"semantic": 2, "bm25": 3, "hybrid": 2, "expand": 4, "fetch": 4, "query": 1}
"""How many of each kind stand among sixteen: search, walk from what was found, and fetch what is needed."""
_METHODS = {
    "expand": "/groundwire.v1.RetrievalService/ExpandDependencyTree",
    "fetch": "/groundwire.v1.RetrievalService/FetchNodeTexts",
    "query": "/groundwire.v1.QueryService/Query",
}
_SEARCH = "/groundwire.v1.RetrievalService/SearchNodes"


def offered_calls(corpus: Corpus, kinds: Sequence[str] = tuple(MIX)) -> list[OfferedCall]:
    """Every query of the corpus in each of the kinds as often as the mix says, shuffled by a fixed seed."""
    calls = Calls(corpus)
    offered = [
        OfferedCall(_METHODS.get(kind, _SEARCH), request.SerializeToString())
        for kind in kinds
        for request in [*calls.requests(Scenario(kind))] * MIX[kind]
    ]
    Random(SEED).shuffle(offered)
    return offered
