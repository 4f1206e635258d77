"""Routing over the wire: the rules of `conftest.ROUTING` by what a request names."""

from groundwire.v1.query_pb2 import FUSION_MODE_ADAPTIVE, FUSION_MODE_RRF, FUSION_MODE_WEIGHTED, HybridParameters
from groundwire.v1.scope_pb2 import AccessContext, IndexScope, NodeFilter
from support.platform import DENSE, EVERYTHING, Platform, keys, timeless
from support.platform_corpus import AUTH, BILLING, FINANCE_TAG
from support.refusals import INVALID, NOT_FOUND, Row, check_refused

POLICY, FORM = "md::refund/policy", "md::refund/form"


def test_a_query_that_no_rule_matches_is_answered_as_without_routing(platform: Platform) -> None:
    plain = platform.ask("refund", BILLING)
    for route in ({"process": "sales"}, {"process": "billing", "doc_class": "letter"}, {"workflow_id": "billing"}):
        answer = platform.ask("refund", BILLING, **route)
        assert answer.meta.routing.profile == ""
        routing = answer.meta.routing
        assert (routing.process, routing.doc_class, routing.workflow_id) == tuple(
            route.get(name, "") for name in ("process", "doc_class", "workflow_id")
        )
        answer.meta.routing.CopyFrom(plain.meta.routing)
        assert timeless(answer) == timeless(plain)


def test_a_rule_narrows_to_its_collections(platform: Platform) -> None:
    answer = platform.ask("refund", BILLING, process="billing", doc_class="manual", hybrid=EVERYTHING)
    assert set(keys(answer)) == {POLICY, FORM}
    routing = answer.meta.routing
    assert (routing.profile, routing.process, routing.doc_class) == ("refunds", "billing", "manual")
    assert list(routing.collection_ids) == ["policies", "forms"]


def test_what_the_filter_and_the_rule_name_is_what_both_name(platform: Platform) -> None:
    def keys_and_collections(*collections: str) -> tuple[list[str], list[str]]:
        narrowed = NodeFilter(collection_ids=collections)
        answer = platform.ask("refund", AUTH, process="billing", doc_class="form", filter=narrowed)
        return keys(answer), list(answer.meta.routing.collection_ids)

    assert keys_and_collections("forms") == ([FORM], ["forms"])
    assert keys_and_collections("chat", "forms") == ([FORM], ["forms"])
    assert keys_and_collections("chat") == ([], [])


def test_a_rule_shows_nobody_what_they_may_not_see(platform: Platform) -> None:
    finance = AccessContext(acl_tags_any=[FINANCE_TAG])
    for access in (AccessContext(), finance):
        fields = {"process": "billing", "doc_class": "manual", "hybrid": EVERYTHING, "access": access}
        assert set(keys(platform.ask("refund", BILLING, **fields))) == {POLICY, FORM}


def test_a_rule_gives_defaults_and_the_request_wins(platform: Platform) -> None:
    routed = platform.ask("refund receipt", BILLING, process="billing", doc_class="manual").meta
    assert (routed.top_k_effective, routed.min_sim, routed.fusion) == (2, 0.5, FUSION_MODE_ADAPTIVE)
    overridden = platform.ask(
        "refund receipt", BILLING, process="billing", doc_class="manual", hybrid=HybridParameters(min_sim=0.25),
        top_k=3,
    ).meta  # fmt: skip
    assert (overridden.top_k_effective, overridden.min_sim) == (3, 0.25)


def test_a_rule_gives_a_fusion_and_the_request_wins(platform: Platform) -> None:
    def fusion(**fields: object) -> tuple[str, int]:
        meta = platform.ask("refund", BILLING, workflow_id="w-ranks", **fields).meta
        return meta.routing.profile, meta.fusion

    assert fusion() == ("ranks", FUSION_MODE_RRF)
    assert fusion(fusion=FUSION_MODE_ADAPTIVE) == ("ranks", FUSION_MODE_ADAPTIVE)
    assert fusion(hybrid=HybridParameters(alpha=0.5)) == ("ranks", FUSION_MODE_WEIGHTED)
    weighted = platform.ask("refund", BILLING, workflow_id="w-dense").meta
    assert (weighted.fusion, weighted.alpha) == (FUSION_MODE_WEIGHTED, 0.875)


def test_the_constant_of_a_fusion_that_a_rule_chose_is_checked(platform: Platform) -> None:
    request = platform.request("refund", BILLING, workflow_id="w-ranks", rrf_k=0)
    check_refused(Row("rrf_k", request, INVALID, "VALUE_OUT_OF_RANGE", "rrf_k"), platform.stub.Query)


def test_the_first_rule_that_matches_counts(platform: Platform) -> None:
    both = platform.ask("refund", BILLING, process="billing", doc_class="manual", workflow_id="w-ranks").meta
    assert (both.routing.profile, both.fusion) == ("refunds", FUSION_MODE_ADAPTIVE)


def test_a_rule_names_the_version_unless_the_request_pins_one(platform: Platform) -> None:
    pinned = IndexScope(repository="platform", branch="main", active_index="v1")
    answer = platform.ask("refund", BILLING, process="audit", scope=pinned, retrievers=[DENSE])
    assert (answer.index, answer.meta.routing.profile) == ("v1", "frozen")
    request = platform.request("refund", BILLING, process="audit")
    info = check_refused(Row("no such version", request, NOT_FOUND, "INDEX_NOT_FOUND"), platform.stub.Query)
    assert info.metadata["active_index"] == "v0"
    plain = IndexScope(repository="platform", branch="plain")
    assert platform.ask("refund", process="audit", scope=plain).meta.routing.profile == ""
