"""The client's values as messages of `retrieval.proto` and `index.proto`, and back.

Numbers and texts that protobuf cannot carry (beyond 32 bits, unpaired surrogates) raise `ValueError`; every other
rule of the contract is the server's to check. Enum values that only a newer server knows become `UNKNOWN`.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC

from groundwire.v1 import index_pb2, retrieval_pb2
from groundwire_client._enums import (
    PrioritizationMode,
    Rerank,
    SearchLeg,
    SearchPath,
    SearchType,
    SkipReason,
    Visibility,
)
from groundwire_client._filters import Filter
from groundwire_client._graph_types import (
    ExpandedNode,
)
from groundwire_client._scope_conversions import VISIBILITIES, access_message, filter_message, scope_message, strings
from groundwire_client._types import (
    Access,
    FetchResult,
    Hit,
    IndexInfo,
    LegScore,
    Location,
    NodeText,
    Scope,
    SearchDebug,
    SearchResult,
    SkippedNode,
)

_SEARCH_TYPES: Mapping[SearchType, retrieval_pb2.SearchType.ValueType] = {
    SearchType.SEMANTIC: retrieval_pb2.SEARCH_TYPE_SEMANTIC,
    SearchType.BM25: retrieval_pb2.SEARCH_TYPE_BM25,
    SearchType.HYBRID: retrieval_pb2.SEARCH_TYPE_HYBRID,
}
_RERANKS: Mapping[Rerank, retrieval_pb2.Rerank.ValueType] = {
    Rerank.NONE: retrieval_pb2.RERANK_NONE,
    Rerank.KEYWORD: retrieval_pb2.RERANK_KEYWORD,
    Rerank.CODEBERT: retrieval_pb2.RERANK_CODEBERT,
}
_MODES: Mapping[PrioritizationMode, retrieval_pb2.PrioritizationMode.ValueType] = {
    PrioritizationMode.SEED_FIRST: retrieval_pb2.PRIORITIZATION_MODE_SEED_FIRST,
    PrioritizationMode.GRAPH_FIRST: retrieval_pb2.PRIORITIZATION_MODE_GRAPH_FIRST,
    PrioritizationMode.BALANCED: retrieval_pb2.PRIORITIZATION_MODE_BALANCED,
}
_LEGS: Mapping[retrieval_pb2.Retriever.ValueType, SearchLeg] = {
    retrieval_pb2.RETRIEVER_DENSE: SearchLeg.SEMANTIC,
    retrieval_pb2.RETRIEVER_BM25_CODE: SearchLeg.BM25,
}
_PATHS: Mapping[retrieval_pb2.SearchPath.ValueType, SearchPath | None] = {
    retrieval_pb2.SEARCH_PATH_UNSPECIFIED: None,
    retrieval_pb2.SEARCH_PATH_EXACT: SearchPath.EXACT,
    retrieval_pb2.SEARCH_PATH_APPROXIMATE: SearchPath.APPROXIMATE,
}
SKIP_REASONS: Mapping[retrieval_pb2.SkipReason.ValueType, SkipReason] = {
    retrieval_pb2.SKIP_REASON_OVER_BUDGET: SkipReason.OVER_BUDGET,
    retrieval_pb2.SKIP_REASON_UNAVAILABLE: SkipReason.UNAVAILABLE,
    retrieval_pb2.SKIP_REASON_RESPONSE_LIMIT: SkipReason.RESPONSE_LIMIT,
}


def search_request(
    scope: Scope,
    access: Access | None,
    query: str,
    *,
    search_type: SearchType,
    top_k: int,
    filter: Filter | None,
    query_vector: Sequence[float],
    rrf_k: int | None,
    rerank: Rerank,
    explain: bool,
    visibility: Visibility,
) -> retrieval_pb2.SearchNodesRequest:
    """A search; None and empty values are left off."""
    return retrieval_pb2.SearchNodesRequest(
        scope=scope_message(scope),
        access=access_message(access),
        filter=filter_message(filter),
        search_type=_SEARCH_TYPES[search_type],
        query=query,
        query_vector=query_vector,
        top_k=top_k,
        rrf_k=rrf_k,
        rerank=_RERANKS[rerank],
        explain=explain,
        lifecycle=VISIBILITIES[visibility],
    )


def fetch_request(
    scope: Scope,
    access: Access | None,
    seed_ids: Sequence[str],
    nodes: Iterable[ExpandedNode],
    *,
    budget_tokens: int | None,
    max_chars: int | None,
    mode: PrioritizationMode,
    filter: Filter | None,
    visibility: Visibility,
) -> retrieval_pb2.FetchNodeTextsRequest:
    """A request for texts. Raises ValueError unless exactly one budget is given: protobuf would keep one of two."""
    if (budget_tokens is None) == (max_chars is None):
        raise ValueError("give exactly one budget: budget_tokens or max_chars")
    request = retrieval_pb2.FetchNodeTextsRequest(
        scope=scope_message(scope),
        access=access_message(access),
        seed_ids=strings("seed_ids", seed_ids),
        nodes=(retrieval_pb2.ReachedNode(id=node.id, depth=node.depth, parent_id=node.parent_id) for node in nodes),
        prioritization_mode=_MODES[mode],
        filter=filter_message(filter),
        lifecycle=VISIBILITIES[visibility],
    )
    if budget_tokens is not None:
        request.budget_tokens = budget_tokens
    if max_chars is not None:
        request.max_chars = max_chars
    return request


def list_indexes_request(repository: str, branch: str, access: Access | None) -> index_pb2.ListIndexesRequest:
    """Which indexes to list."""
    return index_pb2.ListIndexesRequest(repository=repository, branch=branch, access=access_message(access))


def get_index_request(scope: Scope, access: Access | None) -> index_pb2.GetIndexRequest:
    """Which index to describe."""
    return index_pb2.GetIndexRequest(scope=scope_message(scope), access=access_message(access))


def activate_index_request(scope: Scope) -> index_pb2.ActivateIndexRequest:
    """Which version to activate."""
    return index_pb2.ActivateIndexRequest(scope=scope_message(scope))


def delete_index_request(scope: Scope) -> index_pb2.DeleteIndexRequest:
    """Which version to delete."""
    return index_pb2.DeleteIndexRequest(scope=scope_message(scope))


def search_result(response: retrieval_pb2.SearchNodesResponse) -> SearchResult:
    """The selected nodes."""
    return SearchResult(
        hits=tuple(_hit(hit) for hit in response.hits),
        index=response.index,
        exact=response.exact,
        debug=_search_debug(response.debug) if response.HasField("debug") else None,
    )


def fetch_result(response: retrieval_pb2.FetchNodeTextsResponse) -> FetchResult:
    """The texts that fit the budget."""
    return FetchResult(
        texts=tuple(_node_text(text) for text in response.texts),
        skipped=tuple(
            SkippedNode(node.id, SKIP_REASONS.get(node.reason, SkipReason.UNKNOWN)) for node in response.skipped
        ),
        used_tokens=response.used_tokens,
        used_chars=response.used_chars,
        index=response.index,
    )


def index_info(index: index_pb2.IndexVersion) -> IndexInfo:
    """One index version."""
    return IndexInfo(
        repository=index.repository,
        branch=index.branch,
        version=index.version,
        active=index.active,
        create_time=index.create_time.ToDatetime(tzinfo=UTC),
        source=index.source,
        node_count=index.node_count,
        edge_count=index.edge_count,
        embedder=index.embedder,
        embedder_fingerprint=index.embedder_fingerprint,
        dimension=index.dimension,
        lexical=index.lexical,
        token_counter=index.token_counter,
    )


def location(place: retrieval_pb2.SourceLocation) -> Location:
    """Where a text stands."""
    return Location(
        path=place.path, start_line=place.start_line, end_line=place.end_line, content_hash=place.content_hash
    )


def _hit(hit: retrieval_pb2.SearchHit) -> Hit:
    return Hit(
        id=hit.id,
        score=hit.score,
        rank=hit.rank,
        legs=tuple(
            LegScore(_LEGS.get(leg.retriever, SearchLeg.UNKNOWN), leg.rank, leg.score) for leg in hit.retrievers
        ),
        matched_tokens=tuple(hit.matched_tokens),
        is_test=hit.is_test,
        is_generated=hit.is_generated,
    )


def _search_debug(debug: retrieval_pb2.SearchDebug) -> SearchDebug:
    return SearchDebug(
        path=_PATHS.get(debug.path, SearchPath.UNKNOWN),
        filtered=debug.filtered,
        visible_count=debug.visible_count,
        semantic_candidates=debug.dense_candidates,
        bm25_candidates=debug.bm25_candidates,
        query_tokens=tuple(debug.query_tokens),
        rrf_k=debug.rrf_k,
    )


def _node_text(text: retrieval_pb2.NodeText) -> NodeText:
    return NodeText(
        id=text.id,
        text=text.text,
        is_seed=text.is_seed,
        depth=text.depth,
        parent_id=text.parent_id,
        token_count=text.token_count,
        location=location(text.location),
        symbol=text.symbol,
        is_test=text.is_test,
        is_generated=text.is_generated,
    )
