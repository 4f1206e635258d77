"""The methods of all services over the wire: what reaches the engine, what comes back, who may change indexes."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING
from unittest.mock import ANY, Mock

import grpc
import pytest

from groundwire.v1 import (
    index_pb2,
    index_pb2_grpc,
    query_pb2,
    query_pb2_grpc,
    retrieval_pb2,
    retrieval_pb2_grpc,
    scope_pb2,
)
from groundwire_index.scope import Scope
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.access.grants import UNLIMITED
from groundwire_server.domain.errors import Reason
from groundwire_server.domain.indexes import IndexSummary
from groundwire_server.rpc.conversions.expansion import encode_expansion, encode_paths
from groundwire_server.rpc.conversions.indexes import encode_index
from groundwire_server.rpc.conversions.query_result import encode_query
from groundwire_server.rpc.conversions.resolution import encode_resolution
from groundwire_server.rpc.conversions.search import encode_search
from groundwire_server.rpc.conversions.texts import encode_fetch
from support.index_calls import calls_of_callers

if TYPE_CHECKING:
    from server.rpc.conftest import Failed, Serving

pytestmark = pytest.mark.asyncio

SCOPE = scope_pb2.IndexScope(repository="shop", branch="main", active_index="v1")
CLAIMED = scope_pb2.AccessContext(tenant_id="acme", acl_tags_any=["finance"], clearance_level=2)
HELD = AccessContext(tenant_id="acme", acl_tags_any=frozenset({"finance"}), clearance_level=2)


@pytest.mark.parametrize(("access", "held"), [(CLAIMED, HELD), (None, AccessContext())], ids=["claimed", "absent"])
async def test_an_action_asks_the_engine_once_with_the_callers_access(
    serving: "Serving", engine: Mock, access: scope_pb2.AccessContext | None, held: AccessContext
) -> None:
    async with serving() as server, grpc.aio.insecure_channel(server.address) as channel:
        stub = retrieval_pb2_grpc.RetrievalServiceStub(channel)
        searched = await stub.SearchNodes(retrieval_pb2.SearchNodesRequest(scope=SCOPE, access=access))
        named = await stub.ResolveNodes(retrieval_pb2.ResolveNodesRequest(scope=SCOPE, access=access))
        walked = await stub.ExpandDependencyTree(retrieval_pb2.ExpandDependencyTreeRequest(scope=SCOPE, access=access))
        connected = await stub.FindPaths(retrieval_pb2.FindPathsRequest(scope=SCOPE, access=access))
        fetched = await stub.FetchNodeTexts(retrieval_pb2.FetchNodeTextsRequest(scope=SCOPE, access=access))
        queried = await query_pb2_grpc.QueryServiceStub(channel).Query(
            query_pb2.QueryRequest(scope=SCOPE, access=access)
        )
    assert searched == encode_search(engine.search.return_value)
    assert named == encode_resolution(engine.resolve.return_value)
    assert walked == encode_expansion(engine.expand.return_value)
    assert connected == encode_paths(engine.find_paths.return_value)
    assert fetched == encode_fetch(engine.fetch.return_value)
    assert queried == encode_query(engine.query.return_value)
    for action in (engine.search, engine.resolve, engine.expand, engine.find_paths, engine.fetch, engine.query):
        action.assert_called_once_with(ANY, ANY)
        request = action.call_args.args[0]
        assert (request.scope, request.access) == (Scope("shop", "main", "v1"), held)


@pytest.mark.parametrize("access", [scope_pb2.AccessContext(acl_tags_any=["a", ""])])
async def test_every_method_with_an_access_context_checks_it_before_anything_else(
    serving: "Serving", engine: Mock, indexes: Mock, failed: "Failed", access: scope_pb2.AccessContext
) -> None:
    async with serving() as server, grpc.aio.insecure_channel(server.address) as channel:
        retrieval = retrieval_pb2_grpc.RetrievalServiceStub(channel)
        query = query_pb2_grpc.QueryServiceStub(channel)
        index = index_pb2_grpc.IndexServiceStub(channel)
        for call in (
            retrieval.SearchNodes(retrieval_pb2.SearchNodesRequest(scope=SCOPE, access=access)),
            retrieval.ResolveNodes(retrieval_pb2.ResolveNodesRequest(scope=SCOPE, access=access)),
            retrieval.ExpandDependencyTree(retrieval_pb2.ExpandDependencyTreeRequest(scope=SCOPE, access=access)),
            retrieval.FindPaths(retrieval_pb2.FindPathsRequest(scope=SCOPE, access=access)),
            retrieval.FetchNodeTexts(retrieval_pb2.FetchNodeTextsRequest(scope=SCOPE, access=access)),
            query.Query(query_pb2.QueryRequest(scope=SCOPE, access=access)),
            index.ListIndexes(index_pb2.ListIndexesRequest(access=access)),
            index.GetIndex(index_pb2.GetIndexRequest(scope=SCOPE, access=access)),
        ):
            failure = await failed(call)
            assert failure.violations == [("access.acl_tags_any[1]", "ERROR_REASON_FIELD_REQUIRED")]
    assert not engine.mock_calls
    assert not calls_of_callers(indexes)


async def test_a_query_is_asked_at_its_own_time_or_by_the_servers_clock(
    serving: "Serving", engine: Mock, query_request: query_pb2.QueryRequest
) -> None:
    before = datetime.now(UTC)
    async with serving() as server, grpc.aio.insecure_channel(server.address) as channel:
        stub = query_pb2_grpc.QueryServiceStub(channel)
        await stub.Query(query_request)
        query_request.now.FromJsonString("2025-01-01T10:00:00.5Z")
        await stub.Query(query_request)
    by_the_clock, stated = (call.args[0].now for call in engine.query.call_args_list)
    assert before <= by_the_clock <= datetime.now(UTC)
    assert stated == datetime(2025, 1, 1, 10, 0, 0, 500_000, tzinfo=UTC)


async def test_what_cannot_be_read_of_a_query_is_left_to_the_engine_to_tell(
    serving: "Serving", engine: Mock, query_request: query_pb2.QueryRequest
) -> None:
    """Together with the other rules that it breaks: see the contract tests."""
    query_request.now.nanos = -1
    async with serving() as server, grpc.aio.insecure_channel(server.address) as channel:
        await query_pb2_grpc.QueryServiceStub(channel).Query(query_request)
    (broken,) = engine.query.call_args.args[0].broken
    assert (broken.field, broken.reason) == ("now", Reason.VALUE_MALFORMED)


async def test_indexes_are_listed_and_described_as_the_caller_may_see_them(
    serving: "Serving", indexes: Mock, summary: IndexSummary
) -> None:
    async with serving() as server, grpc.aio.insecure_channel(server.address) as channel:
        stub = index_pb2_grpc.IndexServiceStub(channel)
        listed = await stub.ListIndexes(index_pb2.ListIndexesRequest(repository="shop", access=CLAIMED))
        described = await stub.GetIndex(index_pb2.GetIndexRequest(scope=SCOPE, access=CLAIMED))
    assert list(listed.indexes) == [encode_index(summary)]
    assert described == index_pb2.GetIndexResponse(
        index=encode_index(summary),
        kinds=["cs", "sql"],
        languages=["csharp"],
        edge_types=["Calls", "ReadsFrom"],
        folders=["src/tax/"],
    )
    indexes.list_indexes.assert_called_once_with("shop", "", HELD, UNLIMITED.scopes, ANY)
    indexes.get_index.assert_called_once_with(Scope("shop", "main", "v1"), HELD)


async def test_an_administrator_activates_and_deletes(serving: "Serving", indexes: Mock) -> None:
    async with serving(allow_admin=True) as server, grpc.aio.insecure_channel(server.address) as channel:
        stub = index_pb2_grpc.IndexServiceStub(channel)
        activated = await stub.ActivateIndex(index_pb2.ActivateIndexRequest(scope=SCOPE))
        deleted = await stub.DeleteIndex(index_pb2.DeleteIndexRequest(scope=SCOPE))
    assert activated == index_pb2.ActivateIndexResponse(previous_version="v0")
    assert deleted == index_pb2.DeleteIndexResponse()
    indexes.activate.assert_called_once_with(Scope("shop", "main", "v1"))
    indexes.delete.assert_called_once_with(Scope("shop", "main", "v1"))


@pytest.mark.parametrize("scope", [SCOPE, None], ids=["in order", "not even a scope"])
async def test_nobody_changes_indexes_unless_the_configuration_admits_it(
    serving: "Serving", indexes: Mock, failed: "Failed", scope: scope_pb2.IndexScope | None
) -> None:
    async with serving() as server, grpc.aio.insecure_channel(server.address) as channel:
        stub = index_pb2_grpc.IndexServiceStub(channel)
        for call in (
            stub.ActivateIndex(index_pb2.ActivateIndexRequest(scope=scope)),
            stub.DeleteIndex(index_pb2.DeleteIndexRequest(scope=scope)),
        ):
            failure = await failed(call)
            assert failure.code is grpc.StatusCode.PERMISSION_DENIED
            assert failure.info.reason == "ERROR_REASON_ADMINISTRATION_DISABLED"
    assert not calls_of_callers(indexes)
