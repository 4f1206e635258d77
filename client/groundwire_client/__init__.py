"""Typed sync and asyncio clients of Groundwire.

with GroundwireClient("localhost:50051") as client:
    scope = Scope("shop", "main")
    found = client.search(scope, "where is VAT computed?")
    scope = scope.pinned(found.index)
    graph = client.expand(scope, found.ids, max_depth=2, max_nodes=50, edge_allowlist=["*"])
    evidence = client.fetch(scope, found.ids, graph.nodes, budget_tokens=4_000)
"""

from groundwire_client._aio import AsyncGroundwireClient
from groundwire_client._channel import TLS
from groundwire_client._enums import (
    Direction,
    PrioritizationMode,
    Rerank,
    SearchLeg,
    SearchPath,
    SearchType,
    SkipReason,
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
from groundwire_client._sync import GroundwireClient
from groundwire_client._types import (
    Access,
    DependencyEdge,
    ExpandDebug,
    ExpandedNode,
    Expansion,
    FetchResult,
    Filter,
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
    "Direction",
    "ExpandDebug",
    "ExpandedNode",
    "Expansion",
    "FailedPreconditionError",
    "FetchResult",
    "FieldViolation",
    "Filter",
    "GroundwireClient",
    "GroundwireError",
    "Hit",
    "IndexInfo",
    "InternalError",
    "InvalidRequestError",
    "LegScore",
    "Location",
    "NodeText",
    "NotFoundError",
    "OverloadedError",
    "PermissionDeniedError",
    "PrioritizationMode",
    "Rerank",
    "Scope",
    "SearchDebug",
    "SearchLeg",
    "SearchPath",
    "SearchResult",
    "SearchType",
    "SkipReason",
    "SkippedNode",
    "UnauthenticatedError",
    "UnavailableError",
    "UnexpectedStatusError",
]
