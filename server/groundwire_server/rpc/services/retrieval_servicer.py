"""Answers the methods of RetrievalService. Each authorises, decodes, calls the engine once and encodes."""

from dataclasses import replace
from typing import TYPE_CHECKING

from groundwire.v1 import retrieval_pb2
from groundwire_server.execution.observation import stage
from groundwire_server.rpc.calls import RunningCall
from groundwire_server.rpc.conversions.expansion import decode_expand, decode_paths, encode_expansion, encode_paths
from groundwire_server.rpc.conversions.resolution import decode_resolve, encode_resolution
from groundwire_server.rpc.conversions.search import decode_search, encode_search
from groundwire_server.rpc.conversions.text_search import decode_text_search, encode_text_search
from groundwire_server.rpc.conversions.texts import decode_fetch, encode_fetch
from groundwire_server.rpc.identity.access_control import AccessControl

if TYPE_CHECKING:
    from groundwire_server.engine.engine import RetrievalEngine


class RetrievalServicer:
    """Selects nodes, follows edges and returns texts.

    `call` is the call under way that a method answers. Every method raises GroundwireError.
    """

    def __init__(self, engine: "RetrievalEngine", access_control: AccessControl) -> None:
        self._engine = engine
        self._access_control = access_control

    async def SearchNodes(
        self, request: retrieval_pb2.SearchNodesRequest, call: RunningCall
    ) -> retrieval_pb2.SearchNodesResponse:
        """Selects nodes by ids and scores."""
        access, scopes = self._access_control.authorise(request)
        with stage("decode"):
            search = replace(decode_search(request, access), granted=scopes)
        call.estimate(search)
        result = await self._engine.search(search, call)
        return await call.encode(encode_search, result, len(result.hits))

    async def ResolveNodes(
        self, request: retrieval_pb2.ResolveNodesRequest, call: RunningCall
    ) -> retrieval_pb2.ResolveNodesResponse:
        """Gives the nodes that names mean."""
        access, scopes = self._access_control.authorise(request)
        with stage("decode"):
            names = replace(decode_resolve(request, access), granted=scopes)
        call.estimate(names)
        result = await self._engine.resolve(names, call)
        entries = sum(1 + len(name.nodes) + len(name.similar) for name in result.names)
        return await call.encode(encode_resolution, result, entries)

    async def SearchText(
        self, request: retrieval_pb2.SearchTextRequest, call: RunningCall
    ) -> retrieval_pb2.SearchTextResponse:
        """Finds the lines that a literal or a regular expression matches."""
        access, scopes = self._access_control.authorise(request)
        with stage("decode"):
            search = replace(decode_text_search(request, access), granted=scopes)
        call.estimate(search)
        result = await self._engine.search_text(search, call)
        return await call.encode(encode_text_search, result, len(result.matches) + len(result.files))

    async def ExpandDependencyTree(
        self, request: retrieval_pb2.ExpandDependencyTreeRequest, call: RunningCall
    ) -> retrieval_pb2.ExpandDependencyTreeResponse:
        """Walks the dependency graph from seeds."""
        access, scopes = self._access_control.authorise(request)
        with stage("decode"):
            walk = replace(decode_expand(request, access), granted=scopes)
        call.estimate(walk)
        result = await self._engine.expand(walk, call)
        return await call.encode(encode_expansion, result, len(result.nodes) + len(result.edges))

    async def FindPaths(
        self, request: retrieval_pb2.FindPathsRequest, call: RunningCall
    ) -> retrieval_pb2.FindPathsResponse:
        """Finds the shortest paths between nodes."""
        access, scopes = self._access_control.authorise(request)
        with stage("decode"):
            search = replace(decode_paths(request, access), granted=scopes)
        call.estimate(search)
        result = await self._engine.find_paths(search, call)
        return await call.encode(encode_paths, result, len(result.nodes) + len(result.paths))

    async def FetchNodeTexts(
        self, request: retrieval_pb2.FetchNodeTextsRequest, call: RunningCall
    ) -> retrieval_pb2.FetchNodeTextsResponse:
        """Returns whole texts within a budget."""
        access, scopes = self._access_control.authorise(request)
        with stage("decode"):
            texts = replace(decode_fetch(request, access), granted=scopes)
        call.estimate(texts)
        result = await self._engine.fetch(texts, call)
        return await call.encode(encode_fetch, result, len(result.texts) + len(result.skipped))
