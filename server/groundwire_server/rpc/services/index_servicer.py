"""IndexService: decode, one call of the index directory, encode."""

from functools import partial

import grpc.aio

from groundwire.v1 import index_pb2, index_pb2_grpc
from groundwire_index.scope import Scope
from groundwire_server.backends.index_directory import IndexDirectory
from groundwire_server.domain.indexes import IndexNames, IndexSummary
from groundwire_server.execution.call import Call
from groundwire_server.rpc.calls import running_call
from groundwire_server.rpc.conversions.indexes import decode_index_scope, decode_listing, encode_described, encode_index
from groundwire_server.rpc.identity.access_control import AccessControl


class IndexServicer(index_pb2_grpc.IndexServiceServicer):
    """Lists index versions; activates and deletes them only if the configuration allows it."""

    def __init__(self, indexes: IndexDirectory, access: AccessControl) -> None:
        self._indexes = indexes
        self._access = access

    async def ListIndexes(
        self,
        request: index_pb2.ListIndexesRequest,
        context: grpc.aio.ServicerContext[index_pb2.ListIndexesRequest, index_pb2.ListIndexesResponse],
    ) -> index_pb2.ListIndexesResponse:
        """See the contract."""
        access, scopes = self._access.authorise_listing(request)

        async def list_indexes(names: tuple[str, str], call: Call) -> tuple[IndexSummary, ...]:
            return await call.wait_for(partial(self._indexes.list_indexes, *names, access, scopes, call.checkpoint))

        def encode(summaries: tuple[IndexSummary, ...]) -> index_pb2.ListIndexesResponse:
            return index_pb2.ListIndexesResponse(indexes=map(encode_index, summaries))

        return await running_call().run(partial(decode_listing, request), list_indexes, encode)

    async def GetIndex(
        self,
        request: index_pb2.GetIndexRequest,
        context: grpc.aio.ServicerContext[index_pb2.GetIndexRequest, index_pb2.GetIndexResponse],
    ) -> index_pb2.GetIndexResponse:
        """See the contract."""
        access = self._access.authorise(request)

        async def get_index(scope: Scope, call: Call) -> tuple[IndexSummary, IndexNames]:
            return await call.wait_for(partial(self._indexes.get_index, scope, access))

        def encode(described: tuple[IndexSummary, IndexNames]) -> index_pb2.GetIndexResponse:
            return encode_described(*described)

        return await running_call().run(partial(decode_index_scope, request), get_index, encode)

    async def ActivateIndex(
        self,
        request: index_pb2.ActivateIndexRequest,
        context: grpc.aio.ServicerContext[index_pb2.ActivateIndexRequest, index_pb2.ActivateIndexResponse],
    ) -> index_pb2.ActivateIndexResponse:
        """See the contract."""

        async def activate(scope: Scope, call: Call) -> str:
            return await call.wait_for(partial(self._indexes.activate, scope))

        def encode(previous: str) -> index_pb2.ActivateIndexResponse:
            return index_pb2.ActivateIndexResponse(previous_version=previous)

        decode = partial(self._access.authorise_administration, request)
        return await running_call().run(decode, activate, encode)

    async def DeleteIndex(
        self,
        request: index_pb2.DeleteIndexRequest,
        context: grpc.aio.ServicerContext[index_pb2.DeleteIndexRequest, index_pb2.DeleteIndexResponse],
    ) -> index_pb2.DeleteIndexResponse:
        """See the contract."""

        async def delete(scope: Scope, call: Call) -> None:
            await call.wait_for(partial(self._indexes.delete, scope))

        decode = partial(self._access.authorise_administration, request)
        return await running_call().run(decode, delete, lambda _: index_pb2.DeleteIndexResponse())
