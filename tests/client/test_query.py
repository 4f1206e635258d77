"""Queries over the wire, through the sync and the asyncio client."""

from __future__ import annotations

import inspect
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import grpc
import pytest
from google.rpc import error_details_pb2

from groundwire.v1 import query_pb2, retrieval_pb2
from groundwire_client import (
    AccessContext,
    AsyncGroundwireClient,
    FusionMode,
    GroundwireClient,
    GroundwireError,
    HybridParameters,
    IndexScope,
    Lifecycle,
    NodeFilter,
    NotFoundError,
    PermissionDeniedError,
    Retriever,
    ids,
)

if TYPE_CHECKING:
    from google.protobuf.message import Message

    from client.conftest import Caller, FakeServer

SCOPE = IndexScope(repository="shop", branch="main")


def test_a_query_brings_matches_services_and_how_they_were_found(server: FakeServer, call: Caller) -> None:
    answer = query_pb2.QueryResponse(
        matches=[
            query_pb2.QueryMatch(id="a", rank=1, score=0.75, text="decimal Vat();", token_count=4),
            query_pb2.QueryMatch(id="b", text="class Vat", meta=query_pb2.MatchMeta(neighbor=True, neighbor_of="a")),
        ],
        service_context=[query_pb2.ServiceContext(service_name="billing", calls=["tax"])],
        meta=query_pb2.RetrieveMeta(matches_returned=1, query_class=query_pb2.QUERY_CLASS_IDENTIFIER, exact=True),
        index="v1",
    )
    server.answer(answer)
    result = call(server.target, lambda client: client.query(SCOPE, "Vat", include_neighbors=True, expand_graph=True))
    assert result == answer
    assert ids(answer) == ["a"]
    assert server.methods == ["Query"]


def test_a_query_without_arguments_takes_the_servers_defaults(server: FakeServer, call: Caller) -> None:
    call(server.target, lambda client: client.query(SCOPE, "vat"))
    assert server.attempts[0].request == query_pb2.QueryRequest(scope=SCOPE, query="vat")


def test_each_argument_of_a_query_reaches_the_server(server: FakeServer, call: Caller) -> None:
    arguments: dict[str, Any] = {
        "hybrid": HybridParameters(top_k=3, alpha=0.5),
        "top_k": 4,
        "filter": NodeFilter(repo_names=["shop"]),
        "lifecycle": Lifecycle.LIFECYCLE_DELETED,
        "process": "review",
        "doc_class": "contract",
        "workflow_id": "w1",
        "retrievers": [Retriever.RETRIEVER_DENSE],
        "fusion": FusionMode.FUSION_MODE_WEIGHTED,
        "rrf_k": 7,
        "rerank": True,
        "freshness_half_life_days": 30,
        "freshness_weight": 0.5,
        "now": datetime(2025, 1, 1, 12, tzinfo=timezone(timedelta(hours=2))),
        "include_parents": True,
        "include_neighbors": True,
        "expand_graph": True,
        "not_found_when_empty": True,
        "query_vector": (1.0, 0.0),
        "budget_tokens": 500,
        "cap_top_k": True,
        "history": True,
    }
    call_access = AccessContext(tenant_id="acme", clearance_level=2)
    call(server.target, lambda client: client.query(SCOPE, "vat", access=call_access, timeout=40, **arguments))
    request = server.attempts[0].request
    assert request == query_pb2.QueryRequest(scope=SCOPE, access=call_access, query="vat", **arguments)
    fields = set(query_pb2.QueryRequest.DESCRIPTOR.fields_by_name) - {"scopes"}
    assert {field.name for field, _ in request.ListFields()} == fields
    assert 30 < server.attempts[0].time_remaining < 41


@pytest.mark.parametrize("client", [GroundwireClient, AsyncGroundwireClient])
@pytest.mark.parametrize(
    ("method", "request_type"),
    [
        ("search", retrieval_pb2.SearchNodesRequest),
        ("expand", retrieval_pb2.ExpandDependencyTreeRequest),
        ("find_paths", retrieval_pb2.FindPathsRequest),
        ("fetch", retrieval_pb2.FetchNodeTextsRequest),
        ("query", query_pb2.QueryRequest),
    ],
)
def test_the_clients_take_what_a_request_takes(client: type, method: str, request_type: type[Message]) -> None:
    taken = set(inspect.signature(getattr(client, method)).parameters) - {"self", "timeout"}
    assert taken == set(request_type.DESCRIPTOR.fields_by_name) - {"scopes"}  # `scope` may be several


def test_a_time_needs_a_zone(server: FakeServer, call: Caller) -> None:
    with pytest.raises(ValueError, match="now: 2025-01-01T00:00:00 has no time zone"):
        call(server.target, lambda client: client.query(SCOPE, "vat", now=datetime(2025, 1, 1)))


@pytest.mark.parametrize(
    ("code", "reason", "kind"),
    [
        (grpc.StatusCode.NOT_FOUND, "NO_MATCHES", NotFoundError),
        (grpc.StatusCode.PERMISSION_DENIED, "LIFECYCLE_NOT_GRANTED", PermissionDeniedError),
    ],
)
def test_the_errors_of_a_query_have_a_class_and_a_reason(
    server: FakeServer, call: Caller, code: grpc.StatusCode, reason: str, kind: type[GroundwireError]
) -> None:
    info = error_details_pb2.ErrorInfo(reason=f"ERROR_REASON_{reason}", domain="groundwire")
    server.fail(code, "it says so", [info])
    with pytest.raises(kind) as raised:
        call(server.target, lambda client: client.query(SCOPE, "vat", not_found_when_empty=True))
    assert raised.value.reason == reason
