"""Filters and lifecycle of a query: what each keeps, and who may see deleted nodes."""

import json

import pytest

from groundwire.v1.query_pb2 import HybridParameters
from groundwire.v1.scope_pb2 import (
    LIFECYCLE_ACTIVE,
    LIFECYCLE_ALL,
    LIFECYCLE_DELETED,
    LIFECYCLE_UNSPECIFIED,
    AccessContext,
    NodeFilter,
)
from support.platform import DENSE, EVERYTHING, Platform, keys, match_of
from support.platform_corpus import AUDITOR_TAG, AUTH, BILLING, DEPLOY, FINANCE_TAG, PLATFORM, TENANT

POLICY, FORM, WITHDRAWN, SECRET = "md::refund/policy", "md::refund/form", "md::refund/withdrawn", "md::refund/secret"
LEGACY = "go::auth/GetUserLegacy"
AUDITOR = AccessContext(acl_tags_any=[AUDITOR_TAG])
AUDITOR_OF_FINANCE = AccessContext(acl_tags_any=[AUDITOR_TAG, FINANCE_TAG])


def nodes_with(**values: object) -> set[str]:
    """The keys of the active public nodes of the corpus that have these values."""
    return {
        f"{record['kind']}::{record['local_id']}"
        for record in PLATFORM
        if record["type"] == "node" and not record["acl_tags"] and not record["tenant_id"]
        if not record.get("deleted") and all(record.get(name) == value for name, value in values.items())
    }  # fmt: skip


def everything(platform: Platform, **fields: object) -> set[str]:
    """What a query finds that everything matches."""
    return set(keys(platform.ask("refund", [1.0] * 6, hybrid=EVERYTHING, **fields)))


def kept(platform: Platform, metadata: dict[str, object] | None = None, **fields: object) -> set[str]:
    """What a filter leaves."""
    filter_ = NodeFilter(**fields)
    if metadata:
        filter_.metadata.update(metadata)
    return everything(platform, filter=filter_)


def test_without_a_filter_everything_matches(platform: Platform) -> None:
    assert everything(platform) == nodes_with()


@pytest.mark.parametrize(
    ("field", "value", "same"),
    [
        ("corpus_types", "CODE_LOGIC", {"corpus_type": "CODE_LOGIC"}),
        ("corpus_types", "CONVO_SLACK", {"corpus_type": "CONVO_SLACK"}),
        ("service_names", "auth-service", {"service_name": "auth-service"}),
        ("repo_names", "order", {"repo_name": "order"}),
        ("kinds", "yaml", {"kind": "yaml"}),
        ("data_types", "deploy", {"data_type": "deploy"}),
        ("languages", "go", {"language": "go"}),
        ("collection_ids", "policies", {"collection_id": "policies"}),
        ("case_ids", "case-7", {"case_id": "case-7"}),
        ("document_ids", "runbook", {"document_id": "runbook"}),
        ("document_version_ids", "v1", {"document_version_id": "v1"}),
    ],
)
def test_a_field_keeps_the_nodes_that_have_its_value(
    platform: Platform, field: str, value: str, same: dict[str, object]
) -> None:
    expected = nodes_with(**same)
    assert expected
    assert kept(platform, **{field: [value]}) == expected
    assert kept(platform, **{field: [value, "none such"]}) == expected
    assert kept(platform, **{field: [value.upper() + "x"]}) == set()


def test_a_repository_is_the_scopes_unless_the_source_says_otherwise(platform: Platform) -> None:
    assert kept(platform, repo_names=["platform"]) == nodes_with(repo_name=None)


def test_the_tenants_nodes_pass_for_that_tenant(platform: Platform) -> None:
    acme = AccessContext(tenant_id=TENANT)
    assert everything(platform, filter=NodeFilter(tenant_ids=[TENANT]), access=acme) == {"go::acme/AcmeOrder"}
    assert kept(platform, tenant_ids=[TENANT]) == set()


def test_a_path_is_kept_by_its_beginning(platform: Platform) -> None:
    assert kept(platform, path_prefixes=["deploy/", "payment"]) == {
        "yaml::auth-service", "yaml::order-service", "go::payment/ChargeCard",
    }  # fmt: skip


def test_values_are_alternatives_and_fields_must_all_hold(platform: Platform) -> None:
    assert kept(platform, collection_ids=["policies", "forms"]) == {POLICY, FORM}
    assert kept(platform, collection_ids=["policies", "forms"], case_ids=["case-8"]) == {FORM}
    assert kept(platform, collection_ids=["policies"], case_ids=["case-8"]) == set()


def test_what_is_generated_is_kept_or_all_else(platform: Platform) -> None:
    assert kept(platform, is_generated=True) == {"md::runbook/4"}
    assert kept(platform, is_generated=False) == nodes_with() - {"md::runbook/4"}
    assert kept(platform, is_test=True) == set()
    assert kept(platform, is_test=False) == nodes_with()


def test_the_latest_versions_are_kept_or_the_others(platform: Platform) -> None:
    assert kept(platform, is_latest=False) == {"md::handbook@1"}
    assert kept(platform, is_latest=True) == nodes_with() - {"md::handbook@1"}
    assert kept(platform, document_ids=["handbook"]) == {"md::handbook@1", "md::handbook@2"}


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ({"process": "billing"}, {POLICY}),
        ({"process": ["billing", "help"]}, {POLICY, FORM}),
        ({"process": "billing", "doc_class": "form"}, set()),
        ({"level": 2}, {POLICY}),
        ({"level": "2"}, set()),
        ({"level": True}, set()),
        ({"teams": "care"}, {POLICY, FORM}),
        ({"teams": "ops"}, {POLICY}),
        ({"teams": ["ops", "none such"]}, {POLICY}),
        ({"draft": None}, {POLICY}),
        ({"draft": False}, set()),
        ({"ünï": "ß"}, {POLICY}),
        ({"none such": "billing"}, set()),
    ],
    ids=lambda value: json.dumps(value) if isinstance(value, dict) else str(len(value)),  # sets print in any order
)
def test_metadata_keeps_the_nodes_that_have_its_values(
    platform: Platform, metadata: dict[str, object], expected: set[str]
) -> None:
    assert kept(platform, metadata) == expected


@pytest.mark.parametrize(("field", "value"), [("process", "help"), ("doc_class", "manual"), ("workflow_id", "w-2")])
def test_what_a_query_is_routed_by_narrows_nothing(platform: Platform, field: str, value: str) -> None:
    assert everything(platform, **{field: value}) == nodes_with()
    assert everything(platform, **{field: "none such"}) == nodes_with()


def test_a_filter_is_not_emptied_by_the_least_similarity_by_default(platform: Platform) -> None:
    """Nothing of the collections resembles the question; with a filter, the nearest is what was asked for."""
    fields = {"retrievers": [DENSE], "filter": NodeFilter(collection_ids=["policies", "forms"])}
    response = platform.ask("?", AUTH, **fields)
    assert set(keys(response)) == {POLICY, FORM}
    assert [match.scores.dense for match in response.matches] == [0.0, 0.0]
    assert not response.meta.HasField("min_sim")
    for min_sim in (0.15, 0.01):
        strict = platform.ask("?", AUTH, hybrid=HybridParameters(min_sim=min_sim), **fields)
        assert (keys(strict), strict.meta.min_sim) == ([], min_sim)
    assert platform.ask("?", AUTH, retrievers=[DENSE]).meta.min_sim == 0.15


def test_what_a_filter_leaves_is_the_same_whatever_the_caller_may_not_see(platform: Platform) -> None:
    fields = {
        "retrievers": [DENSE],
        "filter": NodeFilter(service_names=["ledger-service", "acme-service", "user-service"]),
    }
    assert keys(platform.ask("?", DEPLOY, **fields)) == ["go::user/LoadProfile"]


@pytest.mark.parametrize("lifecycle", [LIFECYCLE_UNSPECIFIED, LIFECYCLE_ACTIVE])
def test_deleted_nodes_are_hidden_from_everyone_who_does_not_ask(platform: Platform, lifecycle: int) -> None:
    for access in (AccessContext(), AUDITOR):
        response = platform.ask("GetUserLegacy", AUTH, hybrid=EVERYTHING, lifecycle=lifecycle, access=access)
        assert not {LEGACY, WITHDRAWN} & set(keys(response))
        assert response.meta.lifecycle_effective == LIFECYCLE_ACTIVE


def test_an_auditor_sees_deleted_nodes_too_or_alone(platform: Platform) -> None:
    assert everything(platform, lifecycle=LIFECYCLE_ALL, access=AUDITOR) == nodes_with() | {LEGACY, WITHDRAWN}
    assert everything(platform, lifecycle=LIFECYCLE_DELETED, access=AUDITOR) == {LEGACY, WITHDRAWN}
    ids = everything(platform, lifecycle=LIFECYCLE_DELETED, access=AUDITOR_OF_FINANCE)
    assert ids == {LEGACY, WITHDRAWN, SECRET}


def test_a_deleted_match_says_so(platform: Platform) -> None:
    response = platform.ask("GetUserLegacy", AUTH, lifecycle=LIFECYCLE_ALL, access=AUDITOR)
    assert match_of(response, LEGACY).meta.deleted
    assert not match_of(response, "go::auth/GetUser").meta.deleted
    assert response.meta.lifecycle_effective == LIFECYCLE_ALL


def test_deleted_matches_are_counted_among_what_the_caller_may_see(platform: Platform) -> None:
    def blocked(access: AccessContext, **fields: object) -> int:
        return platform.ask("stamp", BILLING, access=access, **fields).meta.deleted_matches_blocked

    finance = AccessContext(acl_tags_any=[FINANCE_TAG])
    assert blocked(AccessContext()) == 1
    assert blocked(finance) == 2
    assert blocked(finance, filter=NodeFilter(collection_ids=["forms"])) == 1
    assert blocked(finance, filter=NodeFilter(collection_ids=["policies"])) == 0
    assert blocked(AUDITOR, lifecycle=LIFECYCLE_ALL) == 0
