"""Two collections that lie across each other: what a filter or a bound leaves, at every method and of everything."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import grpc
import pytest
from google.protobuf.message import Message

from groundwire.v1 import (
    evidence_pb2,
    index_pb2,
    index_pb2_grpc,
    query_pb2,
    query_pb2_grpc,
    retrieval_pb2,
    retrieval_pb2_grpc,
)
from groundwire.v1.scope_pb2 import AccessContext, Bound, IndexScope, NodeFilter
from support.platform import EVERYTHING, NOW, timestamp
from support.platform_corpus import BILLING
from support.program import Server

SCOPE = IndexScope(repository="platform", branch="collections")
PREFIX = "platform::collections::md::"
RED = {"red/first", "red/third", "red/whole"}
BLUE = {"blue/second", "blue/whole"}
ALL = RED | BLUE | {"nowhere"}
EVERY_ID = [PREFIX + name for name in sorted(ALL | {"blue/withdrawn", "absent"})]
UNAVAILABLE = retrieval_pb2.SKIP_REASON_UNAVAILABLE


@dataclass(frozen=True)
class Caller:
    """Asks every method about all nodes, within a filter and an access of its own."""

    channel: grpc.Channel
    access: AccessContext
    filter: NodeFilter

    @property
    def _retrieval(self) -> retrieval_pb2_grpc.RetrievalServiceStub:
        return retrieval_pb2_grpc.RetrievalServiceStub(self.channel)

    def searched(self, search_type: retrieval_pb2.SearchType.ValueType) -> list[str]:
        response = self._retrieval.SearchNodes(
            retrieval_pb2.SearchNodesRequest(
                scope=SCOPE, access=self.access, filter=self.filter, search_type=search_type, query="refund", top_k=50,
                query_vector=() if search_type == retrieval_pb2.SEARCH_TYPE_BM25 else BILLING, explain=True,
            ),
            timeout=300,
        )  # fmt: skip
        assert response.debug.visible_count == len(response.hits)
        return names(hit.id for hit in response.hits)

    def expanded(self, *seeds: str, depth: int = 5) -> retrieval_pb2.ExpandDependencyTreeResponse:
        request = retrieval_pb2.ExpandDependencyTreeRequest(
            scope=SCOPE, access=self.access, filter=self.filter, seed_ids=[PREFIX + seed for seed in seeds] or EVERY_ID,
            max_depth=depth, max_nodes=50, edge_allowlist=["*"], direction=retrieval_pb2.EDGE_DIRECTION_BOTH,
        )  # fmt: skip
        return self._retrieval.ExpandDependencyTree(request, timeout=300)

    def paths(self, from_ids: list[str], to_ids: list[str]) -> retrieval_pb2.FindPathsResponse:
        request = retrieval_pb2.FindPathsRequest(
            scope=SCOPE, access=self.access, filter=self.filter, from_ids=from_ids, to_ids=to_ids, max_hops=5,
            max_paths=50, max_nodes=50, edge_allowlist=["*"],
        )  # fmt: skip
        return self._retrieval.FindPaths(request, timeout=300)

    def resolved(self) -> retrieval_pb2.ResolveNodesResponse:
        request = retrieval_pb2.ResolveNodesRequest(
            scope=SCOPE, access=self.access, filter=self.filter, names=EVERY_ID, max_nodes=50
        )
        return self._retrieval.ResolveNodes(request, timeout=300)

    def lines(self) -> retrieval_pb2.SearchTextResponse:
        request = retrieval_pb2.SearchTextRequest(
            scope=SCOPE, access=self.access, filter=self.filter, pattern="refund", max_matches=50
        )
        return self._retrieval.SearchText(request, timeout=300)

    def fetched(self) -> retrieval_pb2.FetchNodeTextsResponse:
        request = retrieval_pb2.FetchNodeTextsRequest(
            scope=SCOPE, access=self.access, filter=self.filter, seed_ids=EVERY_ID[:3], budget_tokens=9_999,
            nodes=[retrieval_pb2.ReachedNode(id=id_, depth=1, parent_id=EVERY_ID[0]) for id_ in EVERY_ID[3:]],
        )  # fmt: skip
        return self._retrieval.FetchNodeTexts(request, timeout=300)

    def answered(self, query: str = "refund") -> query_pb2.QueryResponse:
        request = query_pb2.QueryRequest(
            scope=SCOPE, access=self.access, filter=self.filter, query=query, query_vector=BILLING, hybrid=EVERYTHING,
            include_parents=True, include_neighbors=True, expand_graph=True, now=timestamp(NOW),
        )  # fmt: skip
        return query_pb2_grpc.QueryServiceStub(self.channel).Query(request, timeout=300)

    def gathered(self) -> evidence_pb2.GatherEvidenceResponse:
        request = evidence_pb2.GatherEvidenceRequest(
            scope=SCOPE, access=self.access, filter=self.filter, question="refund", query_vector=BILLING,
            budget_tokens=4_000, now=timestamp(NOW), shown_ids=EVERY_ID[:1],
        )  # fmt: skip
        return query_pb2_grpc.QueryServiceStub(self.channel).GatherEvidence(request, timeout=300)


def names(ids: Iterator[str]) -> list[str]:
    return sorted(id_.removeprefix(PREFIX) for id_ in ids)


RESTRICTIONS: dict[str, tuple[AccessContext, NodeFilter]] = {
    "filter": (AccessContext(), NodeFilter(collection_ids=["red"])),
    "bound to a collection": (AccessContext(collections=Bound(values=["red", "absent"])), NodeFilter()),
    "bound to a case": (AccessContext(cases=Bound(values=["red case"])), NodeFilter()),
    "bound to a workflow": (AccessContext(workflows=Bound(values=["red"])), NodeFilter()),
    "bound twice": (
        AccessContext(collections=Bound(values=["red"]), workflows=Bound(values=["shared"])),
        NodeFilter(collection_ids=["red", "blue"]),
    ),
}


@pytest.fixture(scope="module")
def channel(platform_server: Server) -> Iterator[grpc.Channel]:
    with grpc.insecure_channel(platform_server.address) as channel:
        yield channel


@pytest.fixture
def everyone(channel: grpc.Channel) -> Caller:
    return Caller(channel, AccessContext(), NodeFilter())


@pytest.fixture(params=list(RESTRICTIONS))
def red(channel: grpc.Channel, request: pytest.FixtureRequest) -> Caller:
    return Caller(channel, *RESTRICTIONS[request.param])


SEARCH_TYPES = [retrieval_pb2.SEARCH_TYPE_SEMANTIC, retrieval_pb2.SEARCH_TYPE_BM25, retrieval_pb2.SEARCH_TYPE_HYBRID]


@pytest.mark.parametrize("search_type", SEARCH_TYPES, ids=retrieval_pb2.SearchType.Name)
def test_a_search_finds_nothing_else(
    everyone: Caller, red: Caller, search_type: retrieval_pb2.SearchType.ValueType
) -> None:
    assert set(everyone.searched(search_type)) == ALL
    assert set(red.searched(search_type)) == RED


def test_a_walk_neither_starts_from_nor_reaches_nor_passes_anything_else(everyone: Caller, red: Caller) -> None:
    assert set(names(node.id for node in everyone.expanded().nodes)) == ALL
    walk = red.expanded()
    assert set(names(iter(walk.seed_ids))) == set(names(node.id for node in walk.nodes)) == RED
    assert sorted((edge.from_id, edge.to_id) for edge in walk.edges) == [
        (f"{PREFIX}red/first", f"{PREFIX}red/third"),
        (f"{PREFIX}red/whole", f"{PREFIX}red/first"),
    ]
    # What leads on from the last node leads to nothing that there is.
    assert everyone.expanded("red/first", depth=1).debug.reason == "depth_reached"
    assert red.expanded("red/first", depth=1).debug.reason == "ok"


def test_no_path_leads_through_anything_else(everyone: Caller, red: Caller) -> None:
    ends = [f"{PREFIX}red/first", f"{PREFIX}blue/whole"], [f"{PREFIX}red/third", f"{PREFIX}blue/second"]
    through = [path.node_ids for path in everyone.paths([f"{PREFIX}red/first"], [f"{PREFIX}red/third"]).paths]
    assert [f"{PREFIX}red/first", f"{PREFIX}blue/second", f"{PREFIX}red/third"] in through
    assert {path.node_ids[-1] for path in everyone.paths(*ends).paths} == set(ends[1])
    response = red.paths(*ends)
    assert [list(path.node_ids) for path in response.paths] == [[f"{PREFIX}red/first", f"{PREFIX}red/third"]]
    assert (response.debug.from_count, response.debug.to_count) == (1, 1)


def test_no_other_text_is_returned(everyone: Caller, red: Caller) -> None:
    assert set(names(text.id for text in everyone.fetched().texts)) == ALL
    response = red.fetched()
    assert set(names(text.id for text in response.texts)) == RED
    assert {node.reason for node in response.skipped} == {UNAVAILABLE}
    assert set(names(node.id for node in response.skipped)) == {*ALL, "blue/withdrawn", "absent"} - RED


def test_a_query_answers_with_nothing_else_neither_around_its_matches(everyone: Caller, red: Caller) -> None:
    def around(response: query_pb2.QueryResponse) -> tuple[set[str], set[str], set[str]]:
        matches = set(names(match.id for match in response.matches if not match.meta.neighbor))
        parents = set(names(parent.id for match in response.matches for parent in match.meta.parents))
        assert parents == {id_.removeprefix(PREFIX) for match in response.matches for id_ in match.meta.parent_ids}
        services = {edge.to_service for context in response.service_context for edge in context.edges}
        return matches, parents, services

    assert around(everyone.answered()) == (ALL, {"red/whole", "blue/whole"}, {"pay-service", "order-service"})
    response = red.answered()
    assert around(response) == (RED, {"red/whole"}, {"order-service"})
    assert response.meta.deleted_matches_blocked == 0
    assert everyone.answered().meta.deleted_matches_blocked == 1


def test_neighbours_are_of_the_same_collection(everyone: Caller, red: Caller) -> None:
    """The chunk between two red ones is blue: to who is held to red, they stand beside each other."""

    def beside(caller: Caller) -> list[str]:
        request = query_pb2.QueryRequest(
            scope=SCOPE, access=caller.access, filter=caller.filter, query="stamp", now=timestamp(NOW),
            retrievers=[retrieval_pb2.RETRIEVER_BM25_CODE], top_k=1, hybrid=query_pb2.HybridParameters(),
            include_neighbors=True,
        )  # fmt: skip
        response = query_pb2_grpc.QueryServiceStub(caller.channel).Query(request, timeout=300)
        (match, *neighbors) = response.matches
        assert match.id == f"{PREFIX}red/first"
        return names(neighbor.id for neighbor in neighbors)

    assert beside(everyone) == ["blue/second"]
    assert beside(red) == ["red/third"]


def test_evidence_is_of_nothing_else(everyone: Caller, red: Caller) -> None:
    def ids_in(response: evidence_pb2.GatherEvidenceResponse) -> set[str]:
        ends = [end for edge in response.edges for end in (edge.from_id, edge.to_id)]
        ids = [*(passage.id for passage in response.passages), *(node.id for node in response.named), *ends]
        return set(names(iter(ids)))

    assert ids_in(everyone.gathered()) - RED
    assert ids_in(red.gathered()) <= RED
    assert ids_in(red.gathered())


METHODS: dict[str, Callable[[Caller], Message]] = {
    "SearchNodes": lambda caller: retrieval_pb2_grpc.RetrievalServiceStub(caller.channel).SearchNodes(
        retrieval_pb2.SearchNodesRequest(
            scope=SCOPE, access=caller.access, search_type=retrieval_pb2.SEARCH_TYPE_BM25, query="refund", top_k=1
        )
    ),
    "ResolveNodes": Caller.resolved,
    "SearchText": Caller.lines,
    "ExpandDependencyTree": Caller.expanded,
    "FindPaths": lambda caller: caller.paths(EVERY_ID, EVERY_ID),
    "FetchNodeTexts": Caller.fetched,
    "Query": Caller.answered,
    "GatherEvidence": Caller.gathered,
    "GetIndex": lambda caller: index_pb2_grpc.IndexServiceStub(caller.channel).GetIndex(
        index_pb2.GetIndexRequest(scope=SCOPE, access=caller.access)
    ),
}


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
@pytest.mark.parametrize(
    "access",
    [
        AccessContext(collections=Bound(values=["green"])),
        AccessContext(collections=Bound()),
        AccessContext(collections=Bound(values=["red"]), cases=Bound(values=["blue case"])),
        AccessContext(documents=Bound(values=["manual"]), workflows=Bound(values=["*"])),
    ],
    ids=["absent", "nothing", "each empties the other", "a star is a letter"],
)
def test_to_whom_nothing_is_left_the_scope_does_not_exist(
    channel: grpc.Channel, access: AccessContext, method: Callable[[Caller], Message]
) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        method(Caller(channel, access, NodeFilter()))
    assert isinstance(caught.value, grpc.Call)
    assert caught.value.code() is grpc.StatusCode.NOT_FOUND
    assert caught.value.details() == "there is no such repository and branch, or you may not see it"


def test_indexes_are_listed_and_counted_within_bounds(channel: grpc.Channel) -> None:
    stub = index_pb2_grpc.IndexServiceStub(channel)

    def listed(access: AccessContext) -> list[tuple[str, int, int]]:
        request = index_pb2.ListIndexesRequest(repository="platform", access=access)
        return [(index.branch, index.node_count, index.edge_count) for index in stub.ListIndexes(request).indexes]

    assert ("collections", 6, 6) in listed(AccessContext())
    assert listed(AccessContext(collections=Bound(values=["red"]))) == [("collections", 3, 2)]
    assert listed(AccessContext(documents=Bound(values=["manual"]))) == [("collections", 4, 4)]
    assert listed(AccessContext(collections=Bound())) == []
    got = stub.GetIndex(index_pb2.GetIndexRequest(scope=SCOPE, access=AccessContext(cases=Bound(values=["blue case"]))))
    assert (got.index.node_count, got.index.edge_count) == (2, 0)


def test_a_filter_narrows_within_bounds_and_never_beyond(channel: grpc.Channel) -> None:
    bound = AccessContext(collections=Bound(values=["red"]))
    beyond = Caller(channel, bound, NodeFilter(collection_ids=["blue"]))
    assert beyond.searched(retrieval_pb2.SEARCH_TYPE_BM25) == []
    assert not beyond.expanded().nodes
    assert not beyond.fetched().texts
    assert not beyond.answered().matches
    inside = Caller(channel, bound, NodeFilter(service_names=["auth-service"]))
    assert inside.searched(retrieval_pb2.SEARCH_TYPE_BM25) == ["red/first"]
