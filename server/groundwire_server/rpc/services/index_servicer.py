"""IndexService: decode, one call of the index directory, encode."""

import grpc.aio

from groundwire.v1 import index_pb2, index_pb2_grpc
from groundwire_server.backends.interface import IndexDirectory
from groundwire_server.domain.checkpoint import Checkpoint
from groundwire_server.rpc.calls import CallRunner
from groundwire_server.rpc.conversions.indexes import (
    decode_index_scope,
    decode_listing,
    encode_index,
)
from groundwire_server.rpc.identity.access_control import AccessControl


class IndexServicer(index_pb2_grpc.IndexServiceServicer):
    """What is indexed; changing it only where the configuration admits that."""

    def __init__(self, indexes: IndexDirectory, access: AccessControl, calls: CallRunner) -> None:
        self._indexes = indexes
        self._access = access
        self._calls = calls

    async def ListIndexes(
        self,
        request: index_pb2.ListIndexesRequest,
        context: grpc.aio.ServicerContext[index_pb2.ListIndexesRequest, index_pb2.ListIndexesResponse],
    ) -> index_pb2.ListIndexesResponse:
        """See the contract."""
        access, scopes = self._access.admit_listing(request)
        repository, branch = decode_listing(request)

        def list_indexes(checkpoint: Checkpoint) -> index_pb2.ListIndexesResponse:
            summaries = self._indexes.list_indexes(repository, branch, access, scopes, checkpoint)
            return index_pb2.ListIndexesResponse(indexes=map(encode_index, summaries))

        return await self._calls.run("ListIndexes", context, list_indexes)

    async def GetIndex(
        self,
        request: index_pb2.GetIndexRequest,
        context: grpc.aio.ServicerContext[index_pb2.GetIndexRequest, index_pb2.GetIndexResponse],
    ) -> index_pb2.GetIndexResponse:
        """See the contract."""
        access = self._access.admit(request)
        scope = decode_index_scope(request)

        def get_index(_: Checkpoint) -> index_pb2.GetIndexResponse:
            return index_pb2.GetIndexResponse(index=encode_index(self._indexes.get_index(scope, access)))

        return await self._calls.run("GetIndex", context, get_index)

    async def ActivateIndex(
        self,
        request: index_pb2.ActivateIndexRequest,
        context: grpc.aio.ServicerContext[index_pb2.ActivateIndexRequest, index_pb2.ActivateIndexResponse],
    ) -> index_pb2.ActivateIndexResponse:
        """See the contract."""
        scope = self._access.admit_administration(request)

        def activate(_: Checkpoint) -> index_pb2.ActivateIndexResponse:
            return index_pb2.ActivateIndexResponse(previous_version=self._indexes.activate(scope))

        return await self._calls.run("ActivateIndex", context, activate)

    async def DeleteIndex(
        self,
        request: index_pb2.DeleteIndexRequest,
        context: grpc.aio.ServicerContext[index_pb2.DeleteIndexRequest, index_pb2.DeleteIndexResponse],
    ) -> index_pb2.DeleteIndexResponse:
        """See the contract."""
        scope = self._access.admit_administration(request)

        def delete(_: Checkpoint) -> index_pb2.DeleteIndexResponse:
            self._indexes.delete(scope)
            return index_pb2.DeleteIndexResponse()

        return await self._calls.run("DeleteIndex", context, delete)
