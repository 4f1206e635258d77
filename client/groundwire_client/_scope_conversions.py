"""What every request holds as messages of `scope.proto`: the scope, the access, the filter."""

from collections.abc import Mapping, Sequence

from google.protobuf import struct_pb2

from groundwire.v1 import scope_pb2
from groundwire_client._enums import Visibility
from groundwire_client._filters import Filter, MetadataValue
from groundwire_client._types import Access, Scope

VISIBILITIES: Mapping[Visibility, scope_pb2.Lifecycle.ValueType] = {
    Visibility.ACTIVE: scope_pb2.LIFECYCLE_ACTIVE,
    Visibility.ALL: scope_pb2.LIFECYCLE_ALL,
    Visibility.DELETED: scope_pb2.LIFECYCLE_DELETED,
}


def scope_message(scope: Scope) -> scope_pb2.IndexScope:
    """Where to look."""
    return scope_pb2.IndexScope(repository=scope.repository, branch=scope.branch, active_index=scope.active_index)


def access_message(access: Access | None) -> scope_pb2.AccessContext | None:
    """What the caller may see; None leaves it off."""
    if access is None:
        return None
    return scope_pb2.AccessContext(
        tenant_id=access.tenant_id,
        acl_tags_any=strings("acl_tags_any", access.acl_tags_any),
        classification_labels_all=strings("classification_labels_all", access.classification_labels_all),
        clearance_level=access.clearance_level,
        collections=_bound("collections", access.collections),
        cases=_bound("cases", access.cases),
        documents=_bound("documents", access.documents),
        workflows=_bound("workflows", access.workflows),
    )


def _bound(field: str, values: Sequence[str] | None) -> scope_pb2.Bound | None:
    """What the caller is bound to; None leaves it off, and no values are sent as none."""
    return None if values is None else scope_pb2.Bound(values=strings(field, values))


def filter_message(narrowing: Filter | None) -> scope_pb2.NodeFilter | None:
    """What narrows the question; None leaves it off."""
    if narrowing is None:
        return None
    return scope_pb2.NodeFilter(
        kinds=strings("kinds", narrowing.kinds),
        data_types=strings("data_types", narrowing.data_types),
        corpus_types=strings("corpus_types", narrowing.corpus_types),
        languages=strings("languages", narrowing.languages),
        path_prefixes=strings("path_prefixes", narrowing.path_prefixes),
        collection_ids=strings("collection_ids", narrowing.collection_ids),
        document_ids=strings("document_ids", narrowing.document_ids),
        service_names=strings("service_names", narrowing.service_names),
        repo_names=strings("repo_names", narrowing.repo_names),
        tenant_ids=strings("tenant_ids", narrowing.tenant_ids),
        case_ids=strings("case_ids", narrowing.case_ids),
        document_version_ids=strings("document_version_ids", narrowing.document_version_ids),
        is_latest=narrowing.is_latest,
        is_test=narrowing.is_test,
        is_generated=narrowing.is_generated,
        metadata=_struct(narrowing.metadata) if narrowing.metadata else None,
    )


def strings(field: str, values: Sequence[str]) -> Sequence[str]:
    """`values`, unless it is one string: a sequence of strings to a type checker, and to protobuf one of letters."""
    if isinstance(values, str):
        raise TypeError(f"{field} must be a sequence of strings, not the string {values!r}")
    return values


def _struct(metadata: Mapping[str, MetadataValue]) -> struct_pb2.Struct:
    struct = struct_pb2.Struct()
    struct.update({key: list(value) if isinstance(value, tuple) else value for key, value in metadata.items()})
    return struct
