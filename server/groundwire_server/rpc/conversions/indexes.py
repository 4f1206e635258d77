"""IndexService between protobuf and the domain. Its names are checked here, because it does not use the engine."""

from groundwire.v1 import index_pb2, query_pb2, retrieval_pb2
from groundwire_index.scope import Scope, name_problem
from groundwire_server.domain.errors import Reason
from groundwire_server.domain.indexes import IndexNames, IndexSummary
from groundwire_server.domain.validation import Violations, check_scope
from groundwire_server.rpc.conversions.scope import decode_scope
from groundwire_server.rpc.conversions.timestamps import encode_timestamp


def decode_listing(request: index_pb2.ListIndexesRequest) -> tuple[str, str]:
    """The repository and branch to list, each "" for any. Raises InvalidRequestError."""
    violations = Violations()
    for field, name in (("repository", request.repository), ("branch", request.branch)):
        problem = name_problem(name) if name else None
        if problem:
            violations.add(field, Reason.VALUE_MALFORMED, f"{name!r} {problem}")
    violations.raise_any()
    return request.repository, request.branch


def decode_index_scope(request: index_pb2.GetIndexRequest) -> Scope:
    """The index to describe, pinned or active. Raises InvalidRequestError."""
    return _decode_checked_scope(request, version_required=False)


def decode_version_scope(request: index_pb2.ActivateIndexRequest | index_pb2.DeleteIndexRequest) -> Scope:
    """The index version to change. Raises InvalidRequestError, also when no version is named."""
    return _decode_checked_scope(request, version_required=True)


def encode_index(summary: IndexSummary) -> index_pb2.IndexVersion:
    """An index version; a creation time without a zone counts as UTC."""
    return index_pb2.IndexVersion(
        repository=summary.repository,
        branch=summary.branch,
        version=summary.version,
        active=summary.active,
        create_time=encode_timestamp(summary.created),
        source=summary.source,
        node_count=summary.node_count,
        edge_count=summary.edge_count,
        embedder=summary.embedder,
        embedder_fingerprint=summary.embedder_fingerprint,
        dimension=summary.dimension,
        lexical=summary.lexical,
        token_counter=summary.token_counter,
    )


def encode_described(summary: IndexSummary, names: IndexNames) -> index_pb2.GetIndexResponse:
    """An index version with the names in it."""
    return index_pb2.GetIndexResponse(
        index=encode_index(summary), kinds=names.kinds, languages=names.languages, edge_types=names.edge_types
    )


def answering_index(response: object) -> str:
    """The index version that answered, "" where none did."""
    match response:
        case index_pb2.GetIndexResponse():
            return response.index.version
        case (
            retrieval_pb2.SearchNodesResponse()
            | retrieval_pb2.ExpandDependencyTreeResponse()
            | retrieval_pb2.FindPathsResponse()
            | retrieval_pb2.FetchNodeTextsResponse()
            | query_pb2.QueryResponse()
        ):
            return response.index
        case _:
            return ""


def _decode_checked_scope(
    request: index_pb2.GetIndexRequest | index_pb2.ActivateIndexRequest | index_pb2.DeleteIndexRequest,
    *,
    version_required: bool,
) -> Scope:
    violations = Violations()
    scope = decode_scope(request.scope if request.HasField("scope") else None, violations)
    violations.raise_any()
    check_scope(scope, violations, version_required=version_required)
    violations.raise_any()
    return scope
