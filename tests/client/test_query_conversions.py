"""Queries against the proto's descriptors: a field that the client forgets fails here."""

from datetime import UTC, datetime, timedelta, timezone
from enum import StrEnum
from typing import Any

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from groundwire.v1 import query_pb2, scope_pb2
from groundwire_client import (
    Access,
    Filter,
    FusionMode,
    HybridParameters,
    InternalError,
    QueryClass,
    RankingParameters,
    Scope,
    Source,
    Visibility,
)
from groundwire_client._query_request import query_request
from groundwire_client._query_result import query_result
from support.messages import all_fields, assert_same, fill, set_fields, short_names

SCOPE = Scope("shop", "main", "v1")
DEFAULTS: dict[str, Any] = {
    "hybrid": HybridParameters(),
    "top_k": None,
    "filter": None,
    "visibility": Visibility.ACTIVE,
    "process": "",
    "doc_class": "",
    "workflow_id": "",
    "sources": (),
    "fusion": None,
    "rrf_k": None,
    "rerank": False,
    "ranking": RankingParameters(),
    "freshness_half_life_days": None,
    "freshness_weight": None,
    "now": None,
    "include_parents": True,
    "include_neighbors": False,
    "expand_graph": False,
    "not_found_when_empty": False,
    "query_vector": (),
    "budget_tokens": None,
}


def requested(access: Access | None = None, **arguments: Any) -> query_pb2.QueryRequest:
    return query_request(SCOPE, access, "vat", **{**DEFAULTS, **arguments})


def answered(**match: Any) -> query_pb2.QueryResponse:
    return query_pb2.QueryResponse(matches=[query_pb2.QueryMatch(id="a", **match)])


@pytest.mark.parametrize("seed", range(6))
def test_a_result_holds_every_field_of_its_response(seed: int) -> None:
    response = query_pb2.QueryResponse()
    fill(response, seed)
    assert_same(query_result(response), response)


@pytest.mark.parametrize("ours", [Source, FusionMode, Visibility, QueryClass])
def test_enums_have_the_values_of_the_contract(ours: type[StrEnum]) -> None:
    contract = scope_pb2 if ours is Visibility else query_pb2
    names = set(short_names(contract.DESCRIPTOR.enum_types_by_name[ours.__name__]).values())
    assert {member.name for member in ours} - {"UNKNOWN"} == names - {"UNSPECIFIED"}


@pytest.mark.parametrize(
    ("name", "choices"),
    [("sources", Source), ("fusion", FusionMode), ("visibility", Visibility)],
)
def test_each_choice_is_sent_by_its_name(name: str, choices: type[StrEnum]) -> None:
    numbers = short_names(query_pb2.QueryRequest.DESCRIPTOR.fields_by_name[name].enum_type)
    for choice in choices:
        arguments: dict[str, Any] = {name: (choice,) if name == "sources" else choice}
        sent = getattr(requested(**arguments), name)
        assert numbers[sent[0] if name == "sources" else sent] == choice.name


def test_a_request_carries_every_argument() -> None:
    hybrid = HybridParameters(0.5, 0.25, 7, 200, 300, 0.75, 400, 0.125)
    request = requested(
        Access("acme"),
        hybrid=hybrid,
        top_k=9,
        filter=Filter(kinds=("cs",)),
        visibility=Visibility.ALL,
        process="review",
        doc_class="contract",
        workflow_id="w1",
        sources=(Source.TRIGRAM, Source.DENSE),
        fusion=FusionMode.RRF,
        rrf_k=11,
        rerank=True,
        ranking=RankingParameters(0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.0),
        freshness_half_life_days=30.5,
        freshness_weight=0.0,
        now=datetime(2025, 1, 1, 12, tzinfo=timezone(timedelta(hours=2))),
        include_parents=True,
        include_neighbors=True,
        expand_graph=True,
        not_found_when_empty=True,
        query_vector=(0.5, -0.25),
        budget_tokens=500,
    )
    assert request == query_pb2.QueryRequest(
        scope=scope_pb2.Scope(repository="shop", branch="main", active_index="v1"),
        access=scope_pb2.AccessContext(tenant_id="acme"),
        query="vat",
        filter=scope_pb2.Filter(kinds=["cs"]),
        hybrid=query_pb2.HybridParameters(
            alpha=0.5,
            min_sim=0.25,
            top_k=7,
            vec_limit=200,
            lex_limit=300,
            trgm_limit=0.75,
            max_candidates=400,
            diversify_strength=0.125,
        ),
        top_k=9,
        visibility=scope_pb2.VISIBILITY_ALL,
        process="review",
        doc_class="contract",
        workflow_id="w1",
        sources=[query_pb2.SOURCE_TRIGRAM, query_pb2.SOURCE_DENSE],
        fusion=query_pb2.FUSION_MODE_RRF,
        rrf_k=11,
        rerank=True,
        ranking=query_pb2.RankingParameters(
            file_weight=0.1,
            test_factor=0.2,
            generated_factor=0.3,
            prose_factor=0.4,
            fragment_factor=0.5,
            graph_weight=0.6,
            repeat_factor=0.0,
        ),
        freshness_half_life_days=30.5,
        freshness_weight=0.0,
        now=Timestamp(seconds=1735725600),
        include_parents=True,
        include_neighbors=True,
        expand_graph=True,
        not_found_when_empty=True,
        query_vector=[0.5, -0.25],
        budget_tokens=500,
    )
    assert set_fields(request) == all_fields(request)
    assert set_fields(request.hybrid) == all_fields(request.hybrid)


def test_what_takes_every_default_is_left_off() -> None:
    request = requested()
    assert set_fields(request) == {"scope", "query", "visibility", "include_parents"}
    assert request.include_parents
    assert requested(include_parents=False).HasField("include_parents")


def test_zeros_are_not_left_off() -> None:
    request = requested(hybrid=HybridParameters(alpha=0.0, min_sim=0.0), freshness_weight=0.0)
    assert set_fields(request.hybrid) == {"alpha", "min_sim"}
    assert request.HasField("freshness_weight")


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="now: 2025-01-01T00:00:00 has no time zone"):
        requested(now=datetime(2025, 1, 1))


def test_one_source_in_place_of_a_list_is_refused() -> None:
    with pytest.raises(TypeError, match="sources"):
        requested(sources=Source.DENSE)


def test_scores_that_a_stage_did_not_give_are_none() -> None:
    (match,) = query_result(answered(scores=query_pb2.StageScores(fused=0.5, boost=1, final=0.5))).matches
    assert match.scores is not None
    given = (match.scores.fused, match.scores.boost, match.scores.final)
    assert given == (0.5, 1, 0.5)
    absent = ("dense", "bm25_code", "bm25_nlp", "trigram", "rerank", "freshness")
    assert [getattr(match.scores, name) for name in absent] == [None] * 6


def test_a_score_of_zero_is_a_score() -> None:
    (match,) = query_result(answered(scores=query_pb2.StageScores(dense=0, bm25_code=0))).matches
    assert match.scores is not None
    assert (match.scores.dense, match.scores.bm25_code, match.scores.bm25_nlp) == (0, 0, None)


def test_a_neighbour_has_no_scores_and_what_is_undated_no_time() -> None:
    (match,) = query_result(answered(meta=query_pb2.MatchMeta(neighbor=True))).matches
    assert (match.scores, match.timestamp) == (None, None)


def test_the_ids_of_a_result_are_those_of_its_matches() -> None:
    response = query_pb2.QueryResponse(
        matches=[
            query_pb2.QueryMatch(id="b", rank=1),
            query_pb2.QueryMatch(id="a", rank=2),
            query_pb2.QueryMatch(id="c", meta=query_pb2.MatchMeta(neighbor=True)),
        ]
    )
    assert query_result(response).ids == ("b", "a")


def test_metadata_come_as_a_mapping() -> None:
    encoded = '{"authors":["Ann",null],"open":true,"page":{"number":3}}'
    (match,) = query_result(answered(meta=query_pb2.MatchMeta(metadata_json=encoded))).matches
    assert match.meta.metadata == {"authors": ["Ann", None], "open": True, "page": {"number": 3}}
    assert query_result(answered()).matches[0].meta.metadata == {}


@pytest.mark.parametrize("encoded", ["{", "[1]", "null", "{1: 2}"])
def test_metadata_that_are_no_object_are_a_defect_of_the_server(encoded: str) -> None:
    with pytest.raises(InternalError, match="metadata_json that is no JSON object"):
        query_result(answered(meta=query_pb2.MatchMeta(metadata_json=encoded)))


def test_enum_values_of_a_newer_server_do_no_harm() -> None:
    # meta: query_class 99, fusion 98, sources[0].source 97, visibility_effective 96, lexical_index_used [95], as raw
    # fields: the stubs admit no number without a name.
    meta = b"\x20\x63" + b"\x28\x62" + b"\x32\x02\x08\x61" + b"\xa8\x01\x60" + b"\xb2\x01\x01\x5f"
    response = query_pb2.QueryResponse.FromString(b"\x1a" + bytes([len(meta)]) + meta)
    told = query_result(response).meta
    assert told.query_class is QueryClass.UNKNOWN
    assert (told.fusion, told.visibility_effective) == (None, None)
    assert [use.source for use in told.sources] == [None]
    assert told.lexical_index_used == (None,)


def test_parameters_that_had_no_effect_are_none() -> None:
    told = query_result(query_pb2.QueryResponse()).meta
    absent = "alpha min_sim max_candidates_effective vec_limit lex_limit trgm_limit diversify_strength rrf_k".split()
    assert [getattr(told, name) for name in absent] == [None] * 8
    assert (told.freshness_half_life_days, told.freshness_weight) == (None, None)
    assert told.ranking == RankingParameters()


def test_times_are_in_utc() -> None:
    response = answered(timestamp=Timestamp(seconds=86_400))
    response.meta.now.seconds = 172_800
    result = query_result(response)
    assert result.matches[0].timestamp == datetime(1970, 1, 2, tzinfo=UTC)
    assert result.meta.now == datetime(1970, 1, 3, tzinfo=UTC)
