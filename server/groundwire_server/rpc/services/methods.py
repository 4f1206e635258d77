"""Answers each method of the services: decode, one call of the engine or of the index directory, encode."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from google.protobuf.message import Message

from groundwire.v1 import evidence_pb2, index_pb2, query_pb2
from groundwire_index.scope import Scope
from groundwire_server.backends.index_directory import IndexDirectory
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.access.grants import Scopes
from groundwire_server.domain.evidence.evidence import EvidenceRequest
from groundwire_server.domain.indexes import IndexNames, IndexSummary
from groundwire_server.domain.query.query import QueryRequest
from groundwire_server.domain.search.search import NodesRequest
from groundwire_server.execution.call import Call
from groundwire_server.rpc.calls import running_call
from groundwire_server.rpc.conversions.evidence import decode_evidence, encode_evidence
from groundwire_server.rpc.conversions.expansion import decode_expand, decode_paths, encode_expansion, encode_paths
from groundwire_server.rpc.conversions.indexes import decode_index_scope, decode_listing, encode_described, encode_index
from groundwire_server.rpc.conversions.query import decode_query
from groundwire_server.rpc.conversions.query_result import encode_query
from groundwire_server.rpc.conversions.resolution import decode_resolve, encode_resolution
from groundwire_server.rpc.conversions.scope import AdministrationRequest, ReadingRequest
from groundwire_server.rpc.conversions.search import decode_search, encode_search
from groundwire_server.rpc.conversions.texts import decode_fetch, encode_fetch
from groundwire_server.rpc.identity.access_control import AccessControl

if TYPE_CHECKING:
    from groundwire_server.engine.engine import RetrievalEngine

Request = TypeVar("Request", bound=ReadingRequest)
Nodes = TypeVar("Nodes", bound=NodesRequest)
Result = TypeVar("Result")
Answer: TypeAlias = Callable[[Any], Awaitable[Message]]
"""Gives the response to a request; raises GroundwireError. Call it in the task of an admitted call."""


def make_answers(engine: "RetrievalEngine", indexes: IndexDirectory, access: AccessControl) -> Mapping[str, Answer]:
    """By the name of the method, which no two services share."""

    def reading(
        decode: Callable[[Request, AccessContext], Nodes],
        act: Callable[[Nodes, Call], Awaitable[Result]],
        encode: Callable[[Result], Message],
    ) -> Answer:
        async def answer(request: Request) -> Message:
            granted, scopes = access.authorise(request)
            return await running_call().run(partial(_decoded, decode, request, granted, scopes), act, encode)

        return answer

    def administration(change: Callable[[Scope], Result], encode: Callable[[Result], Message]) -> Answer:
        async def act(scope: Scope, call: Call) -> Result:
            return await call.wait_for(partial(change, scope))

        async def answer(request: AdministrationRequest) -> Message:
            return await running_call().run(partial(access.authorise_administration, request), act, encode)

        return answer

    async def list_indexes(request: index_pb2.ListIndexesRequest) -> Message:
        granted, scopes = access.authorise_listing(request)

        async def act(names: tuple[str, str], call: Call) -> tuple[IndexSummary, ...]:
            return await call.wait_for(partial(indexes.list_indexes, *names, granted, scopes, call.checkpoint))

        return await running_call().run(partial(decode_listing, request), act, _encode_listing)

    async def get_index(request: index_pb2.GetIndexRequest) -> Message:
        granted, _ = access.authorise(request)

        async def act(scope: Scope, call: Call) -> tuple[IndexSummary, IndexNames]:
            return await call.wait_for(partial(indexes.get_index, scope, granted))

        return await running_call().run(partial(decode_index_scope, request), act, lambda told: encode_described(*told))

    return {
        "SearchNodes": reading(decode_search, engine.search, encode_search),
        "ResolveNodes": reading(decode_resolve, engine.resolve, encode_resolution),
        "ExpandDependencyTree": reading(decode_expand, engine.expand, encode_expansion),
        "FindPaths": reading(decode_paths, engine.find_paths, encode_paths),
        "FetchNodeTexts": reading(decode_fetch, engine.fetch, encode_fetch),
        "Query": reading(_decode_query, engine.query, encode_query),
        "GatherEvidence": reading(_decode_evidence, engine.gather_evidence, encode_evidence),
        "ListIndexes": list_indexes,
        "GetIndex": get_index,
        "ActivateIndex": administration(
            indexes.activate, lambda previous: index_pb2.ActivateIndexResponse(previous_version=previous)
        ),
        "DeleteIndex": administration(indexes.delete, lambda _: index_pb2.DeleteIndexResponse()),
    }


def _decoded(
    decode: Callable[[Request, AccessContext], Nodes], request: Request, granted: AccessContext, scopes: Scopes
) -> Nodes:
    return replace(decode(request, granted), granted=scopes)


def _decode_query(request: query_pb2.QueryRequest, granted: AccessContext) -> QueryRequest:
    """The server's clock is read here and nowhere below."""
    return decode_query(request, granted, datetime.now(UTC))


def _decode_evidence(request: evidence_pb2.GatherEvidenceRequest, granted: AccessContext) -> EvidenceRequest:
    return decode_evidence(request, granted, datetime.now(UTC))


def _encode_listing(summaries: tuple[IndexSummary, ...]) -> index_pb2.ListIndexesResponse:
    return index_pb2.ListIndexesResponse(indexes=map(encode_index, summaries))
