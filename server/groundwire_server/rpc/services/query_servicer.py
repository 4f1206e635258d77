"""QueryService: decode, one engine call, encode."""

from datetime import UTC, datetime
from functools import partial
from typing import Protocol

import grpc.aio

from groundwire.v1 import query_pb2, query_pb2_grpc
from groundwire_server.domain.query.query import QueryRequest
from groundwire_server.domain.query.query_result import QueryResult
from groundwire_server.execution.call import Call
from groundwire_server.rpc.calls import running_call
from groundwire_server.rpc.conversions.query import decode_query
from groundwire_server.rpc.conversions.query_result import encode_query
from groundwire_server.rpc.identity.access_control import AccessControl


class QueryActions(Protocol):
    """The engine as this service needs it. It raises GroundwireError."""

    async def query(self, request: QueryRequest, call: Call) -> QueryResult:
        """Answers a question with texts."""
        ...


class QueryServicer(query_pb2_grpc.QueryServiceServicer):
    """The whole flow over the wire. The server's clock is read here and nowhere below."""

    def __init__(self, engine: QueryActions, access: AccessControl) -> None:
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
