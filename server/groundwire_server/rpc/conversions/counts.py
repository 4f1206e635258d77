"""How many entries the lists and maps of a request may have, counted on the message before anything is converted.

4 MiB have room for two million empty entries, and each would become an object of a hundred bytes or more. The engine
checks the entries, and the number of entries of several lists together. The values of metadata may hold lists
themselves and are checked here.
"""

from collections.abc import Mapping, Sized
from typing import cast

from google.protobuf import struct_pb2
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from groundwire.v1 import evidence_pb2, query_pb2, retrieval_pb2, scope_pb2
from groundwire_server.domain import limits
from groundwire_server.domain.search.search import Retriever
from groundwire_server.domain.validation import Violations
from groundwire_server.rpc.conversions.filter import check_value

_BY_MESSAGE: Mapping[type[Message], Mapping[str, int]] = {
    scope_pb2.AccessContext: {
        "acl_tags_any": limits.MAX_ACCESS_VALUES,
        "classification_labels_all": limits.MAX_ACCESS_VALUES,
    },
    scope_pb2.Bound: {"values": limits.MAX_ACCESS_VALUES},
    scope_pb2.NodeFilter: {
        field.name: limits.MAX_FILTER_VALUES for field in scope_pb2.NodeFilter.DESCRIPTOR.fields if field.is_repeated
    },
    retrieval_pb2.SearchNodesRequest: {"query_vector": limits.MAX_VECTOR_COMPONENTS, "scopes": limits.MAX_SCOPES},
    retrieval_pb2.ResolveNodesRequest: {"names": limits.MAX_NAMES, "scopes": limits.MAX_SCOPES},
    retrieval_pb2.SearchTextRequest: {"scopes": limits.MAX_SCOPES},
    retrieval_pb2.ExpandDependencyTreeRequest: {
        "seed_ids": limits.MAX_SEEDS,
        "edge_allowlist": limits.MAX_EDGE_TYPES,
        "scopes": limits.MAX_SCOPES,
    },
    retrieval_pb2.FindPathsRequest: {
        "from_ids": limits.MAX_PATH_ENDS,
        "to_ids": limits.MAX_PATH_ENDS,
        "edge_allowlist": limits.MAX_EDGE_TYPES,
        "scopes": limits.MAX_SCOPES,
    },
    retrieval_pb2.FetchNodeTextsRequest: {
        "seed_ids": limits.MAX_FETCH_IDS,
        "nodes": limits.MAX_FETCH_IDS,
        "scopes": limits.MAX_SCOPES,
    },
    query_pb2.QueryRequest: {
        "query_vector": limits.MAX_VECTOR_COMPONENTS,
        "retrievers": len(Retriever),
        "scopes": limits.MAX_SCOPES,
    },
    evidence_pb2.GatherEvidenceRequest: {
        "phrasings": limits.MAX_PHRASINGS,
        "query_vector": limits.MAX_VECTOR_COMPONENTS,
        "retrievers": len(Retriever),
        "scopes": limits.MAX_SCOPES,
        "shown_ids": limits.MAX_SEEDS,
    },
}
LIMITS: Mapping[str, int] = {
    message.DESCRIPTOR.fields_by_name[name].full_name: highest
    for message, limits_of_lists in _BY_MESSAGE.items()
    for name, highest in limits_of_lists.items()
}
"""The most entries of a list by its field's full name; the contract states them."""


def check_counts(request: Message) -> None:
    """Raises InvalidRequestError when a list or map of the request, or of a message in it, has too many entries."""
    violations = Violations()
    _check(request, "", violations)
    violations.raise_any()


def _check(message: Message, path: str, violations: Violations) -> None:
    fields = cast("list[tuple[FieldDescriptor, object]]", message.ListFields())
    for field, value in fields:
        if field.is_repeated:
            violations.bound_count(path + field.name, cast("Sized", value), LIMITS[field.full_name])
        elif isinstance(value, struct_pb2.Struct):
            _check_metadata(value, path + field.name, violations)
        elif isinstance(value, Message):
            _check(value, f"{path}{field.name}.", violations)


def _check_metadata(metadata: struct_pb2.Struct, path: str, violations: Violations) -> None:
    """Refuses nested lists and objects too: they have no limit, and no filter may have them."""
    violations.bound_count(path, metadata.fields, limits.MAX_FILTER_CONDITIONS)
    if len(metadata.fields) > limits.MAX_FILTER_CONDITIONS:
        return
    for key, value in sorted(metadata.fields.items()):
        if len(value.list_value.values) > limits.MAX_FILTER_VALUES:
            violations.bound_count(f"{path}.{key}", value.list_value.values, limits.MAX_FILTER_VALUES)
        else:
            check_value(key, value, violations)
