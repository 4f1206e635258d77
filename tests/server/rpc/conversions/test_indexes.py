"""IndexService's names are checked, and an index arrives as it is."""

from datetime import UTC, datetime

import pytest

from groundwire.v1 import index_pb2, scope_pb2
from groundwire_index.scope import Scope
from groundwire_server.domain.errors import InvalidRequestError, Reason
from groundwire_server.domain.indexes import IndexSummary
from groundwire_server.rpc.conversions.indexes import decode_index_scope, decode_listing, encode_index
from support.conversions import SCOPE, broken_rules, over_the_wire


def test_an_index_arrives_as_it_is(summary: IndexSummary) -> None:
    message = over_the_wire(encode_index(summary))
    assert message.create_time.ToDatetime(UTC) == datetime(2025, 12, 14, 9, 30, tzinfo=UTC)
    for field in message.DESCRIPTOR.fields:
        if field.name != "create_time":
            assert getattr(message, field.name) == getattr(summary, field.name), field.name


def test_a_listing_takes_any_names_or_given_ones() -> None:
    assert decode_listing(index_pb2.ListIndexesRequest()) == ("", "")
    assert decode_listing(index_pb2.ListIndexesRequest(repository="shop", branch="main")) == ("shop", "main")
    with pytest.raises(InvalidRequestError) as caught:
        decode_listing(index_pb2.ListIndexesRequest(repository="a::b", branch=" "))
    assert broken_rules(caught.value) == [("repository", Reason.VALUE_MALFORMED), ("branch", Reason.VALUE_MALFORMED)]


def test_the_names_of_an_index_are_checked() -> None:
    assert decode_index_scope(index_pb2.GetIndexRequest(scope=SCOPE)) == Scope("shop", "main")
    with pytest.raises(InvalidRequestError) as caught:
        decode_index_scope(index_pb2.GetIndexRequest(scope=scope_pb2.IndexScope(branch="a::b", active_index="../x")))
    assert broken_rules(caught.value) == [
        ("scope.repository", Reason.FIELD_REQUIRED),
        ("scope.branch", Reason.VALUE_MALFORMED),
        ("scope.active_index", Reason.VALUE_MALFORMED),
    ]


@pytest.mark.parametrize("kind", [index_pb2.ActivateIndexRequest, index_pb2.DeleteIndexRequest])
def test_a_change_names_its_version(
    kind: type[index_pb2.ActivateIndexRequest] | type[index_pb2.DeleteIndexRequest],
) -> None:
    pinned = scope_pb2.IndexScope(repository="shop", branch="main", active_index="v2")
    assert decode_index_scope(kind(scope=pinned)) == Scope("shop", "main", "v2")
    with pytest.raises(InvalidRequestError) as caught:
        decode_index_scope(kind(scope=SCOPE))
    assert broken_rules(caught.value) == [("scope.active_index", Reason.FIELD_REQUIRED)]
