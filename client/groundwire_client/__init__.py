"""Typed sync and asyncio clients of Groundwire.

with GroundwireClient("localhost:50051") as client:
    scope = Scope("shop", "main")
    found = client.search(scope, "where is VAT computed?")
    scope = scope.pinned(found.index)
    graph = client.expand(scope, found.ids, max_depth=2, max_nodes=50, edge_allowlist=["*"])
    evidence = client.fetch(scope, found.ids, graph.nodes, budget_tokens=4_000)

or, in one call, the texts that match best:

    answer = client.query(scope, "where is VAT computed?", top_k=5)
"""

from groundwire_client._aio import AsyncGroundwireClient
from groundwire_client._channel import TLS
from groundwire_client._enums import (
    Direction,
    FusionMode,
    PrioritizationMode,
    QueryClass,
    Rerank,
    SearchLeg,
    SearchPath,
    SearchType,
    SkipReason,
    Source,
    Visibility,
)
from groundwire_client._errors import (
    CancelledError,
    DeadlineExceededError,
    FailedPreconditionError,
    FieldViolation,
    GroundwireError,
    InternalError,
    InvalidRequestError,
    NotFoundError,
    OverloadedError,
    PermissionDeniedError,
    UnauthenticatedError,
    UnavailableError,
    UnexpectedStatusError,
)
from groundwire_client._filters import Filter, MetadataScalar, MetadataValue
from groundwire_client._graph_types import (
    DependencyEdge,
    DependencyPath,
    ExpandDebug,
    ExpandedNode,
    Expansion,
    PathNode,
    Paths,
    PathsDebug,
)
from groundwire_client._query_parameters import HybridParameters, RankingParameters
from groundwire_client._query_types import (
    MatchMeta,
    ParentContext,
    QueryMatch,
    QueryResult,
    RetrieveMeta,
    Routing,
    ServiceContext,
    ServiceEdge,
    SourceUse,
    StageScores,
)
from groundwire_client._sync import GroundwireClient
from groundwire_client._token import TokenFile
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

__all__ = [
    "TLS",
    "Access",
    "AsyncGroundwireClient",
    "CancelledError",
    "DeadlineExceededError",
    "DependencyEdge",
    "DependencyPath",
    "Direction",
    "ExpandDebug",
    "ExpandedNode",
    "Expansion",
    "FailedPreconditionError",
    "FetchResult",
    "FieldViolation",
    "Filter",
    "FusionMode",
    "GroundwireClient",
    "GroundwireError",
    "Hit",
    "HybridParameters",
    "IndexInfo",
    "InternalError",
    "InvalidRequestError",
    "LegScore",
    "Location",
    "MatchMeta",
    "MetadataScalar",
    "MetadataValue",
    "NodeText",
    "NotFoundError",
    "OverloadedError",
    "ParentContext",
    "PathNode",
    "Paths",
    "PathsDebug",
    "PermissionDeniedError",
    "PrioritizationMode",
    "QueryClass",
    "QueryMatch",
    "QueryResult",
    "RankingParameters",
    "Rerank",
    "RetrieveMeta",
    "Routing",
    "Scope",
    "SearchDebug",
    "SearchLeg",
    "SearchPath",
    "SearchResult",
    "SearchType",
    "ServiceContext",
    "ServiceEdge",
    "SkipReason",
    "SkippedNode",
    "Source",
    "SourceUse",
    "StageScores",
    "TokenFile",
    "UnauthenticatedError",
    "UnavailableError",
    "UnexpectedStatusError",
    "Visibility",
]
