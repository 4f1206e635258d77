"""A query arrives as it was asked; what is absent takes its default and zero is not absent."""

from dataclasses import fields
from datetime import UTC, datetime

import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from hypothesis import given
from hypothesis import strategies as st

from groundwire.v1 import query_pb2, retrieval_pb2, scope_pb2
from groundwire_server.domain.access.lifecycle import Lifecycle
from groundwire_server.domain.errors import InvalidRequestError, Reason
from groundwire_server.domain.query.query import FusionMode, HybridParameters, QueryRequest
from groundwire_server.domain.search.search import Filter, Retriever
from groundwire_server.rpc.conversions.query import decode_query
from support.conversions import (
    ACCESS,
    NOW,
    SCOPE,
    broken_rules,
    float32,
    int32,
    names,
    over_the_wire,
    refuse_broken,
    scope_message,
    scopes,
)

doubles = st.floats(allow_nan=False)
optional_int32 = st.none() | int32
optional_double = st.none() | doubles
moments = st.datetimes(timezones=st.just(UTC))
hybrids = st.builds(
    HybridParameters,
    alpha=optional_double,
    min_sim=optional_double,
    top_k=optional_int32,
    vec_limit=optional_int32,
    lex_limit=optional_int32,
    trgm_limit=optional_double,
    max_candidates=optional_int32,
    diversify_strength=optional_double,
)


def timestamp(moment: datetime) -> Timestamp:
    message = Timestamp()
    message.FromDatetime(moment)
    return message


def hybrid_message(hybrid: HybridParameters) -> query_pb2.HybridParameters:
    return query_pb2.HybridParameters(**{field.name: getattr(hybrid, field.name) for field in fields(hybrid)})


@given(
    st.builds(
        QueryRequest,
        scope=scopes,
        access=st.just(ACCESS),
        query=names,
        hybrid=hybrids,
        now=moments,
        top_k=optional_int32,
        lifecycle=st.sampled_from(Lifecycle),
        process=names,
        doc_class=names,
        workflow_id=names,
        retrievers=st.lists(st.sampled_from(Retriever), max_size=4).map(tuple),
        fusion=st.none() | st.sampled_from(FusionMode),
        rrf_k=int32,
        rerank=st.booleans(),
        freshness_half_life_days=optional_double,
        freshness_weight=optional_double,
        query_vector=st.lists(float32, max_size=4).map(tuple),
        include_parents=st.booleans(),
        include_neighbors=st.booleans(),
        expand_graph=st.booleans(),
        not_found_when_empty=st.booleans(),
        budget_tokens=int32,
    )
)
def test_a_query_arrives_as_it_was_asked(request: QueryRequest) -> None:
    message = query_pb2.QueryRequest(
        scope=scope_message(request.scope),
        query=request.query,
        hybrid=hybrid_message(request.hybrid),
        top_k=request.top_k,
        lifecycle=scope_pb2.Lifecycle.Value(f"LIFECYCLE_{request.lifecycle.name}"),
        process=request.process,
        doc_class=request.doc_class,
        workflow_id=request.workflow_id,
        retrievers=[
            retrieval_pb2.Retriever.Value(f"RETRIEVER_{retriever.name.replace('NLP', 'PROSE')}")
            for retriever in request.retrievers
        ],
        fusion=query_pb2.FusionMode.Value(f"FUSION_MODE_{request.fusion.name if request.fusion else 'UNSPECIFIED'}"),
        rrf_k=request.rrf_k,
        rerank=request.rerank,
        freshness_half_life_days=request.freshness_half_life_days,
        freshness_weight=request.freshness_weight,
        now=timestamp(request.now),
        include_parents=request.include_parents,
        include_neighbors=request.include_neighbors,
        expand_graph=request.expand_graph,
        not_found_when_empty=request.not_found_when_empty,
        query_vector=request.query_vector,
        budget_tokens=request.budget_tokens,
    )
    assert decode_query(over_the_wire(message), ACCESS, NOW) == request


def test_what_is_absent_takes_the_default_of_the_contract() -> None:
    decoded = decode_query(query_pb2.QueryRequest(scope=SCOPE), ACCESS, NOW)
    assert decoded == QueryRequest(decoded.scope, ACCESS, "", NOW, HybridParameters(), filter=Filter())
    assert (decoded.rrf_k, decoded.freshness_half_life_days, decoded.freshness_weight) == (60, None, None)
    assert (decoded.fusion, decoded.lifecycle) == (None, Lifecycle.ACTIVE)
    assert decoded.include_parents


def test_an_empty_message_of_parameters_is_an_absent_one() -> None:
    message = query_pb2.QueryRequest(scope=SCOPE, hybrid=query_pb2.HybridParameters())
    absent = decode_query(over_the_wire(query_pb2.QueryRequest(scope=SCOPE)), ACCESS, NOW)
    assert decode_query(over_the_wire(message), ACCESS, NOW) == absent


def test_zero_is_not_absent() -> None:
    hybrid = HybridParameters(0.0, 0.0, 0, 0, 0, 0.0, 0, 0.0)
    message = query_pb2.QueryRequest(
        scope=SCOPE, hybrid=hybrid_message(hybrid), top_k=0, rrf_k=0, freshness_half_life_days=0, freshness_weight=0
    )
    decoded = decode_query(over_the_wire(message), ACCESS, NOW)
    assert (decoded.hybrid, decoded.top_k, decoded.rrf_k) == (hybrid, 0, 0)
    assert (decoded.freshness_half_life_days, decoded.freshness_weight) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("sources", "broken"),
    [
        (
            [retrieval_pb2.RETRIEVER_DENSE, retrieval_pb2.RETRIEVER_UNSPECIFIED],
            [("retrievers[1]", Reason.FIELD_REQUIRED)],
        ),
        ([retrieval_pb2.RETRIEVER_DENSE] * 5, [("retrievers", Reason.VALUE_OUT_OF_RANGE)]),
        (
            [retrieval_pb2.RETRIEVER_UNSPECIFIED, retrieval_pb2.Retriever.ValueType(-1)],
            [("retrievers[0]", Reason.FIELD_REQUIRED), ("retrievers[1]", Reason.VALUE_UNKNOWN)],
        ),
    ],
    ids=["unspecified", "too many", "two at once"],
)
def test_what_is_no_source_is_refused_by_its_place(
    sources: list[retrieval_pb2.Retriever.ValueType], broken: list[tuple[str, Reason]]
) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        refuse_broken(decode_query(over_the_wire(query_pb2.QueryRequest(scope=SCOPE, retrievers=sources)), ACCESS, NOW))
    assert broken_rules(caught.value) == broken


@pytest.mark.parametrize(
    ("message", "moment"),
    [
        (Timestamp(), datetime(1970, 1, 1, tzinfo=UTC)),
        (Timestamp(seconds=-1, nanos=999_999_999), datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)),
        (Timestamp(seconds=-62_135_596_800), datetime(1, 1, 1, tzinfo=UTC)),
        (Timestamp(seconds=253_402_300_799, nanos=999_999_999), datetime.max.replace(tzinfo=UTC)),
    ],
)
def test_a_time_is_cut_to_microseconds(message: Timestamp, moment: datetime) -> None:
    assert decode_query(query_pb2.QueryRequest(scope=SCOPE, now=message), ACCESS, NOW).now == moment


@pytest.mark.parametrize(
    "message",
    [
        Timestamp(seconds=-62_135_596_801),
        Timestamp(seconds=253_402_300_800),
        Timestamp(seconds=2**63 - 1),
        Timestamp(nanos=-1),
        Timestamp(nanos=1_000_000_000),
        Timestamp(seconds=253_402_300_799, nanos=2**31 - 1),
    ],
    ids=str,
)
def test_a_time_that_is_none_is_refused(message: Timestamp) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        refuse_broken(decode_query(over_the_wire(query_pb2.QueryRequest(scope=SCOPE, now=message)), ACCESS, NOW))
    assert broken_rules(caught.value) == [("now", Reason.VALUE_MALFORMED)]


def test_every_broken_rule_is_told_at_once() -> None:
    with pytest.raises(InvalidRequestError) as caught:
        refuse_broken(
            decode_query(
                query_pb2.QueryRequest(
                    lifecycle=scope_pb2.Lifecycle.ValueType(9),
                    retrievers=[retrieval_pb2.RETRIEVER_UNSPECIFIED],
                    fusion=query_pb2.FusionMode.ValueType(9),
                    now=Timestamp(nanos=-1),
                ),
                ACCESS,
                NOW,
            )
        )
    assert {field for field, _ in broken_rules(caught.value)} == {
        "scope",
        "lifecycle",
        "retrievers[0]",
        "fusion",
        "now",
    }
