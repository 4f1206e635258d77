"""A query's result arrives as it was found, and no field of the response is forgotten."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from google.protobuf.descriptor import Descriptor
from google.protobuf.message import Message

from groundwire.v1 import query_pb2, retrieval_pb2, scope_pb2
from groundwire_index.link_template import LinkTemplate
from groundwire_index.nodes.node import JsonValue, Location, Node
from groundwire_index.scope import Scope
from groundwire_server.domain.access.lifecycle import Lifecycle
from groundwire_server.domain.query.query import FusionMode, QueryClass
from groundwire_server.domain.query.query_result import (
    AppliedParameters,
    Match,
    ParentText,
    QueryResult,
    ServiceContext,
    ServiceEdge,
    StageScores,
)
from groundwire_server.domain.query.ranking_parameters import RankingParameters
from groundwire_server.domain.search.search import LeftOut, Retriever
from groundwire_server.domain.texts.texts import SkipReason
from groundwire_server.rpc.conversions.query_result import encode_query
from support.conversions import NOW, over_the_wire
from support.query_meta import META

NODE = Node(
    id="shop::main::slack::C1/5",
    kind="slack",
    local_id="C1/5",
    text="auth-service is throwing 503s",
    token_count=7,
    location=Location("slack/incident.json", 3, 9, "c" * 64, LinkTemplate("https://git.example/{path}")),
    symbol="Incident.Auth",
    signature="()",
    language="json",
    data_type="conversation",
    corpus_type="CONVO_SLACK",
    collection_id="chat",
    case_id="case-7",
    document_id="incident",
    document_version_id="v3",
    chunk_index=4,
    is_latest=True,
    deleted=True,
    service_name="auth-service",
    repo_name="ops",
    section_path="Deploy > Rollback",
    author="ada",
    channel="incident",
    timestamp=datetime(2025, 1, 1, 10, 0, 0, 250_000, tzinfo=UTC),
    source_uri="https://chat.example/C1/5",
    context_prefix="#incident",
    is_test=True,
    is_generated=True,
    metadata={"b": [1, None], "a": {"ü": "ß"}},
)
PARENT = replace(NODE, id="shop::main::slack::C1", local_id="C1", text="the whole thread", symbol="Thread")
SCORES = StageScores(
    dense=0.5,
    bm25_code=1.5,
    bm25_prose=2.5,
    trigram=0.25,
    fused=0.75,
    rerank=0.875,
    freshness=0.125,
    boost=1.3,
    final=0.9,
    file=0.625,
    kind_factor=0.5,
    graph=0.375,
    repeat_factor=0.7,
    length_factor=1.2,
    within_file_factor=0.8,
    older_definition_factor=0.5,
    older_definitions=3,
    best_older_definition=0.45,
    purpose="translation",
    purpose_factor=0.65,
)
MATCH = Match(
    node=NODE,
    text=NODE.text,
    rank=1,
    scores=SCORES,
    parent_ids=(PARENT.id,),
    parents=(ParentText(PARENT, PARENT.text), ParentText(PARENT, SkipReason.OVER_BUDGET)),
)
NEIGHBOR = Match(node=PARENT, text=SkipReason.RESPONSE_LIMIT, rank=0, scores=None, neighbor_of=NODE.id)
CALLS = ServiceEdge("auth-service", "user-service", "CallsService", 3)
SERVICE = ServiceContext("auth-service", ("user-service",), ("web",), (CALLS,))
RESULT = QueryResult((MATCH, NEIGHBOR), (SERVICE,), META, "v1")


def encoded(result: QueryResult = RESULT) -> query_pb2.QueryResponse:
    return over_the_wire(encode_query(result))


def set_fields(message: Message) -> Iterator[str]:
    """The full names of all fields, nested ones too, that are not at their default."""
    for field, value in message.ListFields():
        yield field.full_name
        if field.message_type is not None:
            for nested in value if field.is_repeated else [value]:
                yield from set_fields(nested)


def all_fields(message: Descriptor) -> Iterator[str]:
    for field in message.fields:
        yield field.full_name
        if field.message_type is not None:
            yield from all_fields(field.message_type)


def test_no_field_of_the_response_is_forgotten() -> None:
    scope = Scope("shop", "main", "v1")
    several = replace(RESULT, scopes=(scope,), left_out=(LeftOut(scope, Retriever.DENSE),))
    assert set(set_fields(encoded(several))) == set(all_fields(query_pb2.QueryResponse.DESCRIPTOR))


def test_a_match_tells_its_node() -> None:
    match = encoded().matches[0]
    assert (match.id, match.rank, match.score) == (NODE.id, 1, SCORES.final)
    assert (match.text, match.text_omitted, match.token_count) == (NODE.text, False, 7)
    assert (match.context_prefix, match.source_uri) == ("#incident", "https://chat.example/C1/5")
    place = match.location
    assert Location(place.path, place.start_line, place.end_line, place.content_hash) == NODE.location
    assert (match.kind, match.corpus_type, match.language) == ("slack", "CONVO_SLACK", "json")
    assert (match.symbol, match.signature) == ("Incident.Auth", "()")
    assert (match.service_name, match.repo_name, match.section_path) == ("auth-service", "ops", "Deploy > Rollback")
    assert (match.author, match.channel) == ("ada", "incident")
    assert (match.is_test, match.is_generated) == (True, True)
    assert match.timestamp.ToDatetime(UTC) == NODE.timestamp
    for field in fields(SCORES):
        encoded_name = field.name.replace("bm25_prose", "bm25_prose")
        assert getattr(match.scores, encoded_name) == getattr(SCORES, field.name), field.name


def test_a_match_tells_where_it_belongs() -> None:
    meta = encoded().matches[0].meta
    assert (meta.document_id, meta.document_version_id, meta.chunk_id) == ("incident", "v3", "C1/5")
    assert (meta.collection_id, meta.case_id, meta.is_latest, meta.deleted) == ("chat", "case-7", True, True)
    assert list(meta.parent_ids) == [PARENT.id]
    assert [(parent.id, parent.text, parent.text_omitted) for parent in meta.parents] == [
        (PARENT.id, "the whole thread", False),
        (PARENT.id, "", True),
    ]
    assert (meta.parents[0].symbol, meta.parents[0].location.path) == ("Thread", "slack/incident.json")
    assert (meta.neighbor, meta.neighbor_of) == (False, "")


def test_a_neighbour_has_no_rank_and_no_scores() -> None:
    neighbor = encoded().matches[1]
    assert (neighbor.rank, neighbor.score, neighbor.HasField("scores")) == (0, 0.0, False)
    assert (neighbor.meta.neighbor, neighbor.meta.neighbor_of) == (True, NODE.id)
    assert (neighbor.text, neighbor.text_omitted) == ("", True)


def test_a_stage_that_did_not_score_leaves_no_score() -> None:
    bare = StageScores(None, 0.0, None, None, 0.5, None, None, 1.0, 0.5)
    scores = encoded(replace(RESULT, matches=(replace(MATCH, scores=bare),))).matches[0].scores
    assert {field.name for field, _ in scores.ListFields()} == {
        "bm25_code",
        "fused",
        "boost",
        "final",
        "kind_factor",
        "repeat_factor",
        "length_factor",
        "within_file_factor",
        "older_definition_factor",
        "purpose_factor",
    }
    assert scores.bm25_code == 0.0


def test_an_empty_text_is_not_an_omitted_one() -> None:
    match = encoded(replace(RESULT, matches=(replace(MATCH, text=""),))).matches[0]
    assert (match.text, match.text_omitted) == ("", False)


def test_a_node_without_a_time_has_none() -> None:
    timeless = replace(MATCH, node=replace(NODE, timestamp=None))
    assert not encoded(replace(RESULT, matches=(timeless,))).matches[0].HasField("timestamp")


def test_a_time_of_another_zone_is_the_same_moment() -> None:
    eastern = datetime(2025, 1, 1, 5, tzinfo=timezone(timedelta(hours=-5)))
    match = encoded(replace(RESULT, matches=(replace(MATCH, node=replace(NODE, timestamp=eastern)),))).matches[0]
    assert match.timestamp.ToDatetime(UTC) == datetime(2025, 1, 1, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    ("metadata", "written"),
    [
        (NODE.metadata, '{"a":{"ü":"ß"},"b":[1,null]}'),
        ({"b": 1, "a": {"d": 1, "c": 2}}, '{"a":{"c":2,"d":1},"b":1}'),
        ({}, "{}"),
    ],
)
def test_metadata_is_json_with_sorted_keys(metadata: Mapping[str, JsonValue], written: str) -> None:
    match = encoded(replace(RESULT, matches=(replace(MATCH, node=replace(NODE, metadata=metadata)),))).matches[0]
    assert match.meta.metadata_json == written
    assert json.loads(written) == metadata


PARAMETER_FIELDS = (
    "alpha min_sim max_candidates_effective vec_limit lex_limit trgm_limit diversify_strength rrf_k "
    "freshness_half_life_days freshness_weight"
).split()


def test_the_services_are_told_with_their_edges() -> None:
    (service,) = encoded().service_context
    assert (service.service_name, list(service.calls), list(service.called_by)) == (
        "auth-service",
        ["user-service"],
        ["web"],
    )
    (edge,) = service.edges
    assert (edge.from_service, edge.to_service, edge.edge_type, edge.count) == (
        "auth-service",
        "user-service",
        "CallsService",
        3,
    )


def test_the_meta_tells_how_the_answer_was_made() -> None:
    response = encoded()
    meta = response.meta
    assert meta.routing == query_pb2.Routing(
        profile="support",
        embedder="minilm",
        vector_space_id="f" * 64,
        process="billing",
        doc_class="manual",
        collection_ids=["chat", "wiki"],
        workflow_id="w-1",
    )
    assert meta.took_ms == 1.75
    assert [(use.retriever, use.weight, use.candidates) for use in meta.retrievers] == [
        (retrieval_pb2.RETRIEVER_DENSE, 0.7, 9),
        (retrieval_pb2.RETRIEVER_BM25_CODE, 0.2, 8),
        (retrieval_pb2.RETRIEVER_TRIGRAM, 0.1, 0),
    ]
    assert list(meta.lexical_index_used) == [retrieval_pb2.RETRIEVER_BM25_CODE]
    assert (meta.vector_candidates, meta.lexical_candidates, meta.fused_candidates) == (9, 7, 6)
    assert (meta.matches_returned, meta.deleted_matches_blocked) == (1, 2**40)
    assert (list(meta.boosts), meta.exact, meta.truncated) == (["incident", "procedure"], True, True)
    assert meta.now.ToDatetime(UTC) == NOW
    assert response.index == "v1"


def test_the_meta_tells_the_parameters_in_effect() -> None:
    meta = encoded().meta
    assert (meta.alpha, meta.min_sim, meta.trgm_limit, meta.diversify_strength) == (0.7, 0.15, 0.3, 0.2)
    assert (meta.top_k_effective, meta.vec_limit, meta.lex_limit, meta.max_candidates_effective) == (5, 100, 101, 102)
    assert (meta.rrf_k, meta.freshness_half_life_days, meta.freshness_weight) == (60, 90.0, 0.1)


def test_a_parameter_without_effect_is_absent() -> None:
    meta = replace(META, parameters=AppliedParameters(top_k=5), ranking=RankingParameters())
    message = encoded(replace(RESULT, meta=meta)).meta
    names = {field.name for field, _ in message.ListFields()}
    assert message.top_k_effective == 5
    assert not names & set(PARAMETER_FIELDS)
    assert message.ranking == query_pb2.RankingParameters()
    assert set(PARAMETER_FIELDS) <= {field.name for field, _ in encoded().meta.ListFields()}


def test_without_the_dense_source_there_are_no_vector_candidates() -> None:
    meta = replace(META, weights=((Retriever.TRIGRAM, 1.0),), list_lengths=((Retriever.TRIGRAM, 3),))
    message = encoded(replace(RESULT, meta=meta)).meta
    assert (message.vector_candidates, list(message.lexical_index_used)) == (0, [retrieval_pb2.RETRIEVER_TRIGRAM])


@pytest.mark.parametrize("query_class", QueryClass)
@pytest.mark.parametrize("fusion", FusionMode)
@pytest.mark.parametrize("lifecycle", Lifecycle)
def test_every_enum_value_has_its_number(query_class: QueryClass, fusion: FusionMode, lifecycle: Lifecycle) -> None:
    meta = replace(META, query_class=query_class, fusion=fusion, visibility_effective=lifecycle)
    message = encoded(replace(RESULT, meta=meta)).meta
    assert query_pb2.QueryClass.Name(message.query_class) == f"QUERY_CLASS_{query_class.name}"
    assert query_pb2.FusionMode.Name(message.fusion) == f"FUSION_MODE_{fusion.name}"
    assert scope_pb2.Lifecycle.Name(message.lifecycle_effective) == f"LIFECYCLE_{lifecycle.name}"


def test_every_source_has_its_number() -> None:
    meta = replace(META, weights=tuple((s, 1.0) for s in Retriever), list_lengths=tuple((s, 1) for s in Retriever))
    names = [retrieval_pb2.Retriever.Name(use.retriever) for use in encoded(replace(RESULT, meta=meta)).meta.retrievers]
    assert names == [f"RETRIEVER_{retriever.name.replace('NLP', 'PROSE')}" for retriever in Retriever]


def test_a_response_has_no_map_whose_order_could_change_its_bytes() -> None:
    assert not [name for name in all_fields(query_pb2.QueryResponse.DESCRIPTOR) if name.endswith("Entry.key")]
