"""QueryService: decode, one engine call, encode."""

from datetime import UTC, datetime
from functools import partial

import grpc.aio

from groundwire.v1 import query_pb2, query_pb2_grpc
from groundwire_server.engine.engine import RetrievalEngine
from groundwire_server.rpc.calls import CallRunner
from groundwire_server.rpc.conversions.query import decode_query
from groundwire_server.rpc.conversions.query_result import encode_query
from groundwire_server.rpc.identity.access_control import AccessControl


class QueryServicer(query_pb2_grpc.QueryServiceServicer):
    """The whole flow over the wire. The server's clock is read here and nowhere below."""

    def __init__(self, engine: RetrievalEngine, access: AccessControl, calls: CallRunner) -> None:
        self._engine = engine
        self._access = access
        self._calls = calls

    async def Query(
        self,
        request: query_pb2.QueryRequest,
        context: grpc.aio.ServicerContext[query_pb2.QueryRequest, query_pb2.QueryResponse],
    ) -> query_pb2.QueryResponse:
        """See the contract."""
        access = self._access.authorise(request)
        decode = partial(decode_query, request, access, datetime.now(UTC))
        return await self._calls.run("Query", context, decode, self._engine.query, encode_query)
