"""Queries over the wire, through the sync and the asyncio client."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import grpc
import pytest
from google.rpc import error_details_pb2

from groundwire.v1 import query_pb2, scope_pb2
from groundwire_client import (
    Access,
    AsyncGroundwireClient,
    Filter,
    FusionMode,
    GroundwireClient,
    GroundwireError,
    HybridParameters,
    NotFoundError,
    PermissionDeniedError,
    QueryResult,
    RankingParameters,
    Scope,
    Source,
    Visibility,
)
from groundwire_client._query_request import query_request

if TYPE_CHECKING:
    from client.conftest import Caller, FakeServer

SCOPE = Scope("shop", "main")
SCOPE_MESSAGE = scope_pb2.IndexScope(repository="shop", branch="main")


def test_a_query_brings_matches_services_and_how_they_were_found(server: FakeServer, call: Caller) -> None:
    server.answer(
        query_pb2.QueryResponse(
            matches=[
                query_pb2.QueryMatch(id="a", rank=1, score=0.75, text="decimal Vat();", token_count=4),
                query_pb2.QueryMatch(
                    id="b", text="class Vat", meta=query_pb2.MatchMeta(neighbor=True, neighbor_of="a")
                ),
            ],
            service_context=[query_pb2.ServiceContext(service_name="billing", calls=["tax"])],
            meta=query_pb2.RetrieveMeta(matches_returned=1, query_class=query_pb2.QUERY_CLASS_IDENTIFIER, exact=True),
            index="v1",
        )
    )
    result = call(server.target, lambda client: client.query(SCOPE, "Vat", include_neighbors=True, expand_graph=True))
    assert isinstance(result, QueryResult)
    assert [(match.id, match.rank, match.text) for match in result.matches] == [
        ("a", 1, "decimal Vat();"),
        ("b", 0, "class Vat"),
    ]
    assert result.ids == ("a",)
    assert result.service_context[0].calls == ("tax",)
    assert (result.meta.matches_returned, result.meta.query_class, result.meta.exact) == (1, "identifier", True)
    assert result.index == "v1"
    assert server.methods == ["Query"]


def test_a_query_without_arguments_takes_the_servers_defaults(server: FakeServer, call: Caller) -> None:
    call(server.target, lambda client: client.query(SCOPE, "vat"))
    assert server.attempts[0].request == query_pb2.QueryRequest(
        scope=SCOPE_MESSAGE,
        query="vat",
        lifecycle=scope_pb2.LIFECYCLE_ACTIVE,
        include_parents=True,
    )


def test_each_argument_of_a_query_reaches_the_server(server: FakeServer, call: Caller) -> None:
    arguments: dict[str, Any] = {
        "hybrid": HybridParameters(top_k=3, alpha=0.5),
        "top_k": 4,
        "filter": Filter(repo_names=("shop",)),
        "visibility": Visibility.DELETED,
        "process": "review",
        "doc_class": "contract",
        "workflow_id": "w1",
        "sources": (Source.DENSE,),
        "fusion": FusionMode.WEIGHTED,
        "rrf_k": 7,
        "rerank": True,
        "ranking": RankingParameters(file_weight=0.0, repeat_factor=0.5),
        "freshness_half_life_days": 30,
        "freshness_weight": 0.5,
        "now": None,
        "include_parents": True,
        "include_neighbors": True,
        "expand_graph": True,
        "not_found_when_empty": True,
        "query_vector": (1.0, 0.0),
        "budget_tokens": 500,
    }
    own = Access("acme", clearance_level=2)
    call(server.target, lambda client: client.query(SCOPE, "vat", access=own, timeout=40, **arguments))
    assert server.attempts[0].request == query_request(SCOPE, own, "vat", **arguments)
    assert 30 < server.attempts[0].time_remaining < 41


@pytest.mark.parametrize("client", [GroundwireClient, AsyncGroundwireClient])
def test_the_clients_take_what_a_request_takes(client: type) -> None:
    mine = inspect.signature(client.query).parameters.values()  # type: ignore[attr-defined]
    sent = inspect.signature(query_request).parameters.values()
    unsent = {"self", "timeout"}
    assert {(one.name, one.annotation) for one in mine if one.name not in unsent} == {
        (one.name, one.annotation) for one in sent
    }
    defaults = {one.name: one.default for one in mine}
    assert defaults == {one.name: one.default for one in inspect.signature(GroundwireClient.query).parameters.values()}


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
