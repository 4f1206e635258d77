"""Each hybrid parameter's effect and default, and each figure of the meta."""

import pytest

from groundwire.v1.query_pb2 import (
    FUSION_MODE_ADAPTIVE,
    FUSION_MODE_RRF,
    FUSION_MODE_UNSPECIFIED,
    FUSION_MODE_WEIGHTED,
    FusionMode,
    HybridParameters,
    RetrieveMeta,
)
from groundwire.v1.retrieval_pb2 import Retriever
from groundwire.v1.scope_pb2 import LIFECYCLE_ACTIVE, NodeFilter
from support.platform import (
    CODE_WORDS,
    DENSE,
    EVERYTHING,
    NOW,
    PLAIN,
    PROSE_WORDS,
    TRIGRAM,
    Platform,
    keys,
    match_of,
    timeless,
    timestamp,
)
from support.platform_corpus import AUTH, BILLING, DOCS, INCIDENT, ORDERS

FRESHNESS = {"freshness_half_life_days", "freshness_weight"}
PARAMETERS = FRESHNESS | {
    "alpha",
    "min_sim",
    "max_candidates_effective",
    "vec_limit",
    "lex_limit",
    "trgm_limit",
    "diversify_strength",
    "rrf_k",
}


def lengths(meta: RetrieveMeta) -> dict[int, int]:
    """How many candidates each source proposed."""
    return {use.retriever: use.candidates for use in meta.retrievers}


def stated_parameters(meta: RetrieveMeta) -> set[str]:
    """The parameters that the meta tells."""
    return {field.name for field, _ in meta.ListFields() if field.name in PARAMETERS}


def test_an_absent_or_empty_message_takes_every_default(platform: Platform) -> None:
    response = platform.ask("order", ORDERS)
    assert timeless(platform.ask("order", ORDERS, hybrid=None)) == timeless(response)
    meta = response.meta
    assert meta.fusion == FUSION_MODE_ADAPTIVE
    assert (meta.min_sim, meta.trgm_limit) == (0.15, 0.3)
    assert (meta.top_k_effective, meta.vec_limit, meta.lex_limit) == (5, 150, 150)
    assert stated_parameters(meta) == {"min_sim", "trgm_limit", "vec_limit", "lex_limit", *FRESHNESS}
    assert (meta.freshness_half_life_days, meta.freshness_weight) == (90.0, 0.1)
    assert (meta.lifecycle_effective, meta.now) == (LIFECYCLE_ACTIVE, timestamp(NOW))


def test_lists_are_three_times_as_deep_as_the_result(platform: Platform) -> None:
    meta = platform.ask("order", ORDERS, top_k=200).meta
    assert (meta.vec_limit, meta.lex_limit) == (600, 600)


def test_what_is_given_is_in_effect(platform: Platform) -> None:
    hybrid = HybridParameters(
        min_sim=0.5, top_k=2, vec_limit=30, lex_limit=40, trgm_limit=0.75, max_candidates=70, diversify_strength=0.125
    )
    fresh = {"freshness_half_life_days": 7, "freshness_weight": 0.5}
    meta = platform.ask("latency", INCIDENT, hybrid=hybrid, **fresh, fusion=FUSION_MODE_RRF, rrf_k=9).meta
    assert (meta.min_sim, meta.trgm_limit, meta.diversify_strength) == (0.5, 0.75, 0.125)
    assert (meta.top_k_effective, meta.vec_limit, meta.lex_limit, meta.max_candidates_effective) == (2, 30, 40, 70)
    assert (meta.freshness_half_life_days, meta.freshness_weight, meta.rrf_k) == (7.0, 0.5, 9)
    assert stated_parameters(meta) == {*PARAMETERS} - {"alpha"}


def test_an_alpha_without_a_fusion_asks_for_a_weighted_one(platform: Platform) -> None:
    hybrid = HybridParameters(alpha=1.0)
    response = platform.ask("latency", AUTH, hybrid=hybrid)
    assert (response.meta.fusion, response.meta.alpha) == (FUSION_MODE_WEIGHTED, 1.0)
    assert keys(response) == keys(platform.ask("latency", AUTH, hybrid=hybrid, fusion=FUSION_MODE_WEIGHTED))
    assert keys(response)[0] == "go::auth/GetUser"
    words = {"query": "where is the latency of the checkout", "about": AUTH, "hybrid": HybridParameters(alpha=0.4)}
    alone, named = platform.ask(**words), platform.ask(**words, fusion=FUSION_MODE_WEIGHTED)
    assert timeless(alone) == timeless(named)
    assert not named.meta.ranking.ListFields()
    assert keys(platform.ask("latency", AUTH, hybrid=HybridParameters(alpha=0.0)))[0].startswith(("slack::", "md::"))


@pytest.mark.parametrize("fusion", [FUSION_MODE_ADAPTIVE, FUSION_MODE_RRF])
def test_an_alpha_is_ignored_by_another_fusion_that_is_named(platform: Platform, fusion: FusionMode.ValueType) -> None:
    given, absent = (
        platform.ask("latency", AUTH, hybrid=hybrid, fusion=fusion)
        for hybrid in (HybridParameters(alpha=1.0), HybridParameters())
    )
    assert timeless(given) == timeless(absent)
    assert (given.meta.fusion, given.meta.HasField("alpha")) == (fusion, False)


@pytest.mark.parametrize(
    ("retrievers", "names"),
    [
        ([DENSE], {"min_sim", "vec_limit"}),
        ([DENSE, CODE_WORDS], {"alpha", "min_sim", "vec_limit", "lex_limit"}),
        ([CODE_WORDS, PROSE_WORDS], {"lex_limit"}),
        ([TRIGRAM], {"lex_limit", "trgm_limit"}),
    ],
)
def test_parameters_of_sources_that_were_not_asked_are_not_told(
    platform: Platform, retrievers: list[Retriever.ValueType], names: set[str]
) -> None:
    about = AUTH if DENSE in retrievers else []
    meta = platform.ask("GetUser", about, retrievers=retrievers, fusion=FUSION_MODE_WEIGHTED, freshness_weight=0).meta
    assert stated_parameters(meta) == names


def test_freshness_is_told_where_a_dated_conversation_could_gain(platform: Platform) -> None:
    def told_of(**fields: object) -> set[str]:
        return stated_parameters(platform.ask("latency", INCIDENT, **fields).meta) & FRESHNESS

    assert told_of() == FRESHNESS
    assert told_of(freshness_weight=0) == told_of(freshness_half_life_days=0) == set()
    assert told_of(filter=NodeFilter(corpus_types=["DOC_README"])) == set()


@pytest.mark.parametrize("off", [{"freshness_weight": 0}, {"freshness_half_life_days": 0}])
def test_zero_switches_freshness_off(platform: Platform, off: dict[str, float]) -> None:
    response = platform.ask("checkout latency", INCIDENT, **off)
    assert not [match for match in response.matches if match.scores.HasField("freshness")]
    assert [match for match in platform.ask("checkout latency", INCIDENT).matches if match.scores.HasField("freshness")]


def test_a_top_k_above_the_maximum_is_lowered_for_who_asks_for_it(platform: Platform) -> None:
    for fields in ({"top_k": 1_001}, {"hybrid": HybridParameters(top_k=1_001)}):
        response = platform.ask("order", ORDERS, cap_top_k=True, **fields)
        assert timeless(response) == timeless(platform.ask("order", ORDERS, top_k=1_000))
        assert response.meta.top_k_effective == 1_000
    assert platform.ask("order", ORDERS, cap_top_k=True, top_k=2).meta.top_k_effective == 2
    assert platform.ask("order", ORDERS, cap_top_k=True).meta.top_k_effective == 5


def test_top_k_overrides_that_of_the_parameters(platform: Platform) -> None:
    response = platform.ask("order", ORDERS, hybrid=HybridParameters(top_k=4), top_k=2)
    assert (len(response.matches), response.meta.top_k_effective) == (2, 2)
    response = platform.ask("order", ORDERS, hybrid=HybridParameters(top_k=4))
    assert (len(response.matches), response.meta.top_k_effective) == (4, 4)


def test_min_sim_bounds_the_dense_list(platform: Platform) -> None:
    def matching_keys(min_sim: float) -> list[str]:
        response = platform.ask(
            "?",
            AUTH,
            retrievers=[DENSE],
            hybrid=HybridParameters(min_sim=min_sim, top_k=100),
            fusion=FUSION_MODE_WEIGHTED,
        )
        assert response.meta.vector_candidates == len(response.matches)
        assert all(match.scores.dense >= min_sim for match in response.matches)
        return keys(response)

    assert matching_keys(0.9) == ["go::auth/GetUser", "go::auth/ValidateToken"]
    assert matching_keys(0.8) == ["go::auth/GetUser", "go::auth/ValidateToken", "go::user/LoadProfile"]
    assert len(matching_keys(0.0)) > 10


def test_vec_limit_bounds_the_dense_list_alone(platform: Platform) -> None:
    bounded = lengths(platform.ask("order", ORDERS, hybrid=HybridParameters(vec_limit=2)).meta)
    free = lengths(platform.ask("order", ORDERS).meta)
    assert bounded == {**free, DENSE: 2}
    assert free[DENSE] > 2


def test_lex_limit_bounds_each_other_list(platform: Platform) -> None:
    hybrid = HybridParameters(trgm_limit=0.01)
    free = lengths(platform.ask("CreateOrder", ORDERS, hybrid=hybrid).meta)
    hybrid.lex_limit = 1
    bounded = lengths(platform.ask("CreateOrder", ORDERS, hybrid=hybrid).meta)
    assert bounded == {DENSE: free[DENSE], CODE_WORDS: 1, PROSE_WORDS: 1, TRIGRAM: 1}
    assert min(free.values()) > 1


def test_trgm_limit_bounds_the_trigram_list(platform: Platform) -> None:
    def matching_keys(trgm_limit: float) -> list[str]:
        hybrid = HybridParameters(trgm_limit=trgm_limit, top_k=100)
        response = platform.ask("getuser", retrievers=[TRIGRAM], hybrid=hybrid)
        assert all(match.scores.trigram >= trgm_limit for match in response.matches)
        return keys(response)

    assert matching_keys(1.0) == ["go::auth/GetUser"]
    assert len(matching_keys(0.01)) > len(matching_keys(0.3)) >= 1


def test_max_candidates_bounds_the_fused_list(platform: Platform) -> None:
    hybrid = HybridParameters(vec_limit=3, lex_limit=3, top_k=3)
    union = platform.ask("kubectl rollback", AUTH, hybrid=hybrid, fusion=FUSION_MODE_RRF).meta
    assert not union.HasField("max_candidates_effective")
    assert union.fused_candidates > 3
    hybrid.max_candidates = 3
    assert platform.ask("kubectl rollback", AUTH, hybrid=hybrid, fusion=FUSION_MODE_RRF).meta.fused_candidates == 3


def test_max_candidates_may_be_less_than_limits_by_default(platform: Platform) -> None:
    response = platform.ask("kubectl rollback", DOCS, hybrid=HybridParameters(max_candidates=2))
    assert (response.meta.top_k_effective, response.meta.fused_candidates, len(response.matches)) == (5, 2, 2)


def test_max_candidates_cuts_what_would_have_been_boosted(platform: Platform) -> None:
    hybrid = HybridParameters(vec_limit=1, lex_limit=1, top_k=1, max_candidates=1, alpha=1.0)
    response = platform.ask("deploy", AUTH, hybrid=hybrid, fusion=FUSION_MODE_WEIGHTED)
    assert (keys(response), list(response.meta.boosts)) == (["go::auth/GetUser"], ["deployment"])


def test_diversity_has_no_effect_without_vectors(platform: Platform) -> None:
    hybrid = HybridParameters(diversify_strength=1.0)
    response = platform.ask("order", scope=PLAIN, hybrid=hybrid)
    assert not response.meta.HasField("diversify_strength")
    assert [match.id for match in response.matches] == [
        match.id for match in platform.ask("order", scope=PLAIN).matches
    ]


def test_the_fusion_constant_is_told_for_reciprocal_ranks_alone(platform: Platform) -> None:
    assert platform.ask("order", ORDERS, fusion=FUSION_MODE_RRF, rrf_k=7).meta.rrf_k == 7
    assert platform.ask("order", ORDERS, fusion=FUSION_MODE_WEIGHTED, rrf_k=7).meta.HasField("rrf_k") is False


@pytest.mark.parametrize("fusion", [FUSION_MODE_UNSPECIFIED, FUSION_MODE_ADAPTIVE, FUSION_MODE_WEIGHTED])
@pytest.mark.parametrize("rrf_k", [-1, 0, 1_000_001])
def test_the_fusion_constant_is_ignored_by_other_fusions(
    platform: Platform, fusion: FusionMode.ValueType, rrf_k: int
) -> None:
    fields = {"query": "order", "about": ORDERS, "fusion": fusion}
    assert timeless(platform.ask(**fields, rrf_k=rrf_k)) == timeless(platform.ask(**fields))


def test_the_meta_counts_candidates_and_matches(platform: Platform) -> None:
    response = platform.ask("refund receipt", BILLING, top_k=3, include_neighbors=True)
    meta, candidates = response.meta, lengths(response.meta)
    assert meta.matches_returned == 3 == len(keys(response))
    assert meta.vector_candidates == candidates[DENSE] > 0
    lexical = [candidates[source] for source in (CODE_WORDS, PROSE_WORDS, TRIGRAM)]
    assert max(lexical) <= meta.lexical_candidates <= sum(lexical)
    assert meta.fused_candidates >= max(meta.lexical_candidates, meta.vector_candidates)
    assert meta.exact
    assert not meta.truncated
    assert response.index == "v1"


def test_the_meta_names_the_lexical_indexes_that_proposed_something(platform: Platform) -> None:
    assert list(platform.ask("GetUser", AUTH).meta.lexical_index_used) == [CODE_WORDS, PROSE_WORDS, TRIGRAM]
    assert list(platform.ask("kubectl rollback", AUTH).meta.lexical_index_used) == [CODE_WORDS, PROSE_WORDS]
    assert list(platform.ask("zebra", AUTH).meta.lexical_index_used) == []
    assert list(platform.ask("GetUser", AUTH, retrievers=[DENSE, TRIGRAM]).meta.lexical_index_used) == [TRIGRAM]


def test_one_time_is_told_and_none_of_stages(platform: Platform) -> None:
    """Of a stage it could be told whether a cache had what it needed, and so what others asked."""
    meta = platform.ask("order", ORDERS, expand_graph=True).meta
    assert meta.took_ms > 0
    names = [field.name for field in meta.DESCRIPTOR.fields]
    assert [name for name in names if "took" in name or "time" in name or name.endswith("_ms")] == ["took_ms"]


def test_a_match_without_a_word_of_the_query_scores_zero_there(platform: Platform) -> None:
    scores = match_of(platform.ask("receipt", AUTH, hybrid=EVERYTHING), "go::auth/GetUser").scores
    assert scores.HasField("bm25_code")
    assert (scores.bm25_code, scores.bm25_prose) == (0.0, 0.0)
