"""The methods of the asyncio client. `client/generate_client.py` makes those of `_client.py` of them.

An argument that is not given is left off, and the server's default holds, unless the signature has a default. An
argument of a wrong type raises TypeError, and a number or text that protobuf cannot carry ValueError, before any call;
every other rule of the contract is the server's to check.
"""

import warnings
from collections.abc import Iterable, Sequence, Sized
from datetime import datetime
from typing import TypeAlias, TypedDict

from groundwire.v1 import index_pb2 as indexes
from groundwire.v1.evidence_pb2 import GatherEvidenceRequest
from groundwire.v1.query_pb2 import FusionMode, HybridParameters, QueryRequest, QueryResponse
from groundwire.v1.retrieval_pb2 import (
    EdgeDirection,
    ExpandDependencyTreeRequest,
    ExpandDependencyTreeResponse,
    FetchNodeTextsRequest,
    FetchNodeTextsResponse,
    FindPathsRequest,
    FindPathsResponse,
    PrioritizationMode,
    ReachedNode,
    Rerank,
    ResolveNodesRequest,
    ResolveNodesResponse,
    Retriever,
    SearchNodesRequest,
    SearchNodesResponse,
    SearchTextRequest,
    SearchTextResponse,
    SearchType,
)
from groundwire.v1.scope_pb2 import AccessContext, IndexScope, Lifecycle
from groundwire_client import _defaults as defaults
from groundwire_client._arguments import sends
from groundwire_client._errors import GroundwireError
from groundwire_client._evidence import Evidence, evidence_of
from groundwire_client._filters import Filter, as_filter
from groundwire_client._helpers import Scopes, one_or_several, pinned, timestamp
from groundwire_client._known_values import UnknownValueWarning, has_values, unread_note, value_notes
from groundwire_client._named_texts import NamedTexts
from groundwire_client._read_targets import (
    MOST_DEPTH,
    MOST_FILE_NODES,
    MOST_INNER_NODES,
    MOST_MATCHES,
    MOST_TOKENS,
    WORDS_OF_CODE,
    names_to_resolve,
)
from groundwire_client._reading import Reading
from groundwire_client._resolution import MOST_NAMES, Resolution, ids_of, read_at, resolved
from groundwire_client._several import is_id_of
from groundwire_client._text_packing import Budget
from groundwire_client._transport import AsyncTransport

_WITHOUT_EDGES = (SearchNodesRequest, SearchTextRequest, FetchNodeTextsRequest, QueryRequest, GatherEvidenceRequest)
_Narrowed: TypeAlias = (
    SearchNodesRequest
    | SearchTextRequest
    | ExpandDependencyTreeRequest
    | FindPathsRequest
    | FetchNodeTextsRequest
    | QueryRequest
    | GatherEvidenceRequest
)


class _Common(TypedDict):
    """The arguments that all calls of one question share."""

    filter: Filter | None
    lifecycle: Lifecycle.ValueType
    access: AccessContext | None
    timeout: float | None


class AsyncGroundwireClient(AsyncTransport):
    __doc__ = AsyncTransport.__doc__

    @sends(SearchNodesRequest)
    async def search(
        self,
        scope: Scopes,
        query: str = "",
        *,
        search_type: SearchType.ValueType = SearchType.SEARCH_TYPE_UNSPECIFIED,
        top_k: int = defaults.TOP_K,
        filter: Filter | None = None,
        query_vector: Sequence[float] = (),
        rrf_k: int | None = None,
        rerank: Rerank.ValueType = Rerank.RERANK_UNSPECIFIED,
        explain: bool = False,
        lifecycle: Lifecycle.ValueType = Lifecycle.LIFECYCLE_UNSPECIFIED,
        access: AccessContext | None = None,
        timeout: float | None = None,
    ) -> SearchNodesResponse:
        """Selects the nodes that match a query best, as ids with scores. See `SearchNodesRequest` for the arguments.

        `scope` may be a list of scopes, which are searched as one; names that end in `*` are patterns.
        `access` and `timeout` (seconds) are the client's defaults where they are None.
        """
        single, several = one_or_several(scope)
        request = SearchNodesRequest(
            scope=single,
            scopes=several,
            access=self._access(access),
            filter=as_filter(filter),
            search_type=search_type,
            query=query,
            query_vector=query_vector,
            top_k=top_k,
            rrf_k=rrf_k,
            rerank=rerank,
            explain=explain,
            lifecycle=lifecycle,
        )
        response = await self._call(self._retrieval.SearchNodes, request, timeout)
        await self._warn(request, response.index, response.hits, timeout)
        return response

    @sends(ResolveNodesRequest)
    async def resolve_nodes(
        self,
        scope: Scopes,
        names: Sequence[str],
        *,
        max_nodes: int = defaults.MAX_NAMED_NODES,
        filter: Filter | None = None,
        lifecycle: Lifecycle.ValueType = Lifecycle.LIFECYCLE_UNSPECIFIED,
        access: AccessContext | None = None,
        timeout: float | None = None,
    ) -> ResolveNodesResponse:
        """Gives the nodes that names mean, candidates of ambiguous ones included. See `ResolveNodesRequest`.

        `scope` may be a list of scopes, as in `search`. `access` and `timeout` (seconds) are the client's defaults
        where they are None.
        """
        single, several = one_or_several(scope)
        request = ResolveNodesRequest(
            scope=single,
            scopes=several,
            access=self._access(access),
            names=names,
            max_nodes=max_nodes,
            filter=as_filter(filter),
            lifecycle=lifecycle,
        )
        return await self._call(self._retrieval.ResolveNodes, request, timeout)

    @sends(SearchTextRequest)
    async def search_text(
        self,
        scope: Scopes,
        pattern: str,
        *,
        regex: bool = False,
        ignore_case: bool = False,
        whole_words: bool = False,
        multiline: bool = False,
        max_matches: int = defaults.MAX_LINES,
        context_lines: int = 0,
        filter: Filter | None = None,
        lifecycle: Lifecycle.ValueType = Lifecycle.LIFECYCLE_UNSPECIFIED,
        access: AccessContext | None = None,
        timeout: float | None = None,
    ) -> SearchTextResponse:
        """Finds the lines of files that a text, or with `regex` a regular expression, matches.

        See `SearchTextRequest` for the arguments. `scope` may be a list of scopes, as in `search`. `access` and
        `timeout` (seconds) are the client's defaults where they are None.
        """
        single, several = one_or_several(scope)
        request = SearchTextRequest(
            scope=single,
            scopes=several,
            access=self._access(access),
            filter=as_filter(filter),
            pattern=pattern,
            regex=regex,
            ignore_case=ignore_case,
            whole_words=whole_words,
            multiline=multiline,
            max_matches=max_matches,
            context_lines=context_lines,
            lifecycle=lifecycle,
        )
        response = await self._call(self._retrieval.SearchText, request, timeout)
        await self._warn(request, response.index, response.matches, timeout)
        return response

    @sends(ResolveNodesRequest)
    async def resolve(
        self,
        scope: Scopes,
        names: Sequence[str],
        *,
        filter: Filter | None = None,
        lifecycle: Lifecycle.ValueType = Lifecycle.LIFECYCLE_UNSPECIFIED,
        access: AccessContext | None = None,
        timeout: float | None = None,
    ) -> list[Resolution]:
        """The nodes that names mean: symbols, paths with lines, or ids; see `NameMatch` for their forms.

        An id of the scope is taken as it is. The other names are one call for each hundred, all to one index version. A
        name is never searched for. `scope` may be a list of scopes, as in `search`. `filter` and `lifecycle` narrow the
        candidates. `access` and `timeout` (seconds, for each call) are the client's defaults where they are None.

        Raises:
            NameResolutionError: A name means no node, or several that differ in symbol or file.
        """
        distinct = list(dict.fromkeys(names))
        plain_names = [name for name in distinct if name.strip() and not is_id_of(name, scope)]
        resolutions: dict[str, Resolution] = {}
        for first in range(0, len(plain_names), MOST_NAMES):
            response = await self.resolve_nodes(
                read_at(scope, resolutions.values()),
                plain_names[first : first + MOST_NAMES],
                filter=filter,
                lifecycle=lifecycle,
                access=access,
                timeout=timeout,
            )
            resolutions |= resolved(response)
        # Of a blank name the call that takes it states the rule.
        return [resolutions.get(name) or Resolution(name) for name in distinct]

    @sends(ExpandDependencyTreeRequest)
    async def expand(
        self,
        scope: Scopes,
        seed_ids: Sequence[str],
        *,
        max_depth: int = defaults.MAX_DEPTH,
        max_nodes: int = defaults.MAX_NODES,
        edge_allowlist: Sequence[str] = defaults.EDGE_TYPES,
        direction: EdgeDirection.ValueType = EdgeDirection.EDGE_DIRECTION_UNSPECIFIED,
        filter: Filter | None = None,
        min_confidence: float = 0.0,
        lifecycle: Lifecycle.ValueType = Lifecycle.LIFECYCLE_UNSPECIFIED,
        access: AccessContext | None = None,
        timeout: float | None = None,
    ) -> ExpandDependencyTreeResponse:
        """Walks the dependency graph breadth first from seeds. See `ExpandDependencyTreeRequest` for the arguments.

        Seeds may be names, as in `resolve`. `scope` may be a list of scopes, as in `search`. `access` and `timeout`
        (seconds) are the client's defaults where they are None.
        """
        common = _Common(filter=filter, lifecycle=lifecycle, access=access, timeout=timeout)
        seeds = await self.resolve(scope, seed_ids, **common)
        single, several = one_or_several(read_at(scope, seeds))
        request = ExpandDependencyTreeRequest(
            scope=single,
            scopes=several,
            access=self._access(access),
            seed_ids=ids_of(seeds),
            max_depth=max_depth,
            max_nodes=max_nodes,
            edge_allowlist=edge_allowlist,
            direction=direction,
            filter=as_filter(filter),
            min_confidence=min_confidence,
            lifecycle=lifecycle,
        )
        response = await self._call(self._retrieval.ExpandDependencyTree, request, timeout)
        await self._warn(request, response.index, response.edges, timeout)
        return response

    @sends(FindPathsRequest)
    async def find_paths(
        self,
        scope: Scopes,
        from_ids: Sequence[str],
        to_ids: Sequence[str],
        *,
        max_hops: int = defaults.MAX_HOPS,
        max_paths: int = defaults.MAX_PATHS,
        max_nodes: int = defaults.MAX_NODES_BETWEEN,
        edge_allowlist: Sequence[str] = defaults.EDGE_TYPES,
        direction: EdgeDirection.ValueType = EdgeDirection.EDGE_DIRECTION_UNSPECIFIED,
        filter: Filter | None = None,
        min_confidence: float = 0.0,
        lifecycle: Lifecycle.ValueType = Lifecycle.LIFECYCLE_UNSPECIFIED,
        access: AccessContext | None = None,
        timeout: float | None = None,
    ) -> FindPathsResponse:
        """Finds the shortest paths from some nodes to others. See `FindPathsRequest` for the arguments.

        Ends may be names, as in `resolve`. `scope` may be a list of scopes, as in `search`. `access` and `timeout`
        (seconds) are the client's defaults where they are None.
        """
        common = _Common(filter=filter, lifecycle=lifecycle, access=access, timeout=timeout)
        starts = await self.resolve(scope, from_ids, **common)
        ends = await self.resolve(read_at(scope, starts), to_ids, **common)
        single, several = one_or_several(read_at(scope, [*starts, *ends]))
        request = FindPathsRequest(
            scope=single,
            scopes=several,
            access=self._access(access),
            from_ids=ids_of(starts),
            to_ids=ids_of(ends),
            max_hops=max_hops,
            max_paths=max_paths,
            max_nodes=max_nodes,
            edge_allowlist=edge_allowlist,
            direction=direction,
            filter=as_filter(filter),
            min_confidence=min_confidence,
            lifecycle=lifecycle,
        )
        response = await self._call(self._retrieval.FindPaths, request, timeout)
        await self._warn(request, response.index, response.paths, timeout)
        return response

    @sends(FetchNodeTextsRequest)
    async def fetch(
        self,
        scope: Scopes,
        seed_ids: Sequence[str],
        nodes: Iterable[ReachedNode] = (),
        *,
        budget_tokens: int | None = None,
        max_chars: int | None = None,
        prioritization_mode: PrioritizationMode.ValueType = PrioritizationMode.PRIORITIZATION_MODE_UNSPECIFIED,
        filter: Filter | None = None,
        lifecycle: Lifecycle.ValueType = Lifecycle.LIFECYCLE_UNSPECIFIED,
        access: AccessContext | None = None,
        timeout: float | None = None,
    ) -> FetchNodeTextsResponse:
        """Returns the texts of nodes in priority order, as many as fit. See `FetchNodeTextsRequest` for the arguments.

        Without a budget it is 4,000 tokens. Seeds may be names, as in `resolve`. `nodes` may be those of a
        walk; only the fields that the server reads are sent. `scope` may be a list of scopes, as in `search`. `access`
        and `timeout` (seconds) are the client's defaults where they are None.

        Raises:
            ValueError: Both `budget_tokens` and `max_chars` are given: protobuf would keep one of the two.
        """
        if budget_tokens is not None and max_chars is not None:
            raise ValueError("give exactly one budget: budget_tokens or max_chars")
        common = _Common(filter=filter, lifecycle=lifecycle, access=access, timeout=timeout)
        seeds = await self.resolve(scope, seed_ids, **common)
        single, several = one_or_several(read_at(scope, seeds))
        request = FetchNodeTextsRequest(
            scope=single,
            scopes=several,
            access=self._access(access),
            seed_ids=ids_of(seeds),
            nodes=(ReachedNode(id=node.id, depth=node.depth, parent_id=node.parent_id) for node in nodes),
            prioritization_mode=prioritization_mode,
            filter=as_filter(filter),
            lifecycle=lifecycle,
        )
        if max_chars is not None:
            request.max_chars = max_chars
        else:
            request.budget_tokens = defaults.BUDGET_TOKENS if budget_tokens is None else budget_tokens
        response = await self._call(self._retrieval.FetchNodeTexts, request, timeout)
        await self._warn(request, response.index, response.texts, timeout)
        return response

    @sends(FetchNodeTextsRequest, names="seed_ids")
    async def read(
        self,
        scope: Scopes,
        names: Sequence[str],
        *,
        budget_tokens: int | None = None,
        max_chars: int | None = None,
        filter: Filter | None = None,
        lifecycle: Lifecycle.ValueType = Lifecycle.LIFECYCLE_UNSPECIFIED,
        access: AccessContext | None = None,
        timeout: float | None = None,
    ) -> Reading:
        """The texts that names mean, for people and models to read: symbols, places with lines, or ids.

        Lines such as `src/a.py:10-40` are exactly these, put together from the nodes that have them. A single line
        stands for the node around it. A text that does not fit the budget is cut off at its end. A name that means no
        node, or several that differ, is no error: the result says so, with the places where its text occurs. Without a
        budget it is 4,000 tokens. `scope` may be a list of scopes, as in `search`. `access` and `timeout` (seconds, for
        each call) are the client's defaults where they are None.

        Raises:
            ValueError: Both `budget_tokens` and `max_chars` are given.
        """
        budget = Budget.of(budget_tokens, max_chars)
        common = _Common(filter=filter, lifecycle=lifecycle, access=access, timeout=timeout)
        known = NamedTexts(scope, names)
        sought = names_to_resolve([name for name in names if name.strip() and not is_id_of(name, scope)])
        for first in range(0, len(sought), MOST_NAMES):
            batch = sought[first : first + MOST_NAMES]
            known.add_names(await self.resolve_nodes(known.scope, batch, max_nodes=MOST_FILE_NODES, **common))
        if ids := known.node_ids:
            texts = await self.fetch(known.scope, ids, budget_tokens=budget_tokens, max_chars=max_chars, **common)
            known.add_texts(texts)
        for path, file_ids in known.files.items():
            walked = await self.expand(
                known.scope,
                file_ids,
                max_depth=MOST_DEPTH,
                max_nodes=MOST_INNER_NODES,
                edge_allowlist=["Contains"],
                **common,
            )
            known.add_file(path, walked)
        if ids := known.missing_ids:
            known.add_texts(await self.fetch(known.scope, ids, budget_tokens=MOST_TOKENS, **common))
        for name in known.symbols_to_search:
            matching = await self.query(
                known.several, name, retrievers=WORDS_OF_CODE, top_k=MOST_MATCHES, cap_top_k=True, **common
            )
            known.add_occurrences(name, matching)
        return known.result(budget)

    @sends(QueryRequest)
    async def query(
        self,
        scope: Scopes,
        query: str,
        *,
        hybrid: HybridParameters | None = None,
        top_k: int | None = None,
        filter: Filter | None = None,
        lifecycle: Lifecycle.ValueType = Lifecycle.LIFECYCLE_UNSPECIFIED,
        process: str = "",
        doc_class: str = "",
        workflow_id: str = "",
        retrievers: Iterable[Retriever.ValueType] = (),
        fusion: FusionMode.ValueType = FusionMode.FUSION_MODE_UNSPECIFIED,
        rrf_k: int | None = None,
        rerank: bool = False,
        freshness_half_life_days: float | None = None,
        freshness_weight: float | None = None,
        now: datetime | None = None,
        include_parents: bool | None = None,
        include_neighbors: bool = False,
        expand_graph: bool = False,
        not_found_when_empty: bool = False,
        query_vector: Sequence[float] = (),
        budget_tokens: int | None = None,
        cap_top_k: bool = False,
        history: bool = False,
        access: AccessContext | None = None,
        timeout: float | None = None,
    ) -> QueryResponse:
        """Answers a question with the texts that match it best, in one call. See `QueryRequest` for the arguments.

        `scope` may be a list of scopes, as in `search`.
        `now` has a time zone. `access` and `timeout` (seconds) are the client's defaults where they are None.
        """
        single, several = one_or_several(scope)
        request = QueryRequest(
            scope=single,
            scopes=several,
            access=self._access(access),
            query=query,
            filter=as_filter(filter),
            hybrid=hybrid,
            top_k=top_k,
            lifecycle=lifecycle,
            process=process,
            doc_class=doc_class,
            workflow_id=workflow_id,
            retrievers=retrievers,
            fusion=fusion,
            rrf_k=rrf_k,
            rerank=rerank,
            freshness_half_life_days=freshness_half_life_days,
            freshness_weight=freshness_weight,
            now=None if now is None else timestamp("now", now),
            include_parents=include_parents,
            include_neighbors=include_neighbors,
            expand_graph=expand_graph,
            not_found_when_empty=not_found_when_empty,
            query_vector=query_vector,
            budget_tokens=budget_tokens,
            cap_top_k=cap_top_k,
            history=history,
        )
        response = await self._call(self._queries.Query, request, timeout)
        await self._warn(request, response.index, response.matches, timeout)
        return response

    @sends(GatherEvidenceRequest)
    async def evidence(
        self,
        scope: Scopes,
        question: str,
        budget_tokens: int = defaults.BUDGET_TOKENS,
        *,
        phrasings: Sequence[str] = (),
        shown_ids: Sequence[str] = (),
        graph_share: float | None = None,
        rerank: bool = False,
        retrievers: Iterable[Retriever.ValueType] = (),
        query_vector: Sequence[float] = (),
        explain: bool = False,
        now: datetime | None = None,
        phrase: bool = False,
        history: bool = False,
        filter: Filter | None = None,
        lifecycle: Lifecycle.ValueType = Lifecycle.LIFECYCLE_UNSPECIFIED,
        access: AccessContext | None = None,
        timeout: float | None = None,
    ) -> Evidence:
        """Answers a question with the passages that match it best, in one call. See `GatherEvidenceRequest`.

        `phrasings` are the same question in the words of code: technical terms, and names that the code is likely to
        use. They find much that the question alone does not. With `phrase`, a language model that the server is
        configured with writes them, and gets the question for it. `shown_ids` are the ids of passages that earlier
        evidence of a conversation has shown. `scope` may be a list of scopes, as in `search`. `now` has a time zone.
        `access` and `timeout` (seconds) are the client's defaults where they are None.
        """
        single, several = one_or_several(scope)
        request = GatherEvidenceRequest(
            scope=single,
            scopes=several,
            access=self._access(access),
            filter=as_filter(filter),
            question=question,
            phrasings=phrasings,
            budget_tokens=budget_tokens,
            shown_ids=shown_ids,
            lifecycle=lifecycle,
            rerank=rerank,
            graph_share=graph_share,
            retrievers=retrievers,
            query_vector=query_vector,
            explain=explain,
            now=None if now is None else timestamp("now", now),
            phrase=phrase,
            history=history,
        )
        response = await self._call(self._queries.GatherEvidence, request, timeout)
        await self._warn(request, response.index, response.passages, timeout)
        return evidence_of(pinned(single, response.index) if single is not None else IndexScope(), question, response)

    @sends(indexes.ListIndexesRequest)
    async def list_indexes(
        self,
        repository: str = "",
        branch: str = "",
        *,
        access: AccessContext | None = None,
        timeout: float | None = None,
    ) -> indexes.ListIndexesResponse:
        """The indexes with a node visible to the caller, by repository, branch and version; empty names are all."""
        request = indexes.ListIndexesRequest(repository=repository, branch=branch, access=self._access(access))
        return await self._call(self._indexes.ListIndexes, request, timeout)

    @sends(indexes.GetIndexRequest)
    async def get_index(
        self, scope: IndexScope, *, access: AccessContext | None = None, timeout: float | None = None
    ) -> indexes.GetIndexResponse:
        """Describes the scope's pinned index version, or its active one."""
        request = indexes.GetIndexRequest(scope=scope, access=self._access(access))
        return await self._call(self._indexes.GetIndex, request, timeout)

    @sends(indexes.ActivateIndexRequest)
    async def activate_index(self, scope: IndexScope, *, timeout: float | None = None) -> indexes.ActivateIndexResponse:
        """Makes the scope's `active_index` the version that answers; the response names the one before."""
        return await self._call(self._indexes.ActivateIndex, indexes.ActivateIndexRequest(scope=scope), timeout)

    @sends(indexes.DeleteIndexRequest)
    async def delete_index(self, scope: IndexScope, *, timeout: float | None = None) -> indexes.DeleteIndexResponse:
        """Deletes the scope's `active_index`, a version that does not answer at present. Its name stays taken."""
        return await self._call(self._indexes.DeleteIndex, indexes.DeleteIndexRequest(scope=scope), timeout)

    async def _warn(self, request: _Narrowed, index: str, results: Sized, timeout: float | None) -> None:
        """Warns of values that the index does not have, after a call that found nothing."""
        edge_types = () if isinstance(request, _WITHOUT_EDGES) else request.edge_allowlist
        is_one = request.HasField("scope")  # of several, none says alone what there is
        if results or not self._check_values or not is_one or not has_values(request.filter, edge_types):
            return
        access = request.access if request.HasField("access") else None
        try:
            known = await self.get_index(pinned(request.scope, index), access=access, timeout=timeout)
            notes = value_notes(known, request.filter, edge_types)
        except GroundwireError as error:
            notes = [unread_note(error)]
        for note in notes:
            warnings.warn(note, UnknownValueWarning, stacklevel=4)
