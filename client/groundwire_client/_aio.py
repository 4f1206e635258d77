"""The asyncio client: the methods of `GroundwireClient`, awaited."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from types import TracebackType
from typing import Self, TypeVar

import grpc
import grpc.aio

from groundwire.v1 import index_pb2_grpc, query_pb2_grpc, retrieval_pb2_grpc
from groundwire_client import _conversions as convert
from groundwire_client import _graph_conversions as graph
from groundwire_client._base import DEFAULT_TIMEOUT, BaseClient, Metadata
from groundwire_client._channel import CHANNEL_OPTIONS, TLS, channel_credentials
from groundwire_client._enums import Direction, FusionMode, PrioritizationMode, Rerank, SearchType, Source, Visibility
from groundwire_client._errors import error_from
from groundwire_client._filters import Filter
from groundwire_client._graph_types import ExpandedNode, Expansion, Paths
from groundwire_client._query_parameters import DEFAULT_HYBRID, DEFAULT_RANKING, HybridParameters, RankingParameters
from groundwire_client._query_request import query_request
from groundwire_client._query_result import query_result
from groundwire_client._query_types import QueryResult
from groundwire_client._token import AsyncToken
from groundwire_client._types import Access, FetchResult, IndexInfo, Scope, SearchResult

_Request = TypeVar("_Request")
_Response = TypeVar("_Response")


class AsyncGroundwireClient(BaseClient):
    """An asyncio connection to a Groundwire server: arguments, results and errors are those of `GroundwireClient`.

    What gives the `token` may be a coroutine function here; any other is called in the event loop, and must be quick.

    Create it inside the event loop that uses it; tasks of that loop may share it. Use it with `async with`, or await
    its `close`. A cancelled task cancels its call and raises `asyncio.CancelledError`.
    """

    def __init__(
        self,
        target: str | None = None,
        *,
        credentials: TLS | None = None,
        timeout: float = DEFAULT_TIMEOUT,
        metadata: Metadata = (),
        token: AsyncToken | None = None,
        plaintext_token: bool = False,
        access: Access | None = None,
        wait_for_ready: bool = False,
    ) -> None:
        super().__init__(timeout=timeout, metadata=metadata, access=access, wait_for_ready=wait_for_ready)
        self._token = token
        address = self._address(target, token, is_secured=credentials is not None, plaintext_token=plaintext_token)
        if credentials is None:
            self._channel = grpc.aio.insecure_channel(address, options=CHANNEL_OPTIONS)
        else:
            self._channel = grpc.aio.secure_channel(address, channel_credentials(credentials), options=CHANNEL_OPTIONS)
        self._retrieval = retrieval_pb2_grpc.RetrievalServiceStub(self._channel)
        self._queries = query_pb2_grpc.QueryServiceStub(self._channel)
        self._indexes = index_pb2_grpc.IndexServiceStub(self._channel)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes the connection; calls that still run end with `CancelledError`."""
        await self._channel.close()

    async def search(
        self,
        scope: Scope,
        query: str = "",
        *,
        search_type: SearchType = SearchType.HYBRID,
        top_k: int = 10,
        filter: Filter | None = None,
        query_vector: Sequence[float] = (),
        rrf_k: int | None = None,
        rerank: Rerank = Rerank.NONE,
        explain: bool = False,
        visibility: Visibility = Visibility.ACTIVE,
        access: Access | None = None,
        timeout: float | None = None,
    ) -> SearchResult:
        """As `GroundwireClient.search`."""
        request = convert.search_request(
            scope,
            self._access(access),
            query,
            search_type=search_type,
            top_k=top_k,
            filter=filter,
            query_vector=query_vector,
            rrf_k=rrf_k,
            rerank=rerank,
            explain=explain,
            visibility=visibility,
        )
        return convert.search_result(await self._call(self._retrieval.SearchNodes, request, timeout))

    async def expand(
        self,
        scope: Scope,
        seed_ids: Sequence[str],
        *,
        max_depth: int,
        max_nodes: int,
        edge_allowlist: Sequence[str],
        direction: Direction = Direction.OUTGOING,
        filter: Filter | None = None,
        min_confidence: float = 0.0,
        visibility: Visibility = Visibility.ACTIVE,
        access: Access | None = None,
        timeout: float | None = None,
    ) -> Expansion:
        """As `GroundwireClient.expand`."""
        request = graph.expand_request(
            scope,
            self._access(access),
            seed_ids,
            max_depth=max_depth,
            max_nodes=max_nodes,
            edge_allowlist=edge_allowlist,
            direction=direction,
            filter=filter,
            min_confidence=min_confidence,
            visibility=visibility,
        )
        return graph.expansion(await self._call(self._retrieval.ExpandDependencyTree, request, timeout))

    async def find_paths(
        self,
        scope: Scope,
        from_ids: Sequence[str],
        to_ids: Sequence[str],
        *,
        max_hops: int,
        max_paths: int,
        max_nodes: int,
        edge_allowlist: Sequence[str],
        direction: Direction = Direction.OUTGOING,
        filter: Filter | None = None,
        min_confidence: float = 0.0,
        visibility: Visibility = Visibility.ACTIVE,
        access: Access | None = None,
        timeout: float | None = None,
    ) -> Paths:
        """As `GroundwireClient.find_paths`."""
        request = graph.paths_request(
            scope,
            self._access(access),
            from_ids,
            to_ids,
            max_hops=max_hops,
            max_paths=max_paths,
            max_nodes=max_nodes,
            edge_allowlist=edge_allowlist,
            direction=direction,
            filter=filter,
            min_confidence=min_confidence,
            visibility=visibility,
        )
        return graph.paths(await self._call(self._retrieval.FindPaths, request, timeout))

    async def fetch(
        self,
        scope: Scope,
        seed_ids: Sequence[str],
        nodes: Iterable[ExpandedNode] = (),
        *,
        budget_tokens: int | None = None,
        max_chars: int | None = None,
        mode: PrioritizationMode = PrioritizationMode.BALANCED,
        filter: Filter | None = None,
        visibility: Visibility = Visibility.ACTIVE,
        access: Access | None = None,
        timeout: float | None = None,
    ) -> FetchResult:
        """As `GroundwireClient.fetch`."""
        request = convert.fetch_request(
            scope,
            self._access(access),
            seed_ids,
            nodes,
            budget_tokens=budget_tokens,
            max_chars=max_chars,
            mode=mode,
            filter=filter,
            visibility=visibility,
        )
        return convert.fetch_result(await self._call(self._retrieval.FetchNodeTexts, request, timeout))

    async def query(
        self,
        scope: Scope,
        query: str,
        *,
        hybrid: HybridParameters = DEFAULT_HYBRID,
        top_k: int | None = None,
        filter: Filter | None = None,
        visibility: Visibility = Visibility.ACTIVE,
        process: str = "",
        doc_class: str = "",
        workflow_id: str = "",
        sources: Sequence[Source] = (),
        fusion: FusionMode | None = None,
        rrf_k: int | None = None,
        rerank: bool = False,
        ranking: RankingParameters = DEFAULT_RANKING,
        freshness_half_life_days: float | None = None,
        freshness_weight: float | None = None,
        now: datetime | None = None,
        include_parents: bool = True,
        include_neighbors: bool = False,
        expand_graph: bool = False,
        not_found_when_empty: bool = False,
        query_vector: Sequence[float] = (),
        budget_tokens: int | None = None,
        access: Access | None = None,
        timeout: float | None = None,
    ) -> QueryResult:
        """As `GroundwireClient.query`."""
        request = query_request(
            scope,
            self._access(access),
            query,
            hybrid=hybrid,
            top_k=top_k,
            filter=filter,
            visibility=visibility,
            process=process,
            doc_class=doc_class,
            workflow_id=workflow_id,
            sources=sources,
            fusion=fusion,
            rrf_k=rrf_k,
            rerank=rerank,
            ranking=ranking,
            freshness_half_life_days=freshness_half_life_days,
            freshness_weight=freshness_weight,
            now=now,
            include_parents=include_parents,
            include_neighbors=include_neighbors,
            expand_graph=expand_graph,
            not_found_when_empty=not_found_when_empty,
            query_vector=query_vector,
            budget_tokens=budget_tokens,
        )
        return query_result(await self._call(self._queries.Query, request, timeout))

    async def list_indexes(
        self, repository: str = "", branch: str = "", *, access: Access | None = None, timeout: float | None = None
    ) -> tuple[IndexInfo, ...]:
        """As `GroundwireClient.list_indexes`."""
        request = convert.list_indexes_request(repository, branch, self._access(access))
        response = await self._call(self._indexes.ListIndexes, request, timeout)
        return tuple(convert.index_info(index) for index in response.indexes)

    async def get_index(self, scope: Scope, *, access: Access | None = None, timeout: float | None = None) -> IndexInfo:
        """As `GroundwireClient.get_index`."""
        request = convert.get_index_request(scope, self._access(access))
        return convert.index_info((await self._call(self._indexes.GetIndex, request, timeout)).index)

    async def activate_index(self, scope: Scope, *, timeout: float | None = None) -> str:
        """As `GroundwireClient.activate_index`."""
        request = convert.activate_index_request(scope)
        return (await self._call(self._indexes.ActivateIndex, request, timeout)).previous_version

    async def delete_index(self, scope: Scope, *, timeout: float | None = None) -> None:
        """As `GroundwireClient.delete_index`."""
        await self._call(self._indexes.DeleteIndex, convert.delete_index_request(scope), timeout)

    async def _current_token(self) -> str | None:
        token = self._token() if callable(self._token) else self._token
        return token if token is None or isinstance(token, str) else await token

    async def _call(
        self, method: "grpc.aio.UnaryUnaryMultiCallable[_Request, _Response]", request: _Request, timeout: float | None
    ) -> _Response:
        try:
            return await method(
                request,
                timeout=self._seconds(timeout),
                metadata=self._metadata(await self._current_token()),
                wait_for_ready=self._wait_for_ready,
            )
        except grpc.RpcError as error:
            raise error_from(error) from error
