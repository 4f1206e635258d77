"""IndexService between protobuf and the domain. Its names are checked here, because it does not use the engine."""

from collections.abc import Iterable

from groundwire.v1 import index_pb2
from groundwire_index.scope import Scope, name_problem
from groundwire_server.domain.errors import Reason
from groundwire_server.domain.indexes import IndexNames, IndexSummary
from groundwire_server.domain.validation import Violations, check_scope
from groundwire_server.rpc.conversions.scope import AdministrationRequest, decode_scope
from groundwire_server.rpc.conversions.shared_fields import shared_fields
from groundwire_server.rpc.conversions.timestamps import encode_timestamp

_summary_fields = shared_fields(IndexSummary, index_pb2.IndexVersion)
_names_fields = shared_fields(IndexNames, index_pb2.GetIndexResponse)


def decode_listing(request: index_pb2.ListIndexesRequest) -> tuple[str, str]:
    """The repository and branch to list, each "" for any. Raises InvalidRequestError."""
    violations = Violations()
    for field, name in (("repository", request.repository), ("branch", request.branch)):
        problem = name_problem(name) if name else None
        if problem:
            violations.add(field, Reason.VALUE_MALFORMED, f"{name!r} {problem}")
    violations.raise_any()
    return request.repository, request.branch


def decode_index_scope(request: index_pb2.GetIndexRequest | AdministrationRequest) -> Scope:
    """The index to describe, or the version to change. Raises InvalidRequestError, also when no version is named."""
    violations = Violations()
    scope = decode_scope(request, violations)
    violations.raise_any()
    check_scope(scope, violations, version_required=not isinstance(request, index_pb2.GetIndexRequest))
    violations.raise_any()
    return scope


def encode_index(summary: IndexSummary) -> index_pb2.IndexVersion:
    """An index version; a creation time without a zone counts as UTC."""
    return index_pb2.IndexVersion(**_summary_fields(summary), create_time=encode_timestamp(summary.created))


def encode_listing(summaries: Iterable[IndexSummary]) -> index_pb2.ListIndexesResponse:
    """Index versions, in their order."""
    return index_pb2.ListIndexesResponse(indexes=map(encode_index, summaries))


def encode_described(summary: IndexSummary, names: IndexNames) -> index_pb2.GetIndexResponse:
    """An index version with the names in it."""
    return index_pb2.GetIndexResponse(index=encode_index(summary), **_names_fields(names))


def answering_index(response: object) -> str:
    """The index version that answered, "" where none did."""
    index: index_pb2.IndexVersion | str = getattr(response, "index", "")
    return index if isinstance(index, str) else index.version
