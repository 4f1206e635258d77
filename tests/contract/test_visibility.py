"""Deleted nodes at every method: who may ask for them, and that what a query announces can be fetched."""

from collections.abc import Callable, Iterator
from typing import TypeAlias

import grpc
import pytest
from google.protobuf.message import Message

from groundwire.v1 import evidence_pb2, query_pb2, query_pb2_grpc, retrieval_pb2, retrieval_pb2_grpc, scope_pb2
from groundwire.v1.scope_pb2 import LIFECYCLE_ACTIVE, LIFECYCLE_ALL, LIFECYCLE_DELETED, AccessContext
from support.platform import EVERYTHING, MAIN, NOW, timestamp
from support.platform_corpus import AUDITOR_TAG, BILLING, FINANCE_TAG
from support.program import Server
from support.refusals import DENIED, Row, check_refused

AUDITOR = AccessContext(acl_tags_any=[AUDITOR_TAG])
PREFIX = "platform::main::"
LEGACY, CHARGE, WITHDRAWN = (
    PREFIX + key for key in ("go::auth/GetUserLegacy", "go::payment/ChargeCard", "md::refund/withdrawn")
)
SECRET = f"{PREFIX}md::refund/secret"
Asked: TypeAlias = scope_pb2.Lifecycle.ValueType


@pytest.fixture(scope="module")
def channel(platform_server: Server) -> Iterator[grpc.Channel]:
    with grpc.insecure_channel(platform_server.address) as channel:
        yield channel


@pytest.fixture(scope="module")
def retrieval(channel: grpc.Channel) -> retrieval_pb2_grpc.RetrievalServiceStub:
    return retrieval_pb2_grpc.RetrievalServiceStub(channel)


def searching(lifecycle: Asked, access: AccessContext) -> retrieval_pb2.SearchNodesRequest:
    return retrieval_pb2.SearchNodesRequest(
        scope=MAIN, access=access, lifecycle=lifecycle, search_type=retrieval_pb2.SEARCH_TYPE_BM25,
        query="GetUserLegacy stamp", top_k=50,
    )  # fmt: skip


def expanding(lifecycle: Asked, access: AccessContext) -> retrieval_pb2.ExpandDependencyTreeRequest:
    return retrieval_pb2.ExpandDependencyTreeRequest(
        scope=MAIN, access=access, lifecycle=lifecycle, seed_ids=[LEGACY, CHARGE], max_depth=1, max_nodes=50,
        edge_allowlist=["*"],
    )  # fmt: skip


def pathfinding(lifecycle: Asked, access: AccessContext) -> retrieval_pb2.FindPathsRequest:
    return retrieval_pb2.FindPathsRequest(
        scope=MAIN, access=access, lifecycle=lifecycle, from_ids=[LEGACY], to_ids=[CHARGE], max_hops=2, max_paths=9,
        max_nodes=50, edge_allowlist=["*"],
    )  # fmt: skip


def fetching(lifecycle: Asked, access: AccessContext) -> retrieval_pb2.FetchNodeTextsRequest:
    return retrieval_pb2.FetchNodeTextsRequest(
        scope=MAIN, access=access, lifecycle=lifecycle, seed_ids=[LEGACY, CHARGE, SECRET], budget_tokens=9_999
    )


def resolving(lifecycle: Asked, access: AccessContext) -> retrieval_pb2.ResolveNodesRequest:
    return retrieval_pb2.ResolveNodesRequest(
        scope=MAIN, access=access, lifecycle=lifecycle, names=[LEGACY, CHARGE, SECRET], max_nodes=9
    )


def finding_lines(lifecycle: Asked, access: AccessContext) -> retrieval_pb2.SearchTextRequest:
    return retrieval_pb2.SearchTextRequest(
        scope=MAIN, access=access, lifecycle=lifecycle, pattern="stamp", max_matches=9
    )


def asking(lifecycle: Asked, access: AccessContext) -> query_pb2.QueryRequest:
    return query_pb2.QueryRequest(
        scope=MAIN, access=access, lifecycle=lifecycle, query="stamp", query_vector=BILLING, now=timestamp(NOW),
        hybrid=EVERYTHING, budget_tokens=1,
    )  # fmt: skip


def gathering(lifecycle: Asked, access: AccessContext) -> evidence_pb2.GatherEvidenceRequest:
    return evidence_pb2.GatherEvidenceRequest(
        scope=MAIN, access=access, lifecycle=lifecycle, question="stamp", query_vector=BILLING, now=timestamp(NOW),
        budget_tokens=1_000,
    )  # fmt: skip


Request = Callable[[Asked, AccessContext], Message]


@pytest.mark.parametrize("lifecycle", [LIFECYCLE_ALL, LIFECYCLE_DELETED], ids=scope_pb2.Lifecycle.Name)
@pytest.mark.parametrize(
    "access", [AccessContext(), AccessContext(acl_tags_any=[FINANCE_TAG])], ids=["public", "other"]
)
@pytest.mark.parametrize(
    ("method", "request_"),
    [
        ("SearchNodes", searching),
        ("ResolveNodes", resolving),
        ("SearchText", finding_lines),
        ("ExpandDependencyTree", expanding),
        ("FindPaths", pathfinding),
        ("FetchNodeTexts", fetching),
        ("Query", asking),
        ("GatherEvidence", gathering),
    ],
)
def test_only_those_who_may_ask_for_deleted_nodes(
    channel: grpc.Channel, method: str, request_: Request, access: AccessContext, lifecycle: Asked
) -> None:
    is_query = method in ("Query", "GatherEvidence")
    service = query_pb2_grpc.QueryServiceStub if is_query else retrieval_pb2_grpc.RetrievalServiceStub
    row = Row("", request_(lifecycle, access), DENIED, "LIFECYCLE_NOT_GRANTED", "lifecycle")
    check_refused(row, getattr(service(channel), method))


def test_a_search_finds_them_with_the_others_or_alone(retrieval: retrieval_pb2_grpc.RetrievalServiceStub) -> None:
    def ids_with(lifecycle: Asked) -> set[str]:
        return {hit.id for hit in retrieval.SearchNodes(searching(lifecycle, AUDITOR), timeout=300).hits}

    active, deleted = ids_with(LIFECYCLE_ACTIVE), ids_with(LIFECYCLE_DELETED)
    assert deleted == {LEGACY, WITHDRAWN}
    assert active
    assert not active & deleted
    assert ids_with(LIFECYCLE_ALL) == active | deleted


def test_walks_and_paths_lead_through_them(retrieval: retrieval_pb2_grpc.RetrievalServiceStub) -> None:
    def reached(lifecycle: Asked) -> tuple[list[str], int]:
        nodes = retrieval.ExpandDependencyTree(expanding(lifecycle, AUDITOR), timeout=300).nodes
        return [node.id for node in nodes], len(retrieval.FindPaths(pathfinding(lifecycle, AUDITOR), timeout=300).paths)

    assert reached(LIFECYCLE_ACTIVE) == ([CHARGE], 0)
    assert reached(LIFECYCLE_ALL) == ([LEGACY, CHARGE], 1)
    assert reached(LIFECYCLE_DELETED) == ([LEGACY], 0)


def test_texts_are_returned_as_far_as_the_caller_may_see_them(
    retrieval: retrieval_pb2_grpc.RetrievalServiceStub,
) -> None:
    def fetched(lifecycle: Asked, *tags: str) -> list[str]:
        access = AccessContext(acl_tags_any=[AUDITOR_TAG, *tags])
        return [text.id for text in retrieval.FetchNodeTexts(fetching(lifecycle, access), timeout=300).texts]

    assert fetched(LIFECYCLE_ACTIVE) == [CHARGE]
    assert fetched(LIFECYCLE_ALL) == [LEGACY, CHARGE]
    assert fetched(LIFECYCLE_DELETED) == [LEGACY]
    assert fetched(LIFECYCLE_DELETED, FINANCE_TAG) == [LEGACY, SECRET]


def test_what_a_query_announces_as_omitted_can_be_fetched(channel: grpc.Channel) -> None:
    retrieval, queries = retrieval_pb2_grpc.RetrievalServiceStub(channel), query_pb2_grpc.QueryServiceStub(channel)
    answer = queries.Query(asking(LIFECYCLE_DELETED, AUDITOR), timeout=300)
    omitted = [match.id for match in answer.matches if match.text_omitted]
    assert WITHDRAWN in omitted
    request = fetching(LIFECYCLE_DELETED, AUDITOR)
    request.seed_ids[:] = omitted
    assert [text.id for text in retrieval.FetchNodeTexts(request, timeout=300).texts] == omitted
