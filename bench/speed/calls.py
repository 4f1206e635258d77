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
WALKS = ("expand", "expand hub")
METHODS: Mapping[str, str] = {
    **dict.fromkeys(SEARCHES, "/groundwire.v1.RetrievalService/SearchNodes"),
    **dict.fromkeys(WALKS, "/groundwire.v1.RetrievalService/ExpandDependencyTree"),
    "fetch": "/groundwire.v1.RetrievalService/FetchNodeTexts",
    "query": "/groundwire.v1.QueryService/Query",
}
"""The full name of the method of each kind of call."""


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
EXPANDED_NODES, EXPANDED_DEPTH, EXPANDED_SEEDS = 120, 2, 5
FETCHED_TEXTS, FETCHED_TOKENS = 20, 100_000
_SCOPE = scope_pb2.IndexScope(repository=SCOPE.repository, branch=SCOPE.branch)
_FIELDS = {RANDOM: "collection_ids", CLUSTERED: "case_ids", EVERY: "languages"}


@dataclass(frozen=True, slots=True)
class Calls:
    """Makes requests about a corpus; the caller may see all of it."""

    corpus: Corpus

    def requests(self, scenario: Scenario) -> Sequence[Request]:
        """One request for each query of the corpus."""
        numbers = range(len(self.corpus.query_texts))
        if scenario.kind in SEARCHES:
            return [self._search(scenario, number) for number in numbers]
        if scenario.kind in WALKS:
            return [self._expand(scenario.kind == "expand hub", number) for number in numbers]
        if scenario.kind == "fetch":
            return [self._fetch(number) for number in numbers]
        return [self._query(scenario, number) for number in numbers]

    def _search(self, scenario: Scenario, number: int) -> Request:
        return retrieval_pb2.SearchNodesRequest(
            scope=_SCOPE,
            access=self._access(),
            filter=_filter(scenario),
            search_type=SEARCHES[scenario.kind],
            query="" if scenario.kind == "semantic" else self.corpus.query_texts[number],
            query_vector=() if scenario.kind == "bm25" else self.corpus.query_vectors[number].tolist(),
            top_k=ANSWERS,
        )

    def _expand(self, from_hub: bool, number: int) -> Request:
        # The hub is row 0; a second seed makes every request different.
        seeds = [0, 1 + number] if from_hub else self._some_rows(number, EXPANDED_SEEDS)
        return retrieval_pb2.ExpandDependencyTreeRequest(
            scope=_SCOPE,
            access=self._access(),
            seed_ids=[node_id(row) for row in seeds],
            max_depth=EXPANDED_DEPTH,
            max_nodes=EXPANDED_NODES,
            edge_allowlist=["*"],
            direction=retrieval_pb2.EDGE_DIRECTION_OUTGOING,
        )

    def _fetch(self, number: int) -> Request:
        rows = self._some_rows(number, FETCHED_TEXTS)
        return retrieval_pb2.FetchNodeTextsRequest(
            scope=_SCOPE,
            access=self._access(),
            seed_ids=[node_id(row) for row in rows],
            budget_tokens=FETCHED_TOKENS,
            prioritization_mode=retrieval_pb2.PRIORITIZATION_MODE_SEED_FIRST,
        )

    def _query(self, scenario: Scenario, number: int) -> Request:
        return query_pb2.QueryRequest(
            scope=_SCOPE,
            access=self._access(),
            filter=_filter(scenario),
            query=self.corpus.query_texts[number],
            query_vector=self.corpus.query_vectors[number].tolist(),
            hybrid=query_pb2.HybridParameters(top_k=ANSWERS),
        )

    def _some_rows(self, number: int, count: int) -> list[int]:
        generator = np.random.default_rng((self.corpus.shape["seed"], number))
        drawn: list[int] = generator.choice(np.arange(1, len(self.corpus)), count, replace=False).tolist()
        return drawn

    def _access(self) -> scope_pb2.AccessContext:
        return scope_pb2.AccessContext(clearance_level=self.corpus.shape["policy_classes"])


def text_request(query: str) -> retrieval_pb2.SearchNodesRequest:
    """A semantic search by a text."""
    semantic = retrieval_pb2.SEARCH_TYPE_SEMANTIC
    return retrieval_pb2.SearchNodesRequest(
        scope=_SCOPE, access=scope_pb2.AccessContext(), search_type=semantic, query=query, top_k=ANSWERS
    )


def _filter(scenario: Scenario) -> scope_pb2.NodeFilter | None:
    if not scenario.filter:
        return None
    wanted = FILTERS[scenario.filter]
    message = scope_pb2.NodeFilter()
    getattr(message, _FIELDS[wanted.column]).append(wanted.value)
    return message
