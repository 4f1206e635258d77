"""RetrievalService: decode, one engine call, encode. The work runs in a worker thread, conversions included."""

from typing import Protocol

import grpc.aio

from groundwire.v1 import retrieval_pb2, retrieval_pb2_grpc
from groundwire_server.domain.checkpoint import Checkpoint
from groundwire_server.domain.graph.expansion import ExpandRequest, Expansion
from groundwire_server.domain.graph.paths import Paths, PathsRequest
from groundwire_server.domain.observation import stage
from groundwire_server.domain.search.search import SearchRequest, SearchResult
from groundwire_server.domain.texts.texts import FetchRequest, FetchResult
from groundwire_server.rpc.calls import CallRunner
from groundwire_server.rpc.conversions.expansion import decode_expand, encode_expansion
from groundwire_server.rpc.conversions.paths import decode_paths, encode_paths
from groundwire_server.rpc.conversions.search import decode_search, encode_search
from groundwire_server.rpc.conversions.texts import decode_fetch, encode_fetch
from groundwire_server.rpc.identity.access_control import AccessControl


class RetrievalActions(Protocol):
    """The engine as this service needs it: blocking, safe to call from many threads, raising GroundwireError."""

    def search(self, request: SearchRequest, checkpoint: Checkpoint) -> SearchResult:
        """Selects nodes."""
        ...

    def expand(self, request: ExpandRequest, checkpoint: Checkpoint) -> Expansion:
        """Walks the dependency graph."""
        ...

    def find_paths(self, request: PathsRequest, checkpoint: Checkpoint) -> Paths:
        """Finds the shortest paths from some nodes to others."""
        ...

    def fetch(self, request: FetchRequest, checkpoint: Checkpoint) -> FetchResult:
        """Returns texts under a budget."""
        ...


class RetrievalServicer(retrieval_pb2_grpc.RetrievalServiceServicer):
    """The actions over the wire."""

    def __init__(self, engine: RetrievalActions, access: AccessControl, calls: CallRunner) -> None:
        self._engine = engine
        self._access = access
        self._calls = calls

    async def SearchNodes(
        self,
        request: retrieval_pb2.SearchNodesRequest,
        context: grpc.aio.ServicerContext[retrieval_pb2.SearchNodesRequest, retrieval_pb2.SearchNodesResponse],
    ) -> retrieval_pb2.SearchNodesResponse:
        """See the contract."""
        access = self._access.admit(request)

        def search(checkpoint: Checkpoint) -> retrieval_pb2.SearchNodesResponse:
            with stage("decode"):
                asked = decode_search(request, access)
            result = self._engine.search(asked, checkpoint)
            with stage("encode"):
                return encode_search(result)

        return await self._calls.run("SearchNodes", context, search)

    async def ExpandDependencyTree(
        self,
        request: retrieval_pb2.ExpandDependencyTreeRequest,
        context: grpc.aio.ServicerContext[
            retrieval_pb2.ExpandDependencyTreeRequest, retrieval_pb2.ExpandDependencyTreeResponse
        ],
    ) -> retrieval_pb2.ExpandDependencyTreeResponse:
        """See the contract."""
        access = self._access.admit(request)

        def expand(checkpoint: Checkpoint) -> retrieval_pb2.ExpandDependencyTreeResponse:
            with stage("decode"):
                asked = decode_expand(request, access)
            result = self._engine.expand(asked, checkpoint)
            with stage("encode"):
                return encode_expansion(result)

        return await self._calls.run("ExpandDependencyTree", context, expand)

    async def FindPaths(
        self,
        request: retrieval_pb2.FindPathsRequest,
        context: grpc.aio.ServicerContext[retrieval_pb2.FindPathsRequest, retrieval_pb2.FindPathsResponse],
    ) -> retrieval_pb2.FindPathsResponse:
        """See the contract."""
        access = self._access.admit(request)

        def find_paths(checkpoint: Checkpoint) -> retrieval_pb2.FindPathsResponse:
            with stage("decode"):
                asked = decode_paths(request, access)
            result = self._engine.find_paths(asked, checkpoint)
            with stage("encode"):
                return encode_paths(result)

        return await self._calls.run("FindPaths", context, find_paths)

    async def FetchNodeTexts(
        self,
        request: retrieval_pb2.FetchNodeTextsRequest,
        context: grpc.aio.ServicerContext[retrieval_pb2.FetchNodeTextsRequest, retrieval_pb2.FetchNodeTextsResponse],
    ) -> retrieval_pb2.FetchNodeTextsResponse:
        """See the contract."""
        access = self._access.admit(request)

        def fetch(checkpoint: Checkpoint) -> retrieval_pb2.FetchNodeTextsResponse:
            with stage("decode"):
                asked = decode_fetch(request, access)
            result = self._engine.fetch(asked, checkpoint)
            with stage("encode"):
                return encode_fetch(result)

        return await self._calls.run("FetchNodeTexts", context, fetch)
