"""What holds for the requests of every service: defaults, unknown enum values, absent scopes."""

from collections.abc import Callable

import pytest

from groundwire.v1 import index_pb2, query_pb2, retrieval_pb2, scope_pb2
from groundwire_index.scope import Scope
from groundwire_server.domain.errors import InvalidRequestError, Reason
from groundwire_server.domain.graph.expansion import Direction
from groundwire_server.domain.search.search import Filter, Rerank
from groundwire_server.domain.texts.texts import PrioritizationMode
from groundwire_server.rpc.conversions.expansion import decode_expand
from groundwire_server.rpc.conversions.indexes import decode_index_scope
from groundwire_server.rpc.conversions.query import decode_query
from groundwire_server.rpc.conversions.search import decode_search
from groundwire_server.rpc.conversions.texts import decode_fetch
from support.conversions import ACCESS, NOW, SCOPE, broken_rules, over_the_wire, refuse_broken


def test_what_is_absent_takes_the_default_of_the_contract() -> None:
    search = decode_search(retrieval_pb2.SearchNodesRequest(scope=SCOPE), ACCESS)
    assert (search.search_type, search.rrf_k, search.rerank, search.filter) == (None, 60, Rerank.NONE, Filter())
    expand = decode_expand(retrieval_pb2.ExpandDependencyTreeRequest(scope=SCOPE), ACCESS)
    assert (expand.max_depth, expand.direction) == (None, Direction.OUTGOING)
    fetch = decode_fetch(retrieval_pb2.FetchNodeTextsRequest(scope=SCOPE), ACCESS)
    assert fetch.mode is PrioritizationMode.BALANCED


def test_zero_is_not_absent() -> None:
    search = decode_search(retrieval_pb2.SearchNodesRequest(scope=SCOPE, rrf_k=0), ACCESS)
    assert search.rrf_k == 0
    expand = decode_expand(retrieval_pb2.ExpandDependencyTreeRequest(scope=SCOPE, max_depth=0), ACCESS)
    assert expand.max_depth == 0


@pytest.mark.parametrize(
    ("decode", "field"),
    [
        (
            lambda: decode_search(
                retrieval_pb2.SearchNodesRequest(scope=SCOPE, search_type=retrieval_pb2.SearchType.ValueType(9)), ACCESS
            ),
            "search_type",
        ),
        (
            lambda: decode_search(
                retrieval_pb2.SearchNodesRequest(scope=SCOPE, rerank=retrieval_pb2.Rerank.ValueType(-1)), ACCESS
            ),
            "rerank",
        ),
        (
            lambda: decode_query(
                query_pb2.QueryRequest(scope=SCOPE, fusion=query_pb2.FusionMode.ValueType(9)), ACCESS, NOW
            ),
            "fusion",
        ),
        (
            lambda: decode_query(
                query_pb2.QueryRequest(scope=SCOPE, lifecycle=scope_pb2.Lifecycle.ValueType(9)), ACCESS, NOW
            ),
            "lifecycle",
        ),
        (
            lambda: decode_search(
                retrieval_pb2.SearchNodesRequest(scope=SCOPE, lifecycle=scope_pb2.Lifecycle.ValueType(9)), ACCESS
            ),
            "lifecycle",
        ),
        (
            lambda: decode_fetch(
                retrieval_pb2.FetchNodeTextsRequest(scope=SCOPE, lifecycle=scope_pb2.Lifecycle.ValueType(9)), ACCESS
            ),
            "lifecycle",
        ),
        (
            lambda: decode_query(
                query_pb2.QueryRequest(
                    scope=SCOPE, retrievers=[retrieval_pb2.RETRIEVER_DENSE, retrieval_pb2.Retriever.ValueType(9)]
                ),
                ACCESS,
                NOW,
            ),
            "retrievers[1]",
        ),
        (
            lambda: decode_expand(
                retrieval_pb2.ExpandDependencyTreeRequest(
                    scope=SCOPE, direction=retrieval_pb2.EdgeDirection.ValueType(9)
                ),
                ACCESS,
            ),
            "direction",
        ),
        (
            lambda: decode_fetch(
                retrieval_pb2.FetchNodeTextsRequest(
                    scope=SCOPE, prioritization_mode=retrieval_pb2.PrioritizationMode.ValueType(9)
                ),
                ACCESS,
            ),
            "prioritization_mode",
        ),
    ],
)
def test_an_unknown_enum_value_is_refused_by_name(decode: Callable[[], object], field: str) -> None:
    with pytest.raises(
        InvalidRequestError, match=r"which this server does not know; give one of [A-Z_0-9]+,"
    ) as caught:
        refuse_broken(decode())
    assert broken_rules(caught.value) == [(field, Reason.VALUE_UNKNOWN)]


@pytest.mark.parametrize(
    "decode",
    [
        lambda: decode_search(retrieval_pb2.SearchNodesRequest(), ACCESS),
        lambda: decode_expand(retrieval_pb2.ExpandDependencyTreeRequest(), ACCESS),
        lambda: decode_fetch(retrieval_pb2.FetchNodeTextsRequest(), ACCESS),
        lambda: decode_query(query_pb2.QueryRequest(), ACCESS, NOW),
        lambda: decode_index_scope(index_pb2.GetIndexRequest()),
        lambda: decode_index_scope(index_pb2.ActivateIndexRequest()),
        lambda: decode_index_scope(index_pb2.DeleteIndexRequest()),
    ],
)
def test_an_absent_scope_is_refused(decode: Callable[[], object]) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        refuse_broken(decode())
    assert broken_rules(caught.value) == [("scope", Reason.FIELD_REQUIRED)]


def test_an_empty_scope_is_left_to_the_engine() -> None:
    message = retrieval_pb2.SearchNodesRequest(scope=scope_pb2.IndexScope())
    assert decode_search(over_the_wire(message), ACCESS).scope == Scope("", "")


def test_every_broken_rule_is_told_at_once() -> None:
    with pytest.raises(InvalidRequestError) as caught:
        refuse_broken(
            decode_search(
                retrieval_pb2.SearchNodesRequest(
                    search_type=retrieval_pb2.SearchType.ValueType(9), rerank=retrieval_pb2.Rerank.ValueType(9)
                ),
                ACCESS,
            )
        )
    assert [violation.field for violation in caught.value.violations] == ["scope", "search_type", "rerank"]
