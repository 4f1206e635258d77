"""Questions about the platform corpus over the wire, and what each source and stage does to an answer."""

from itertools import pairwise

import pytest

from groundwire.v1.query_pb2 import (
    FUSION_MODE_ADAPTIVE,
    FUSION_MODE_RRF,
    FUSION_MODE_WEIGHTED,
    HybridParameters,
    QueryClass,
    QueryResponse,
)
from groundwire.v1.scope_pb2 import AccessContext, NodeFilter
from support.platform import (
    CODE_WORDS,
    DENSE,
    EVERYTHING,
    PLAIN,
    PROSE_WORDS,
    TRIGRAM,
    Platform,
    keys,
    match_of,
    timeless,
    timestamp,
)
from support.platform_corpus import AUTH, DEPLOY, DOCS, FINANCE_TAG, INCIDENT, ORDERS

LATENCY = [0.0, 0.3, 0.0, 0.7, 0.0, 0.0]
LATENCY_QUERY = "checkout latency is high again"


@pytest.mark.parametrize(
    ("query", "about"), [("user", AUTH), ("rollback", DOCS), ("zebra", INCIDENT), ("???", ORDERS)], ids=str
)
def test_any_query_returns_matches(platform: Platform, query: str, about: list[float]) -> None:
    assert keys(platform.ask(query, about))


def test_a_code_query_finds_the_code(platform: Platform) -> None:
    response = platform.ask("GetUser function", AUTH)
    assert keys(response)[0] == "go::auth/GetUser"
    assert response.matches[0].text == "func GetUser(id string) User { return db.Find(id) }"


def test_an_incident_query_finds_the_conversation(platform: Platform) -> None:
    assert "slack::incident/1" in keys(platform.ask("auth-service 503", INCIDENT))


def test_a_deployment_query_finds_the_manifest(platform: Platform) -> None:
    assert "yaml::auth-service" in keys(platform.ask("auth-service port", DEPLOY))


def test_an_index_without_vectors_answers_by_words_and_names(platform: Platform) -> None:
    for query, key in (("GetUser function", "go::auth/GetUser"), ("auth-service 503", "slack::incident/1")):
        response = platform.ask(query, scope=PLAIN)
        assert f"platform::plain::{key}" in [match.id for match in response.matches[:2]]
        assert [use.retriever for use in response.meta.retrievers] == [CODE_WORDS, PROSE_WORDS, TRIGRAM]


def test_top_k_is_respected(platform: Platform) -> None:
    assert [match.rank for match in platform.ask("order", ORDERS, top_k=3).matches] == [1, 2, 3]


def test_matches_come_by_score_then_id(platform: Platform) -> None:
    response = platform.ask(LATENCY_QUERY, LATENCY, hybrid=EVERYTHING, freshness_weight=0.0)
    assert len(response.matches) > 10
    assert all((-better.score, better.id) < (-worse.score, worse.id) for better, worse in pairwise(response.matches))
    assert len({match.score for match in response.matches}) < len(response.matches)


def test_every_score_of_a_match_is_told(platform: Platform) -> None:
    scores = match_of(platform.ask("GetUser function", AUTH), "go::auth/GetUser").scores
    assert scores.dense == pytest.approx(1.0)
    assert scores.bm25_code > 0
    assert scores.bm25_prose > 0
    assert scores.trigram > 0
    assert 0 < scores.fused <= 1
    assert (scores.boost, scores.kind_factor, scores.repeat_factor) == (1.0, 0.85, 1.0)
    assert scores.file == 0.0, "its file has no other node"
    assert 0 < scores.graph <= 1
    assert scores.final == (scores.fused + 0.3 * scores.file) * 0.85 + 0.3 * scores.graph
    assert not scores.HasField("freshness")


def test_without_a_rerank_there_is_no_score_of_it(platform: Platform) -> None:
    response = platform.ask("order", ORDERS, rerank=False)
    assert response.matches
    assert not any(match.scores.HasField("rerank") for match in response.matches)


def test_the_same_question_has_the_same_answer(platform: Platform) -> None:
    def ask() -> QueryResponse:
        return platform.ask("order latency", LATENCY, include_parents=True, include_neighbors=True, expand_graph=True)

    assert timeless(ask()) == timeless(ask())


def test_a_typo_in_a_name_is_forgiven_by_the_trigram_source(platform: Platform) -> None:
    assert keys(platform.ask("getusr", DOCS))[0] == "go::auth/GetUser"
    response = platform.ask("getusr", retrievers=[CODE_WORDS, TRIGRAM])
    assert keys(response)[0] == "go::auth/GetUser"
    scores = response.matches[0].scores
    assert 0.3 < scores.trigram < 1
    assert scores.bm25_code == 0.0
    assert match_of(platform.ask("getuser", AUTH), "go::auth/GetUser").scores.trigram == 1.0


def test_only_the_sources_that_are_named_are_asked(platform: Platform) -> None:
    response = platform.ask("GetUser function", retrievers=[TRIGRAM, CODE_WORDS])
    assert [use.retriever for use in response.meta.retrievers] == [CODE_WORDS, TRIGRAM]
    for match in response.matches:
        scores = match.scores
        assert (scores.HasField("bm25_code"), scores.HasField("trigram")) == (True, True)
        assert (scores.HasField("dense"), scores.HasField("bm25_prose")) == (False, False)


@pytest.mark.parametrize(("source", "query"), [(CODE_WORDS, "kubectl"), (PROSE_WORDS, "kubectl"), (TRIGRAM, "runbok")])
def test_what_one_lexical_source_alone_lists_takes_part_fully(platform: Platform, source: int, query: str) -> None:
    response = platform.ask(
        query, AUTH, retrievers=[DENSE, source], fusion=FUSION_MODE_RRF, hybrid=HybridParameters(vec_limit=1, top_k=10)
    )
    matching_keys = set(keys(response))
    assert "go::auth/GetUser" in matching_keys
    assert len(matching_keys) == 1 + response.meta.retrievers[1].candidates > 1
    assert {match.scores.fused for match in response.matches[:2]} == {1 / 61}


def test_reciprocal_ranks_are_summed_with_the_given_constant(platform: Platform) -> None:
    one_list = platform.ask("order", ORDERS, retrievers=[DENSE], fusion=FUSION_MODE_RRF, rrf_k=1)
    assert [match.scores.fused for match in one_list.matches] == [1 / (1 + rank) for rank in range(1, 6)]
    two_lists = platform.ask("CreateOrder", ORDERS, retrievers=[DENSE, CODE_WORDS], fusion=FUSION_MODE_RRF)
    assert match_of(two_lists, "go::order/CreateOrder").scores.fused == 2 / 61
    assert (two_lists.meta.rrf_k, two_lists.meta.fusion) == (60, FUSION_MODE_RRF)
    assert [use.weight for use in two_lists.meta.retrievers] == [1.0, 1.0]


def test_a_weighted_fusion_leans_to_the_dense_source_by_alpha(platform: Platform) -> None:
    def best(alpha: float) -> str:
        response = platform.ask(
            "kubectl rollback", AUTH, fusion=FUSION_MODE_WEIGHTED, hybrid=HybridParameters(alpha=alpha)
        )
        weights = {use.retriever: use.weight for use in response.meta.retrievers}
        rest = (1 - alpha) / 3
        assert weights == pytest.approx({DENSE: alpha, CODE_WORDS: rest, PROSE_WORDS: rest, TRIGRAM: rest})
        return keys(response)[0]

    assert best(1.0) == "go::auth/GetUser"
    assert best(0.0) == "md::runbook/2"


@pytest.mark.parametrize(
    ("query", "query_class"),
    [
        ("getUserById", "IDENTIFIER"),
        ('"throwing 503s"', "QUOTED"),
        ("auth/GetUser.go", "PATH"),
        ("how is the platform tested", "NATURAL_LANGUAGE"),
        ("where does GetUser read from", "MIXED"),
    ],
)
def test_an_adaptive_fusion_says_what_the_query_looks_like_and_weighs_by_it(
    platform: Platform, query: str, query_class: str
) -> None:
    meta = platform.ask(query, AUTH).meta
    assert QueryClass.Name(meta.query_class) == f"QUERY_CLASS_{query_class}"
    assert meta.fusion == FUSION_MODE_ADAPTIVE
    assert sum(use.weight for use in meta.retrievers) == pytest.approx(1.0)
    weights = {use.retriever: use.weight for use in meta.retrievers}
    if query_class == "NATURAL_LANGUAGE":
        assert weights[DENSE] == max(weights.values())
    if query_class in ("IDENTIFIER", "PATH"):
        assert weights[TRIGRAM] == max(weights.values())


def test_recent_conversations_gain_and_nothing_else_does(platform: Platform) -> None:
    response = platform.ask(
        LATENCY_QUERY, LATENCY, freshness_half_life_days=365, freshness_weight=0.4, fusion=FUSION_MODE_WEIGHTED
    )
    new, old, undated, note = (
        match_of(response, key).scores
        for key in ("slack::latency/new", "slack::latency/old", "slack::latency/undated", "md::latency/note")
    )
    assert new.freshness == pytest.approx(0.5 ** (1 / 365))
    assert old.freshness == pytest.approx(0.5)
    assert old.final == pytest.approx(0.6 * old.fused + 0.4 * 0.5)
    assert new.final > old.final
    for unchanged in (undated, note):
        assert not unchanged.HasField("freshness")
        assert unchanged.final == unchanged.fused


def test_freshness_counts_from_the_time_of_the_request(platform: Platform) -> None:
    before = platform.ask(LATENCY_QUERY, LATENCY, now=timestamp("2024-01-01T00:00:00Z"), freshness_weight=0.4)
    for key in ("slack::latency/new", "slack::latency/old"):
        assert match_of(before, key).scores.freshness == 1.0
    assert before.meta.now == timestamp("2024-01-01T00:00:00Z")


def test_a_freshness_weight_of_zero_disables_it(platform: Platform) -> None:
    response = platform.ask(LATENCY_QUERY, LATENCY, freshness_weight=0.0)
    assert not any(match.scores.HasField("freshness") for match in response.matches)
    assert len({match_of(response, f"slack::latency/{age}").score for age in ("new", "old", "undated")}) == 1


def test_a_query_boosts_the_corpora_that_it_calls_for(platform: Platform) -> None:
    response = platform.ask(
        "deploy auth-service", DEPLOY, freshness_weight=0.0, hybrid=EVERYTHING, fusion=FUSION_MODE_WEIGHTED
    )
    assert list(response.meta.boosts) == ["deployment"]
    boosted = {match.corpus_type for match in response.matches if match.scores.boost != 1.0}
    assert boosted == {"CODE_DEPLOY", "DOC_RUNBOOK"}
    for match in response.matches:
        assert match.scores.final == match.scores.fused * match.scores.boost
    manifest = match_of(response, "yaml::auth-service").scores
    assert (manifest.boost, keys(response)[0]) == (1.3, "yaml::auth-service")


def test_a_query_without_the_words_boosts_nothing(platform: Platform) -> None:
    response = platform.ask("how does auth work", AUTH, hybrid=EVERYTHING)
    assert list(response.meta.boosts) == []
    assert {match.scores.boost for match in response.matches} == {1.0}


def test_diversity_holds_back_what_resembles_a_better_match(platform: Platform) -> None:
    def best_two(strength: float) -> list[str]:
        hybrid = HybridParameters(diversify_strength=strength, top_k=2, min_sim=0)
        response = platform.ask(LATENCY_QUERY, LATENCY, hybrid=hybrid, retrievers=[DENSE], freshness_weight=0.0)
        assert response.meta.diversify_strength == pytest.approx(strength)
        return keys(response)

    twins = {"slack::latency/new", "slack::latency/old", "slack::latency/undated", "md::latency/note"}
    assert set(best_two(0.0)) < twins
    first, second = best_two(1.0)
    assert first in twins
    assert second not in twins


def test_what_a_caller_may_not_see_is_not_found(platform: Platform) -> None:
    public = platform.ask("PostEntry", ORDERS, hybrid=EVERYTHING)
    assert "go::ledger/PostEntry" not in keys(public)
    finance = platform.ask("PostEntry", ORDERS, access=AccessContext(acl_tags_any=[FINANCE_TAG]))
    assert keys(finance)[0] == "go::ledger/PostEntry"
    assert "go::acme/AcmeOrder" not in keys(public)
    acme = platform.ask("AcmeOrder", ORDERS, access=AccessContext(tenant_id="acme"))
    assert keys(acme)[0] == "go::acme/AcmeOrder"


def test_a_filter_narrows_before_the_lists_are_cut(platform: Platform) -> None:
    narrow = HybridParameters(vec_limit=1, lex_limit=1, top_k=1, min_sim=0)
    response = platform.ask("GetUser", AUTH, hybrid=narrow, filter=NodeFilter(service_names=["order-service"]))
    assert len(response.matches) == 1
    assert response.matches[0].service_name == "order-service"
