"""Answers the methods of IndexService. Each authorises, decodes, calls the index directory once and encodes."""

from functools import partial

from groundwire.v1 import index_pb2
from groundwire_server.backends.index_directory import IndexDirectory
from groundwire_server.execution.observation import stage
from groundwire_server.rpc.calls import RunningCall
from groundwire_server.rpc.conversions.indexes import (
    decode_index_scope,
    decode_listing,
    encode_described,
    encode_listing,
)
from groundwire_server.rpc.identity.access_control import AccessControl


class IndexServicer:
    """Lists, describes, activates and deletes index versions.

    `call` is the call under way that a method answers. Every method raises GroundwireError. The index directory waits
    for a disk or a database, so it is called on a thread that may wait.
    """

    def __init__(self, indexes: IndexDirectory, access_control: AccessControl) -> None:
        self._indexes = indexes
        self._access_control = access_control

    async def ListIndexes(
        self, request: index_pb2.ListIndexesRequest, call: RunningCall
    ) -> index_pb2.ListIndexesResponse:
        """Lists the index versions that the caller may see a node of."""
        access, scopes = self._access_control.authorise_listing(request)
        with stage("decode"):
            repository, branch = decode_listing(request)
        listing = partial(self._indexes.list_indexes, repository, branch, access, scopes, call.checkpoint)
        summaries = await call.wait_for(listing)
        return await call.encode(encode_listing, summaries, len(summaries))

    async def GetIndex(self, request: index_pb2.GetIndexRequest, call: RunningCall) -> index_pb2.GetIndexResponse:
        """Describes the active or a named index version."""
        access, _ = self._access_control.authorise(request)
        with stage("decode"):
            scope = decode_index_scope(request)
        summary, names = await call.wait_for(partial(self._indexes.get_index, scope, access))
        return encode_described(summary, names)

    async def ActivateIndex(
        self, request: index_pb2.ActivateIndexRequest, call: RunningCall
    ) -> index_pb2.ActivateIndexResponse:
        """Lets a version answer for its repository and branch."""
        scope = self._access_control.authorise_administration(request)
        previous_version = await call.wait_for(partial(self._indexes.activate, scope))
        return index_pb2.ActivateIndexResponse(previous_version=previous_version)

    async def DeleteIndex(
        self, request: index_pb2.DeleteIndexRequest, call: RunningCall
    ) -> index_pb2.DeleteIndexResponse:
        """Deletes a version that is not active."""
        scope = self._access_control.authorise_administration(request)
        await call.wait_for(partial(self._indexes.delete, scope))
        return index_pb2.DeleteIndexResponse()
