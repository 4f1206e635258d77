"""What a match tells, and what stands around it: parents, neighbours and services."""

import hashlib
import json

import pytest

from groundwire.v1.query_pb2 import HybridParameters, QueryMatch, QueryResponse, ServiceContext
from groundwire.v1.retrieval_pb2 import SKIP_REASON_OVER_BUDGET
from groundwire.v1.scope_pb2 import LIFECYCLE_ALL, AccessContext, NodeFilter
from support.platform import BULK, CODE_WORDS, EVERYTHING, MAIN, Platform, keys, match_of, timestamp
from support.platform_corpus import (
    AUDITOR_TAG,
    AUTH,
    BILLING,
    BULK_TEXT_CHARACTERS,
    DOCS,
    FINANCE_TAG,
    INCIDENT,
    OPERATIONS_TAG,
    ORDERS,
)

CHUNK, BEFORE, SECRETS, AFTER = (f"md::runbook/{number}" for number in (2, 1, 3, 4))
OPERATIONS = AccessContext(acl_tags_any=[OPERATIONS_TAG])


def best_match(platform: Platform, query: str, about: list[float], key: str) -> QueryMatch:
    return match_of(platform.ask(query, about, hybrid=EVERYTHING), key)


def test_a_match_of_code_tells_its_symbol_and_place(platform: Platform) -> None:
    match = best_match(platform, "GetUser function", AUTH, "go::auth/GetUser")
    assert match.text == "func GetUser(id string) User { return db.Find(id) }"
    assert (match.symbol, match.signature) == ("GetUser", "func GetUser(id string) User")
    assert (match.kind, match.language, match.corpus_type) == ("go", "go", "CODE_LOGIC")
    assert (match.service_name, match.repo_name) == ("auth-service", "auth")
    location = match.location
    assert (location.path, location.start_line, location.end_line) == ("auth/GetUser.go", 10, 12)
    assert location.content_hash == hashlib.sha256(match.text.encode()).hexdigest()
    assert match.token_count > 5
    assert not match.text_omitted
    assert not match.HasField("timestamp")


def test_a_match_of_a_conversation_tells_who_said_it_where_and_when(platform: Platform) -> None:
    match = best_match(platform, "auth-service 503", INCIDENT, "slack::incident/1")
    assert (match.channel, match.author, match.source_uri) == ("incident", "ada", "https://chat.example/incident/1")
    assert match.timestamp == timestamp("2025-01-01T10:00:00Z")
    assert match.score == match.scores.final


def test_a_match_of_a_document_tells_where_it_belongs(platform: Platform) -> None:
    match = best_match(platform, "rollback", DOCS, CHUNK)
    assert (match.section_path, match.context_prefix) == (
        "Deploy > Rollback Procedure",
        "Runbook: Deploy > Rollback Procedure",
    )
    assert (match.meta.document_id, match.meta.chunk_id) == ("runbook", "runbook/2")
    assert (match.repo_name, match.meta.neighbor, match.meta.is_latest) == ("platform", False, True)
    old = best_match(platform, "vacation", DOCS, "md::handbook@1").meta
    assert (old.document_id, old.document_version_id, old.is_latest) == ("handbook", "v1", False)


def test_what_is_above_a_text_is_searched_with_it(platform: Platform) -> None:
    response = platform.ask("runbook deploy rollback", retrievers=[CODE_WORDS])
    assert keys(response)[0] == CHUNK


def test_a_match_tells_the_rest_of_what_its_source_said(platform: Platform) -> None:
    meta = best_match(platform, "refund policy", BILLING, "md::refund/policy").meta
    assert (meta.collection_id, meta.case_id) == ("policies", "case-7")
    assert meta.metadata_json == (
        '{"doc_class":"manual","draft":null,"level":2,"process":"billing","teams":["ops","care"],'
        '"workflow_id":"w-1","ünï":"ß"}'
    )
    bare = best_match(platform, "refund policy", BILLING, "go::auth/GetUser").meta
    assert json.loads(bare.metadata_json) == {}


def test_the_parents_of_a_match_come_with_it_unless_refused(platform: Platform) -> None:
    named = match_of(platform.ask("kubectl rollback", DOCS, include_parents=False), CHUNK).meta
    assert list(named.parent_ids) == ["platform::main::md::readme", "platform::main::md::runbook"]
    assert not named.parents
    meta = match_of(platform.ask("kubectl rollback", DOCS), CHUNK).meta
    assert meta == match_of(platform.ask("kubectl rollback", DOCS, include_parents=True), CHUNK).meta
    assert [parent.id for parent in meta.parents] == list(meta.parent_ids) == list(named.parent_ids)
    runbook = meta.parents[1]
    assert (runbook.text, runbook.symbol, runbook.text_omitted) == ("The runbook of the platform.", "Runbook", False)
    assert (runbook.location.path, len(runbook.location.content_hash)) == ("docs/runbook.md", 64)
    assert not best_match(platform, "GetUser", AUTH, "go::auth/GetUser").meta.parent_ids


def test_a_budget_packs_texts_of_matches_then_of_parents_then_of_neighbours(platform: Platform) -> None:
    fields = {"retrievers": [CODE_WORDS], "top_k": 1, "include_parents": True, "include_neighbors": True}
    free = platform.ask("kubectl rollback", **fields)
    chunk, *beside = free.matches
    parents = chunk.meta.parents
    tokens = chunk.token_count + parents[1].token_count
    assert free.meta.used_tokens == sum(
        [chunk.token_count, *(parent.token_count for parent in parents), *(match.token_count for match in beside)]
    )
    tight = platform.ask("kubectl rollback", budget_tokens=tokens, **fields)
    assert tight.meta.used_tokens <= tokens
    assert tight.matches[0].text == chunk.text
    assert [parent.text_omitted for parent in tight.matches[0].meta.parents].count(True) >= 1
    for text, omitted, reason in (
        *((match.text, match.text_omitted, match.omit_reason) for match in tight.matches),
        *((parent.text, parent.text_omitted, parent.omit_reason) for parent in tight.matches[0].meta.parents),
    ):
        assert (not text, reason == SKIP_REASON_OVER_BUDGET) == (omitted, omitted)
    least = platform.ask("kubectl rollback", budget_tokens=1, **fields)
    assert (least.meta.used_tokens, least.meta.truncated, keys(least)) == (0, False, keys(free))


def neighbors_of_chunk(platform: Platform, **fields: object) -> list[QueryMatch]:
    response = platform.ask("kubectl rollback", retrievers=[CODE_WORDS], include_neighbors=True, top_k=1, **fields)
    assert keys(response) == [CHUNK]
    assert response.meta.matches_returned == 1
    return list(response.matches[1:])


def test_the_chunks_beside_a_match_follow_the_matches(platform: Platform) -> None:
    before, after = neighbors_of_chunk(platform)
    assert [before.id, after.id] == [f"platform::main::{key}" for key in (BEFORE, AFTER)]
    for neighbor in (before, after):
        assert (neighbor.meta.neighbor, neighbor.meta.neighbor_of) == (True, f"platform::main::{CHUNK}")
        assert (neighbor.rank, neighbor.score, neighbor.HasField("scores")) == (0, 0.0, False)
    assert before.text == "## Before\nTell the channel."
    assert list(before.meta.parent_ids) == ["platform::main::md::runbook"]
    assert [parent.text for parent in before.meta.parents] == ["The runbook of the platform."]


def test_a_neighbour_comes_without_its_parents_where_they_are_refused(platform: Platform) -> None:
    before, _ = neighbors_of_chunk(platform, include_parents=False)
    assert list(before.meta.parent_ids) == ["platform::main::md::runbook"]
    assert not before.meta.parents


def test_a_hidden_chunk_is_no_neighbour(platform: Platform) -> None:
    _, after = neighbors_of_chunk(platform, access=OPERATIONS)
    assert after.id == f"platform::main::{SECRETS}"


def test_neighbours_are_there_on_request_and_never_twice(platform: Platform) -> None:
    without = platform.ask("kubectl rollback", DOCS, retrievers=[CODE_WORDS], query_vector=None)
    assert not [match for match in without.matches if match.meta.neighbor]
    hybrid = HybridParameters(top_k=10, min_sim=0)
    response = platform.ask("rollback", DOCS, hybrid=hybrid, filter=NodeFilter(document_ids=["runbook"]),
                            include_neighbors=True)  # fmt: skip
    assert sorted(match.id for match in response.matches) == sorted({match.id for match in response.matches})
    assert not [match for match in response.matches if match.meta.neighbor]


def services(response: QueryResponse) -> dict[str, ServiceContext]:
    return {service.service_name: service for service in response.service_context}


def edges(service: ServiceContext) -> list[tuple[str, str, str, int]]:
    return [(edge.from_service, edge.to_service, edge.edge_type, edge.count) for edge in service.edges]


def test_the_services_around_the_matches_are_told_on_request(platform: Platform) -> None:
    assert not platform.ask("CreateOrder", ORDERS).service_context
    response = platform.ask("CreateOrder", ORDERS, hybrid=EVERYTHING, expand_graph=True)
    around = services(response)
    assert list(around) == ["auth-service", "order-service", "payment-service", "user-service"]
    order = around["order-service"]
    assert (list(order.calls), list(order.called_by)) == (["auth-service", "payment-service"], [])
    assert edges(order) == [
        ("order-service", "auth-service", "Reads", 1),
        ("order-service", "payment-service", "CallsService", 2),
    ]
    auth = around["auth-service"]
    assert (list(auth.calls), list(auth.called_by)) == (["user-service"], ["order-service"])


def test_only_the_services_of_the_matches_are_told(platform: Platform) -> None:
    response = platform.ask("PostEntry", retrievers=[CODE_WORDS], filter=NodeFilter(service_names=["user-service"]),
                            expand_graph=True)  # fmt: skip
    assert not response.service_context
    response = platform.ask("LoadProfile", retrievers=[CODE_WORDS], top_k=1, expand_graph=True)
    assert list(services(response)) == ["user-service"]
    assert list(services(response)["user-service"].called_by) == ["auth-service"]


def test_what_stands_around_a_match_passes_the_filter_too(platform: Platform) -> None:
    """The readme has no path, the chunk after is generated, the payment service stands elsewhere."""
    of_runbook = NodeFilter(path_prefixes=["docs/"], data_types=["doc"])
    match = match_of(platform.ask("kubectl rollback", DOCS, filter=of_runbook, include_parents=True), CHUNK)
    assert list(match.meta.parent_ids) == ["platform::main::md::runbook"]
    assert [parent.id for parent in match.meta.parents] == ["platform::main::md::runbook"]
    (before,) = neighbors_of_chunk(platform, filter=NodeFilter(is_generated=False))
    assert before.id == f"platform::main::{BEFORE}"
    in_two = NodeFilter(path_prefixes=["auth/", "order/"])
    order = services(platform.ask("CreateOrder", ORDERS, hybrid=EVERYTHING, filter=in_two, expand_graph=True))[
        "order-service"
    ]
    assert edges(order) == [("order-service", "auth-service", "Reads", 1)]


def test_services_are_told_under_the_callers_access(platform: Platform) -> None:
    finance = AccessContext(acl_tags_any=[FINANCE_TAG])
    order = services(platform.ask("CreateOrder", ORDERS, expand_graph=True, access=finance))["order-service"]
    assert list(order.called_by) == ["ledger-service"]
    auditor = AccessContext(acl_tags_any=[AUDITOR_TAG])
    everything = {"hybrid": EVERYTHING, "expand_graph": True, "access": auditor}
    active = services(platform.ask("ChargeCard", BILLING, **everything))["payment-service"]
    assert list(active.called_by) == ["order-service"]
    whole = services(platform.ask("ChargeCard", BILLING, lifecycle=LIFECYCLE_ALL, **everything))["payment-service"]
    assert list(whole.called_by) == ["auth-service", "order-service"]


def test_no_match_is_an_empty_answer(platform: Platform) -> None:
    response = platform.ask("zebra", retrievers=[CODE_WORDS])
    assert not response.matches
    assert (response.meta.matches_returned, response.meta.fused_candidates, response.index) == (0, 0, "v1")


def test_an_error_instead_of_an_empty_answer_is_for_empty_answers_alone(platform: Platform) -> None:
    assert keys(platform.ask("GetUser", AUTH, not_found_when_empty=True))


def test_texts_that_a_response_has_no_room_for_are_left_out_and_said_to_be(platform: Platform) -> None:
    response = platform.ask("bulk", scope=BULK, include_parents=True)
    assert response.ByteSize() < 4 * 1024 * 1024
    assert [(len(match.text), match.text_omitted) for match in response.matches] == [
        (BULK_TEXT_CHARACTERS, False),
        (BULK_TEXT_CHARACTERS, False),
        (0, True),
    ]
    assert [len(match.location.content_hash) for match in response.matches] == [64, 64, 64]
    parents = [parent for match in response.matches for parent in match.meta.parents]
    assert [(parent.id, parent.text, parent.text_omitted) for parent in parents] == [
        ("platform::bulk::md::bulk", "", True)
    ] * 3
    assert not response.meta.truncated


def test_what_a_response_tells_of_the_request_takes_of_its_room(platform: Platform) -> None:
    """The longest collections that a filter may name would take a quarter of the response in `meta.routing`."""
    longest = [f"{number:04}".ljust(1_024, "\U0001f600") for number in range(255)]
    response = platform.ask("bulk", scope=BULK, filter=NodeFilter(collection_ids=["bulk", *longest]))
    assert list(response.meta.routing.collection_ids) == ["bulk", *longest]
    assert response.ByteSize() < 4 * 1024 * 1024
    assert [match.text_omitted for match in response.matches] == [False, True, True]


@pytest.mark.parametrize("version", ["", "v1"])
def test_a_version_can_be_pinned(platform: Platform, version: str) -> None:
    scope = type(MAIN)(repository="platform", branch="main", active_index=version)
    assert platform.ask("GetUser", AUTH, scope=scope).index == "v1"
