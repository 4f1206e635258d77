"""A filter arrives as it was given, its metadata by key; what no condition can express is refused by its key."""

import math
from collections.abc import Mapping
from dataclasses import fields

import pytest
from google.protobuf import struct_pb2
from hypothesis import given
from hypothesis import strategies as st

from groundwire.v1 import query_pb2, retrieval_pb2, scope_pb2
from groundwire_index.nodes.node import JsonValue
from groundwire_server.domain.errors import InvalidRequestError, Reason
from groundwire_server.domain.search.search import Filter, MetadataCondition
from groundwire_server.domain.validation import Violations
from groundwire_server.rpc.conversions.expansion import decode_expand
from groundwire_server.rpc.conversions.filter import decode_filter
from groundwire_server.rpc.conversions.query import decode_query
from groundwire_server.rpc.conversions.search import decode_search
from groundwire_server.rpc.conversions.texts import decode_fetch
from support.conversions import ACCESS, NOW, SCOPE, broken_rules, name_tuples, names, over_the_wire, refuse_broken

flags = st.none() | st.booleans()
scalars = st.none() | st.booleans() | names | st.integers(-(2**53), 2**53) | st.floats(-1e6, 1e6)
metadata_maps = st.dictionaries(names, scalars | st.lists(scalars, min_size=1, max_size=3), max_size=4)


def metadata_message(metadata: Mapping[str, JsonValue]) -> scope_pb2.NodeFilter:
    message = scope_pb2.NodeFilter()
    message.metadata.update(metadata)
    return over_the_wire(message)


def decoded(message: scope_pb2.NodeFilter) -> Filter:
    violations = Violations()
    filter_ = decode_filter(message, violations)
    violations.raise_any()
    return filter_


def as_json(value: JsonValue) -> JsonValue:
    """The number that JSON would read: a whole one is an int."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def test_the_domain_has_every_field_of_the_contract() -> None:
    assert [field.name for field in scope_pb2.NodeFilter.DESCRIPTOR.fields] == [field.name for field in fields(Filter)]


@given(st.builds(Filter, *[name_tuples] * 12, is_latest=flags, is_test=flags, is_generated=flags))
def test_the_fields_of_a_filter_arrive_as_they_were_given(filter_: Filter) -> None:
    given_fields = {field.name: getattr(filter_, field.name) for field in fields(Filter) if field.name != "metadata"}
    assert decoded(over_the_wire(scope_pb2.NodeFilter(**given_fields))) == filter_


def test_no_filter_does_not_narrow() -> None:
    assert decoded(scope_pb2.NodeFilter()) == Filter()
    assert decoded(metadata_message({})) == Filter()


@given(metadata_maps)
def test_metadata_becomes_conditions_in_the_order_of_their_keys(metadata: Mapping[str, JsonValue]) -> None:
    conditions = decoded(metadata_message(metadata)).metadata
    expected = [
        (key, list(map(as_json, value if isinstance(value, list) else [value])))
        for key, value in sorted(metadata.items(), key=lambda item: item[0])
    ]
    # Compared as written, since 1, 1.0 and True are equal.
    assert repr([(condition.key, list(condition.values)) for condition in conditions]) == repr(expected)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ([], "is an empty list"),
        ({}, "is an object"),
        ({"a": 1}, "is an object"),
        ([1, {"a": 1}], "holds an object"),
        ([1, [2]], "holds a list"),
        (math.nan, "is NaN or an infinity"),
        (-math.inf, "is NaN or an infinity"),
        (["a", math.inf], "holds NaN or an infinity"),
    ],
    ids=repr,
)
def test_metadata_that_is_no_scalar_is_refused_by_its_key(value: JsonValue, problem: str) -> None:
    message = metadata_message({"owner": "billing", "phase": value})
    for decode in (
        lambda: decode_search(retrieval_pb2.SearchNodesRequest(scope=SCOPE, filter=message), ACCESS),
        lambda: decode_expand(retrieval_pb2.ExpandDependencyTreeRequest(scope=SCOPE, filter=message), ACCESS),
        lambda: decode_fetch(retrieval_pb2.FetchNodeTextsRequest(scope=SCOPE, filter=message), ACCESS),
        lambda: decode_query(query_pb2.QueryRequest(scope=SCOPE, filter=message), ACCESS, NOW),
    ):
        with pytest.raises(InvalidRequestError, match=f"{problem}; give a string, a number") as caught:
            refuse_broken(decode())
        assert broken_rules(caught.value) == [("filter.metadata.phase", Reason.VALUE_MALFORMED)]


def test_a_value_without_a_kind_is_refused() -> None:
    message = scope_pb2.NodeFilter(metadata=struct_pb2.Struct(fields={"phase": struct_pb2.Value()}))
    with pytest.raises(InvalidRequestError, match="is a value without a kind"):
        refuse_broken(
            decode_search(over_the_wire(retrieval_pb2.SearchNodesRequest(scope=SCOPE, filter=message)), ACCESS)
        )


def test_the_filters_of_all_requests_are_read() -> None:
    message = metadata_message({"phase": [2, "b"]})
    expected = Filter(metadata=(MetadataCondition("phase", (2, "b")),))
    walk = retrieval_pb2.ExpandDependencyTreeRequest(scope=SCOPE, filter=message)
    texts = retrieval_pb2.FetchNodeTextsRequest(scope=SCOPE, filter=message)
    assert decode_search(retrieval_pb2.SearchNodesRequest(scope=SCOPE, filter=message), ACCESS).filter == expected
    assert decode_expand(walk, ACCESS).filter == expected
    assert decode_fetch(texts, ACCESS).filter == expected
    assert decode_query(query_pb2.QueryRequest(scope=SCOPE, filter=message), ACCESS, NOW).filter == expected
