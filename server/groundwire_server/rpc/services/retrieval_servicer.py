"""RetrievalService and QueryService: decode, one engine call, encode."""

from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

import grpc.aio

from groundwire.v1 import query_pb2, query_pb2_grpc, retrieval_pb2, retrieval_pb2_grpc
from groundwire_server.rpc.calls import running_call
from groundwire_server.rpc.conversions.expansion import decode_expand, encode_expansion
from groundwire_server.rpc.conversions.paths import decode_paths, encode_paths
from groundwire_server.rpc.conversions.query import decode_query
from groundwire_server.rpc.conversions.query_result import encode_query
from groundwire_server.rpc.conversions.search import decode_search, encode_search
from groundwire_server.rpc.conversions.texts import decode_fetch, encode_fetch
from groundwire_server.rpc.identity.access_control import AccessControl

if TYPE_CHECKING:
    from groundwire_server.engine.engine import RetrievalEngine


class QueryServicer(query_pb2_grpc.QueryServiceServicer):
    """The whole flow over the wire. The server's clock is read here and nowhere below."""

    def __init__(self, engine: "RetrievalEngine", access: AccessControl) -> None:
        self._engine = engine
        self._access = access

    async def Query(
        self,
        request: query_pb2.QueryRequest,
        context: grpc.aio.ServicerContext[query_pb2.QueryRequest, query_pb2.QueryResponse],
    ) -> query_pb2.QueryResponse:
        """See the contract."""
        access = self._access.authorise(request)
        decode = partial(decode_query, request, access, datetime.now(UTC))
        return await running_call().run(decode, self._engine.query, encode_query)


class RetrievalServicer(retrieval_pb2_grpc.RetrievalServiceServicer):
    """The actions over the wire."""

    def __init__(self, engine: "RetrievalEngine", access: AccessControl) -> None:
        self._engine = engine
        self._access = access

    async def SearchNodes(
        self,
        request: retrieval_pb2.SearchNodesRequest,
        context: grpc.aio.ServicerContext[retrieval_pb2.SearchNodesRequest, retrieval_pb2.SearchNodesResponse],
    ) -> retrieval_pb2.SearchNodesResponse:
        """See the contract."""
        access = self._access.authorise(request)
        decode = partial(decode_search, request, access)
        return await running_call().run(decode, self._engine.search, encode_search)

    async def ExpandDependencyTree(
        self,
        request: retrieval_pb2.ExpandDependencyTreeRequest,
        context: grpc.aio.ServicerContext[
            retrieval_pb2.ExpandDependencyTreeRequest, retrieval_pb2.ExpandDependencyTreeResponse
        ],
    ) -> retrieval_pb2.ExpandDependencyTreeResponse:
        """See the contract."""
        access = self._access.authorise(request)
        decode = partial(decode_expand, request, access)
        return await running_call().run(decode, self._engine.expand, encode_expansion)

    async def FindPaths(
        self,
        request: retrieval_pb2.FindPathsRequest,
        context: grpc.aio.ServicerContext[retrieval_pb2.FindPathsRequest, retrieval_pb2.FindPathsResponse],
    ) -> retrieval_pb2.FindPathsResponse:
        """See the contract."""
        access = self._access.authorise(request)
        decode = partial(decode_paths, request, access)
        return await running_call().run(decode, self._engine.find_paths, encode_paths)

    async def FetchNodeTexts(
        self,
        request: retrieval_pb2.FetchNodeTextsRequest,
        context: grpc.aio.ServicerContext[retrieval_pb2.FetchNodeTextsRequest, retrieval_pb2.FetchNodeTextsResponse],
    ) -> retrieval_pb2.FetchNodeTextsResponse:
        """See the contract."""
        access = self._access.authorise(request)
        decode = partial(decode_fetch, request, access)
        return await running_call().run(decode, self._engine.fetch, encode_fetch)
