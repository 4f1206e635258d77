"""The synchronous client."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from types import TracebackType
from typing import Self, TypeVar

import grpc

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
from groundwire_client._token import Token
from groundwire_client._types import Access, FetchResult, IndexInfo, Scope, SearchResult

_Request = TypeVar("_Request")
_Response = TypeVar("_Response")


class GroundwireClient(BaseClient):
    """A connection to a Groundwire server. Threads may share it; use it as a context manager, or `close` it.

    Args:
        target: The server's address, such as `localhost:50051`; None takes the environment's GROUNDWIRE_SERVER.
        credentials: TLS files; None talks plaintext.
        timeout: Seconds until a call gives up, its retries included; each call may set its own.
        metadata: Sent with every call, such as `[("x-tenant-route", "eu")]`.
        token: The bearer token that says who calls, or a function that gives one for each call, such as a `TokenFile`.
            Without `credentials` it travels in the clear, so then the server must be on this machine.
        plaintext_token: Let a token travel in the clear beyond this machine, because a mesh secures the way.
        access: What the caller may see, for calls that do not say; None leaves it to the token or certificate, and sees
            public nodes only where the server asks for neither.
        wait_for_ready: Let calls wait, up to their timeout, for a server that is out of reach, instead of failing.

    Every call raises a subclass of `GroundwireError` when it fails, and `ValueError` or `TypeError` for arguments
    that cannot be sent. Reading calls are tried up to four times while the server is UNAVAILABLE.

    Raises:
        ValueError: No address, a timeout that is not positive and finite, or a token (also one in `metadata`) that
            would travel in the clear; at a call, a token that is none.
        OSError: A TLS file cannot be read.
    """

    def __init__(
        self,
        target: str | None = None,
        *,
        credentials: TLS | None = None,
        timeout: float = DEFAULT_TIMEOUT,
        metadata: Metadata = (),
        token: Token | None = None,
        plaintext_token: bool = False,
        access: Access | None = None,
        wait_for_ready: bool = False,
    ) -> None:
        super().__init__(timeout=timeout, metadata=metadata, access=access, wait_for_ready=wait_for_ready)
        self._token = token
        address = self._address(target, token, is_secured=credentials is not None, plaintext_token=plaintext_token)
        if credentials is None:
            self._channel = grpc.insecure_channel(address, options=CHANNEL_OPTIONS)
        else:
            self._channel = grpc.secure_channel(address, channel_credentials(credentials), options=CHANNEL_OPTIONS)
        self._retrieval = retrieval_pb2_grpc.RetrievalServiceStub(self._channel)
        self._queries = query_pb2_grpc.QueryServiceStub(self._channel)
        self._indexes = index_pb2_grpc.IndexServiceStub(self._channel)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connection; calls that still run end with `CancelledError`."""
        self._channel.close()

    def search(
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
        """Selects the nodes that match a query best, as ids with scores.

        Args:
            scope: Where to search.
            query: Natural language, code or identifiers. May be empty only for a semantic search with `query_vector`.
            search_type: How to search.
            top_k: The most hits to return.
            filter: Narrows the search before ranking.
            query_vector: The query as an embedding of the index's dimension, for callers that embed by themselves.
            rrf_k: The constant of reciprocal rank fusion of a hybrid search; None is the server's default, 60.
            rerank: Reorders a semantic search.
            explain: Fills the result's `debug`, and each hit's `legs` and `matched_tokens`.
            visibility: Which nodes the call is about; anything but ACTIVE needs the server's leave.
            access: What the caller may see; None is the client's default.
            timeout: Seconds until the call gives up; None is the client's default.
        """
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
        return convert.search_result(self._call(self._retrieval.SearchNodes, request, timeout))

    def expand(
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
        """Walks the dependency graph breadth first from seeds. Seeds that are absent, hidden or filtered are left out.

        Args:
            scope: Where to walk; `scope.pinned(result.index)` stays on the snapshot of a search.
            seed_ids: Where to start, in order of importance.
            max_depth: How many edges a node may lie away from a seed; 0 returns the seeds only.
            max_nodes: The most nodes to return, seeds included.
            edge_allowlist: The edge types to follow, compared without regard to case; exactly `["*"]` follows all.
            direction: Which way to follow edges.
            filter: Which nodes there are: others are neither reached nor passed through.
            min_confidence: The least confidence, 0 to 1, of an edge to follow and return.
            visibility: Which nodes the call is about; anything but ACTIVE needs the server's leave.
            access: What the caller may see; None is the client's default.
            timeout: Seconds until the call gives up; None is the client's default.
        """
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
        return graph.expansion(self._call(self._retrieval.ExpandDependencyTree, request, timeout))

    def find_paths(
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
        """Finds the shortest paths from some nodes to others. Ends that are absent, hidden or filtered are left out.

        Args:
            scope: Where to look; `scope.pinned(result.index)` stays on the snapshot of a search.
            from_ids: Where paths begin.
            to_ids: Where paths end.
            max_hops: The most edges on a path.
            max_paths: The most paths to return.
            max_nodes: The most nodes to reach between the ends.
            edge_allowlist: The edge types to follow, compared without regard to case; exactly `["*"]` follows all.
            direction: Which way a path follows edges from `from_ids` on.
            filter: Which nodes there are: others are not passed through.
            min_confidence: The least confidence, 0 to 1, of an edge to follow.
            visibility: Which nodes the call is about; anything but ACTIVE needs the server's leave.
            access: What the caller may see; None is the client's default.
            timeout: Seconds until the call gives up; None is the client's default.
        """
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
        return graph.paths(self._call(self._retrieval.FindPaths, request, timeout))

    def fetch(
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
        """Returns the texts of nodes in priority order, as many as fit the budget; a text is never cut.

        Args:
            scope: Where the ids belong; `scope.pinned(result.index)` stays on the snapshot of a search.
            seed_ids: Seeds in order of importance.
            nodes: Graph nodes around them: `Expansion.nodes` as it is.
            budget_tokens: The most tokens in all. Exactly one of this and `max_chars` is required.
            max_chars: The most characters (Unicode code points) in all.
            mode: In which order nodes compete for the budget.
            filter: Which nodes may have their texts returned; others are skipped as unavailable.
            visibility: Which nodes the call is about; anything but ACTIVE needs the server's leave.
            access: What the caller may see; None is the client's default.
            timeout: Seconds until the call gives up; None is the client's default.
        """
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
        return convert.fetch_result(self._call(self._retrieval.FetchNodeTexts, request, timeout))

    def query(
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
        """Answers a question with the texts that match it best: the whole retrieval flow in one call.

        Args:
            scope: Where to search.
            query: Natural language, code, names or paths.
            hybrid: The parameters of the sources, the fusion and the result.
            top_k: The most matches to return; overrides `hybrid.top_k`.
            filter: Narrows every source before it ranks.
            visibility: Which nodes the query is about; anything but ACTIVE needs the server's leave.
            process: The process that asks. With the next two it chooses a rule of the server's routing, told in
                `meta.routing.profile`; where none matches, the three have no effect.
            doc_class: The class of documents that is meant.
            workflow_id: The workflow that asks.
            sources: The sources to ask, each once; empty asks every one that the index has.
            fusion: How their lists become one; None is WEIGHTED where `hybrid.alpha` is given, else what the server's
                routing says, else ADAPTIVE.
            rrf_k: The constant of a fusion by reciprocal rank, ignored by others; None is 60.
            rerank: Lets the server's reranker read the query with the best candidates; it must have one.
            ranking: How files, kinds of text and the graph change the order.
            freshness_half_life_days: The age at which what a conversation gains by being recent is halved, 0 for no
                freshness; None is the server's default, 90 unless configured.
            freshness_weight: The share of being recent in the score of a conversation, 0 to 1, 0 for no freshness; None
                is the server's default, 0.1 unless configured.
            now: When the question is asked, with a time zone; None is the server's clock.
            include_parents: Returns with each match the nodes that contain it, with their texts as room allows.
            include_neighbors: Returns after the matches the chunks before and after each in its document.
            expand_graph: Returns the services around the matches.
            not_found_when_empty: Raises NotFoundError (`NO_MATCHES`) when nothing matches.
            query_vector: The query as an embedding of the index's dimension, for callers that embed by themselves.
            budget_tokens: The most tokens of texts in all, packed whole: those of matches, then of parents, then of
                neighbours; None is as many as the response has room for.
            access: What the caller may see; None is the client's default.
            timeout: Seconds until the call gives up; None is the client's default.
        """
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
        return query_result(self._call(self._queries.Query, request, timeout))

    def list_indexes(
        self, repository: str = "", branch: str = "", *, access: Access | None = None, timeout: float | None = None
    ) -> tuple[IndexInfo, ...]:
        """The indexes of which the caller may see something, by repository, branch and version; empty names are all."""
        request = convert.list_indexes_request(repository, branch, self._access(access))
        response = self._call(self._indexes.ListIndexes, request, timeout)
        return tuple(convert.index_info(index) for index in response.indexes)

    def get_index(self, scope: Scope, *, access: Access | None = None, timeout: float | None = None) -> IndexInfo:
        """Describes the scope's pinned index version, or its active one."""
        request = convert.get_index_request(scope, self._access(access))
        return convert.index_info(self._call(self._indexes.GetIndex, request, timeout).index)

    def activate_index(self, scope: Scope, *, timeout: float | None = None) -> str:
        """Makes the scope's `active_index` the version that answers. Returns the one before, empty for none."""
        request = convert.activate_index_request(scope)
        return self._call(self._indexes.ActivateIndex, request, timeout).previous_version

    def delete_index(self, scope: Scope, *, timeout: float | None = None) -> None:
        """Deletes the scope's `active_index`, a version that does not answer at present. Its name stays taken."""
        self._call(self._indexes.DeleteIndex, convert.delete_index_request(scope), timeout)

    def _call(
        self, method: "grpc.UnaryUnaryMultiCallable[_Request, _Response]", request: _Request, timeout: float | None
    ) -> _Response:
        try:
            return method(
                request,
                timeout=self._seconds(timeout),
                metadata=self._metadata(self._token() if callable(self._token) else self._token),
                wait_for_ready=self._wait_for_ready,
            )
        except grpc.RpcError as error:
            raise error_from(error) from error
