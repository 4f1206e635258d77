"""Typed sync and asyncio clients of Groundwire.

with GroundwireClient("localhost:50051") as client:
    scope = IndexScope(repository="shop", branch="main")
    evidence = client.evidence(scope, "where is VAT computed?", phrasings=["VatService.rate country tax rate"])
    print(evidence.rendered)

or step by step:

    found = client.search(scope, "where is VAT computed?")
    scope = pinned(scope, found.index)
    graph = client.expand(scope, ids(found), max_depth=1)
    fetched = client.fetch(scope, ids(found), graph.nodes, budget_tokens=4_000)

Parts of requests and whole responses are the generated messages of `groundwire.v1`, whose comments are the reference;
this package names those that calls take and give.
"""

from groundwire.v1.errors_pb2 import ErrorReason
from groundwire.v1.evidence_pb2 import GatherEvidenceResponse, Passage, PassageForm
from groundwire.v1.index_pb2 import GetIndexResponse, IndexVersion, ListIndexesResponse
from groundwire.v1.query_pb2 import (
    FusionMode,
    HybridParameters,
    MatchMeta,
    ParentContext,
    PurposeFactor,
    QueryClass,
    QueryMatch,
    QueryResponse,
    RankingParameters,
    RetrieveMeta,
    RetrieverUse,
    Routing,
    ServiceContext,
    ServiceEdge,
    StageScores,
)
from groundwire.v1.retrieval_pb2 import (
    DependencyPath,
    EdgeDirection,
    ExpandDebug,
    ExpandDependencyTreeResponse,
    FetchNodeTextsResponse,
    FindPathsDebug,
    FindPathsResponse,
    GraphEdge,
    LeftOut,
    LineMatch,
    NameMatch,
    NodeText,
    PathNode,
    PrioritizationMode,
    ReachedNode,
    Rerank,
    ResolvedName,
    ResolvedNode,
    ResolveNodesResponse,
    Retriever,
    RetrieverScore,
    SearchDebug,
    SearchHit,
    SearchNodesResponse,
    SearchPath,
    SearchTextResponse,
    SearchType,
    SkippedNode,
    SkipReason,
    SourceLocation,
)
from groundwire.v1.scope_pb2 import AccessContext, Bound, IndexScope, Lifecycle, NodeFilter
from groundwire_client._async_client import AsyncGroundwireClient
from groundwire_client._channel import TLS
from groundwire_client._client import GroundwireClient
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
from groundwire_client._evidence import Evidence, EvidenceNode, EvidencePart, EvidenceText
from groundwire_client._filters import Filter, MetadataScalar, MetadataValue, metadata_of, node_filter
from groundwire_client._helpers import Scopes, choice, choices, ids, pinned, scope_name, telling_paths
from groundwire_client._known_values import UnknownValueWarning
from groundwire_client._offered_texts import OfferedText, offered_texts
from groundwire_client._reading import Reading, ReadText, Unread
from groundwire_client._resolution import NamedNode, NameResolutionError, Resolution
from groundwire_client._several import at_versions, is_id, is_of, is_pattern, left_out_note, scope_of_id
from groundwire_client._token import TokenFile

__all__ = [
    "TLS",
    "AccessContext",
    "AsyncGroundwireClient",
    "Bound",
    "CancelledError",
    "DeadlineExceededError",
    "DependencyPath",
    "EdgeDirection",
    "ErrorReason",
    "Evidence",
    "EvidenceNode",
    "EvidencePart",
    "EvidenceText",
    "ExpandDebug",
    "ExpandDependencyTreeResponse",
    "FailedPreconditionError",
    "FetchNodeTextsResponse",
    "FieldViolation",
    "Filter",
    "FindPathsDebug",
    "FindPathsResponse",
    "FusionMode",
    "GatherEvidenceResponse",
    "GetIndexResponse",
    "GraphEdge",
    "GroundwireClient",
    "GroundwireError",
    "HybridParameters",
    "IndexScope",
    "IndexVersion",
    "InternalError",
    "InvalidRequestError",
    "LeftOut",
    "Lifecycle",
    "LineMatch",
    "ListIndexesResponse",
    "MatchMeta",
    "MetadataScalar",
    "MetadataValue",
    "NameMatch",
    "NameResolutionError",
    "NamedNode",
    "NodeFilter",
    "NodeText",
    "NotFoundError",
    "OfferedText",
    "OverloadedError",
    "ParentContext",
    "Passage",
    "PassageForm",
    "PathNode",
    "PermissionDeniedError",
    "PrioritizationMode",
    "PurposeFactor",
    "QueryClass",
    "QueryMatch",
    "QueryResponse",
    "RankingParameters",
    "ReachedNode",
    "ReadText",
    "Reading",
    "Rerank",
    "Resolution",
    "ResolveNodesResponse",
    "ResolvedName",
    "ResolvedNode",
    "RetrieveMeta",
    "Retriever",
    "RetrieverScore",
    "RetrieverUse",
    "Routing",
    "Scopes",
    "SearchDebug",
    "SearchHit",
    "SearchNodesResponse",
    "SearchPath",
    "SearchTextResponse",
    "SearchType",
    "ServiceContext",
    "ServiceEdge",
    "SkipReason",
    "SkippedNode",
    "SourceLocation",
    "StageScores",
    "TokenFile",
    "UnauthenticatedError",
    "UnavailableError",
    "UnexpectedStatusError",
    "UnknownValueWarning",
    "Unread",
    "at_versions",
    "choice",
    "choices",
    "ids",
    "is_id",
    "is_of",
    "is_pattern",
    "left_out_note",
    "metadata_of",
    "node_filter",
    "offered_texts",
    "pinned",
    "scope_name",
    "scope_of_id",
    "telling_paths",
]
