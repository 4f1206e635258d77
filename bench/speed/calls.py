"""The calls of every scenario as messages, made before measuring."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from bench.speed.corpus import ANSWERS, CLUSTERED, EVERY, FILTERS, RANDOM, Corpus
from bench.speed.index import SCOPE, node_id
from groundwire.v1 import query_pb2, retrieval_pb2, scope_pb2

Request: TypeAlias = (
    retrieval_pb2.SearchNodesRequest
    | retrieval_pb2.ExpandDependencyTreeRequest
    | retrieval_pb2.FetchNodeTextsRequest
    | query_pb2.QueryRequest
)

SEARCHES: Mapping[str, retrieval_pb2.SearchType.ValueType] = {
    "semantic": retrieval_pb2.SEARCH_TYPE_SEMANTIC,
    "bm25": retrieval_pb2.SEARCH_TYPE_BM25,
    "hybrid": retrieval_pb2.SEARCH_TYPE_HYBRID,
}
METHODS: Mapping[str, str] = {
    **dict.fromkeys(SEARCHES, "/groundwire.v1.RetrievalService/SearchNodes"),
    **dict.fromkeys(("expand", "expand hub"), "/groundwire.v1.RetrievalService/ExpandDependencyTree"),
    "fetch": "/groundwire.v1.RetrievalService/FetchNodeTexts",
    "query": "/groundwire.v1.QueryService/Query",
}
"""The full name of the method of each kind of call."""
_FIELDS = {RANDOM: "collection_ids", CLUSTERED: "case_ids", EVERY: "languages"}


@dataclass(frozen=True, slots=True)
class Scenario:
    """A kind of call, and the name of a filter or ""."""

    kind: str
    filter: str = ""

    def __str__(self) -> str:
        return f"{self.kind}, {self.filter}" if self.filter else self.kind


SCENARIOS = tuple(
    Scenario(kind, name) for kind in METHODS for name in ("", *(FILTERS if kind in SEARCHES or kind == "query" else ()))
)
"""All calls that a bench can be asked for."""
USUAL = (*map(Scenario, ("semantic", "bm25", "hybrid", "expand", "fetch", "query")), Scenario("semantic", "1 % random"))
"""Those that it makes unless it is asked for others."""


def requests(corpus: Corpus, scenario: Scenario) -> list[Request]:
    """One request for each query of a corpus, by a caller who may see all of it."""
    return [_request(corpus, scenario, number) for number in range(len(corpus.query_texts))]


def _request(corpus: Corpus, scenario: Scenario, number: int) -> Request:
    scope = scope_pb2.IndexScope(repository=SCOPE.repository, branch=SCOPE.branch)
    access = scope_pb2.AccessContext(clearance_level=corpus.shape["policy_classes"])
    match scenario.kind:
        case "expand" | "expand hub":
            # The hub is row 0; a second seed makes every request different.
            seeds = _some_rows(corpus, number, 5) if scenario.kind == "expand" else [0, 1 + number]
            return retrieval_pb2.ExpandDependencyTreeRequest(
                scope=scope,
                access=access,
                seed_ids=map(node_id, seeds),
                max_depth=2,
                max_nodes=120,
                edge_allowlist=["*"],
                direction=retrieval_pb2.EDGE_DIRECTION_OUTGOING,
            )
        case "fetch":
            return retrieval_pb2.FetchNodeTextsRequest(
                scope=scope,
                access=access,
                seed_ids=map(node_id, _some_rows(corpus, number, 20)),
                budget_tokens=100_000,
                prioritization_mode=retrieval_pb2.PRIORITIZATION_MODE_SEED_FIRST,
            )
        case "query":
            return query_pb2.QueryRequest(
                scope=scope,
                access=access,
                filter=_filter(scenario),
                query=corpus.query_texts[number],
                query_vector=corpus.query_vectors[number].tolist(),
                hybrid=query_pb2.HybridParameters(top_k=ANSWERS),
            )
        case kind:
            return retrieval_pb2.SearchNodesRequest(
                scope=scope,
                access=access,
                filter=_filter(scenario),
                search_type=SEARCHES[kind],
                query="" if kind == "semantic" else corpus.query_texts[number],
                query_vector=() if kind == "bm25" else corpus.query_vectors[number].tolist(),
                top_k=ANSWERS,
            )


def _some_rows(corpus: Corpus, number: int, count: int) -> Sequence[int]:
    generator = np.random.default_rng((corpus.shape["seed"], number))
    drawn: list[int] = generator.choice(np.arange(1, len(corpus)), count, replace=False).tolist()
    return drawn


def _filter(scenario: Scenario) -> scope_pb2.NodeFilter | None:
    if not scenario.filter:
        return None
    wanted = FILTERS[scenario.filter]
    message = scope_pb2.NodeFilter()
    getattr(message, _FIELDS[wanted.column]).append(wanted.value)
    return message
