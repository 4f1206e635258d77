"""Every list that a request may have is bounded, and one entry too many is told by its field."""

from collections.abc import Iterator

import pytest
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.struct_pb2 import Struct

from groundwire.v1 import index_pb2, query_pb2, retrieval_pb2, scope_pb2
from groundwire_server.domain.errors import InvalidRequestError, Reason
from groundwire_server.rpc.conversions.counts import LIMITS, check_counts

SERVICES = (
    retrieval_pb2.DESCRIPTOR.services_by_name["RetrievalService"],
    query_pb2.DESCRIPTOR.services_by_name["QueryService"],
    index_pb2.DESCRIPTOR.services_by_name["IndexService"],
)


def lists(message: Descriptor) -> Iterator[FieldDescriptor]:
    """The lists of a message and of the messages in it, those of `Struct` aside."""
    for field in message.fields:
        if field.is_repeated:
            yield field
        if field.message_type is not None and field.message_type.full_name != Struct.DESCRIPTOR.full_name:
            yield from lists(field.message_type)


def test_every_list_of_a_request_has_a_limit() -> None:
    list_fields = {
        field.full_name for service in SERVICES for method in service.methods for field in lists(method.input_type)
    }
    assert list_fields == set(LIMITS)


def metadata(keys: int, values: int = 1) -> scope_pb2.NodeFilter:
    filter_ = scope_pb2.NodeFilter()
    for key in range(keys):
        filter_.metadata.update({f"k{key}": ["v"] * values if values > 1 else "v"})
    return filter_


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        (retrieval_pb2.SearchNodesRequest(query_vector=[1.0] * 16_385), "query_vector"),
        (retrieval_pb2.ExpandDependencyTreeRequest(seed_ids=["a"] * 1_001), "seed_ids"),
        (retrieval_pb2.ExpandDependencyTreeRequest(edge_allowlist=["a"] * 65), "edge_allowlist"),
        (retrieval_pb2.FindPathsRequest(from_ids=["a"] * 101), "from_ids"),
        (retrieval_pb2.FindPathsRequest(to_ids=["a"] * 101), "to_ids"),
        (retrieval_pb2.FindPathsRequest(edge_allowlist=["a"] * 65), "edge_allowlist"),
        (retrieval_pb2.FetchNodeTextsRequest(nodes=[retrieval_pb2.ReachedNode()] * 10_001), "nodes"),
        (query_pb2.QueryRequest(retrievers=[retrieval_pb2.RETRIEVER_DENSE] * 5), "retrievers"),
        (query_pb2.QueryRequest(access=scope_pb2.AccessContext(acl_tags_any=["t"] * 1_025)), "access.acl_tags_any"),
        (query_pb2.QueryRequest(filter=scope_pb2.NodeFilter(kinds=["k"] * 257)), "filter.kinds"),
        (query_pb2.QueryRequest(filter=metadata(257)), "filter.metadata"),
        (retrieval_pb2.SearchNodesRequest(filter=metadata(1, 257)), "filter.metadata.k0"),
        (
            index_pb2.ListIndexesRequest(access=scope_pb2.AccessContext(classification_labels_all=["l"] * 1_025)),
            "access.classification_labels_all",
        ),
    ],
)
def test_one_too_many_is_told(request_: Message, field: str) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        check_counts(request_)
    assert [(violation.field, violation.reason) for violation in caught.value.violations] == [
        (field, Reason.VALUE_OUT_OF_RANGE)
    ]


def test_as_many_as_may_be_are_admitted() -> None:
    filter_ = metadata(256)
    filter_.metadata.update({"k0": ["v"] * 256})
    filter_.kinds.extend(["k"] * 256)
    check_counts(
        query_pb2.QueryRequest(
            filter=filter_, retrievers=[retrieval_pb2.RETRIEVER_DENSE] * 4, query_vector=[1.0] * 16_384
        )
    )
