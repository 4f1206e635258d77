"""How Query orders a repository: each rule of the ranking, with it and without it.

A fusion by weights of a single retriever gives the order of that retriever's scores.
"""

import pytest

from groundwire.v1 import evidence_pb2, query_pb2
from groundwire.v1.query_pb2 import FUSION_MODE_RRF, FUSION_MODE_WEIGHTED, FusionMode, PurposeFactor, RankingParameters
from groundwire.v1.scope_pb2 import AccessContext, NodeFilter
from groundwire_index.nodes.purposes import PURPOSES
from support.platform import CODE_WORDS, DENSE, RANKING, TRIGRAM, Platform

QUESTION = "where is the order refunded"
"""In words, so that the ranking acts by default; the codes of RANKING are made for it."""


def order(platform: Platform, query: str = QUESTION, **fields: object) -> list[str]:
    """The local ids of all matches by the words of code alone, best first."""
    response = ask(platform, query, **fields)
    return [match.meta.chunk_id for match in response.matches]


def ask(platform: Platform, query: str = QUESTION, **fields: object) -> query_pb2.QueryResponse:
    given = {"scope": RANKING, "retrievers": [CODE_WORDS], "top_k": 100, **fields}
    return platform.ask(query, **given)


def scores_of(response: query_pb2.QueryResponse, local_id: str) -> query_pb2.StageScores:
    (match,) = (match for match in response.matches if match.meta.chunk_id == local_id)
    return match.scores


@pytest.mark.parametrize("fusion", [FUSION_MODE_RRF, FUSION_MODE_WEIGHTED])
def test_a_fusion_that_is_asked_for_keeps_its_order(platform: Platform, fusion: FusionMode.ValueType) -> None:
    both = [CODE_WORDS, TRIGRAM]
    plain = ask(platform, retrievers=both, fusion=fusion)
    fused = [match.scores.fused for match in plain.matches]
    assert fused == sorted(fused, reverse=True)
    assert not plain.meta.ranking.ListFields()
    assert {(match.scores.kind_factor, match.scores.repeat_factor) for match in plain.matches} == {(1.0, 1.0)}
    assert ask(platform, retrievers=both).meta.ranking.test_factor == 0.5


def test_a_member_gains_by_the_words_of_its_file(platform: Platform) -> None:
    """Both members hold the same words as often; the file of one has others that speak of the rest of the question."""
    pair = {"alone", "in-file"}
    assert [chunk_id for chunk_id in order(platform, fusion=FUSION_MODE_WEIGHTED) if chunk_id in pair] == [
        "alone",
        "in-file",
    ]
    response = ask(platform)
    assert [match.meta.chunk_id for match in response.matches if match.meta.chunk_id in pair] == ["in-file", "alone"]
    assert 0 < scores_of(response, "alone").file < scores_of(response, "in-file").file
    assert max(match.scores.file for match in response.matches) == 1.0


def test_a_file_of_one_node_counts_beside_files_of_several(platform: Platform) -> None:
    """`alone` has the words of `other-words`, whose file says nothing more, so its file does not lift that one."""
    response = ask(platform)
    alone, other = (scores_of(response, local_id) for local_id in ("alone", "other-words"))
    assert alone.file >= other.file > 0
    assert alone.final >= other.final


def test_files_of_one_node_alone_do_not_count(platform: Platform) -> None:
    """Where each file has one node, its words would count twice."""
    response = ask(platform, filter=NodeFilter(path_prefixes=["src/a.cs", "src/short.cs"]))
    assert {match.meta.chunk_id: match.scores.file for match in response.matches} == {"alone": 0.0, "fragment": 0.0}


def test_files_count_only_where_words_of_code_are_asked(platform: Platform) -> None:
    response = ask(platform, retrievers=[DENSE], query_vector=[1.0, 0.0])
    assert {match.scores.file for match in response.matches} == {0.0}


@pytest.mark.parametrize(
    ("local_id", "purpose", "about_it"),
    [
        ("test", "test", "which tests check that the order is refunded"),
        ("generated", "generated", "the generated code by which the order is refunded"),
        ("prose", "documentation", "where is the documentation of how the order is refunded"),
        ("agents", "agent_instructions", "what agents read about how the order is refunded"),
        ("licence", "licence", "the license by which the order is refunded"),
        ("change-log", "change_log", "the changelog of how the order is refunded"),
        ("translation", "translation", "the translated words for an order that is refunded"),
        ("migration", "migration", "the migration of an order that is refunded"),
        ("story", "story", "the storybook of an order that is refunded"),
        ("user-text", "user_text", "the blog about an order that is refunded"),
        ("tool-configuration", "tool_configuration", "the dependencies of the order that is refunded"),
        ("user-interface", "user_interface", "the button for an order that is refunded"),
        ("data", "data", "the csv of the order that is refunded"),
        ("third-party", "third_party", "the vendored code by which the order is refunded"),
        ("prompt", "prompt", "the prompt for an order that is refunded"),
    ],
)
def test_a_text_counts_less_by_its_purpose_unless_it_is_asked_for(
    platform: Platform, local_id: str, purpose: str, about_it: str
) -> None:
    (factor,) = (row.factor for row in PURPOSES if row.name == purpose)
    scores = scores_of(ask(platform), local_id)
    assert (scores.purpose, scores.purpose_factor, scores.kind_factor) == (purpose, factor, factor)
    wanted = scores_of(ask(platform, about_it), local_id)
    assert (wanted.purpose, wanted.purpose_factor, wanted.kind_factor) == (purpose, 1.0, 1.0)


def test_a_release_is_no_question_about_the_change_log(platform: Platform) -> None:
    assert scores_of(ask(platform, "in which release is the order refunded"), "change-log").purpose_factor < 1


def test_code_of_the_product_keeps_its_score(platform: Platform) -> None:
    scores = scores_of(ask(platform), "alone")
    assert (scores.purpose, scores.purpose_factor) == ("product", 1.0)


def test_data_gains_neither_by_its_parts_nor_by_its_length(platform: Platform) -> None:
    response = ask(platform, retrievers=[CODE_WORDS, DENSE], query_vector=[1.0, 0.0])
    parts = [scores_of(response, local_id) for local_id in ("translation", "translation/part")]
    assert [scores.graph for scores in parts] == [0.0, 0.0]
    assert scores_of(response, "data").length_factor == 1.0
    assert scores_of(response, "detailed").length_factor > 1.0


def test_a_test_in_passing_is_no_question_about_tests(platform: Platform) -> None:
    response = ask(platform, "how is an order refunded by the test client")
    assert scores_of(response, "test").kind_factor == 0.5


def test_a_call_for_a_corpus_of_prose_asks_for_prose(platform: Platform) -> None:
    response = ask(platform, "steps by which the order is refunded")
    assert list(response.meta.boosts) == ["procedure"]
    assert scores_of(response, "prose").kind_factor == 1


def passages(platform: Platform, question: str, budget_tokens: int) -> dict[str, str]:
    """The explanations of passages, by the local ids of their nodes."""
    request = evidence_pb2.GatherEvidenceRequest(
        scope=RANKING,
        question=question,
        budget_tokens=budget_tokens,
        explain=True,
        retrievers=[CODE_WORDS],
        filter=NodeFilter(path_prefixes=["docs/", "web/", "LICENSE", "AGENTS.md", "src/another.cs", "src/called.cs"]),
    )
    response = platform.stub.GatherEvidence(request, timeout=300)
    return {passage.id.split("::", 3)[-1]: passage.explanation for passage in response.passages}


def test_evidence_explains_the_purpose(platform: Platform) -> None:
    reason = "it is a change log, which the question does not ask for, so its score was multiplied by 0.5"
    assert reason in passages(platform, QUESTION, 8_000)["change-log"]
    assert "it is a change log" not in passages(platform, f"{QUESTION}, by the changelog", 8_000)["change-log"]


def test_evidence_has_room_for_texts_that_the_question_asks_for(platform: Platform) -> None:
    aside = {"agents", "licence", "change-log", "translation", "translation/part"}
    seldom = passages(platform, QUESTION, 1_500)
    wanted = passages(platform, f"{QUESTION} in the translated changelog and license for agents", 1_500)
    assert len(aside & wanted.keys()) > len(aside & seldom.keys())


def test_a_fragment_counts_less(platform: Platform) -> None:
    response = ask(platform)
    assert scores_of(response, "fragment").kind_factor == 0.85
    assert scores_of(response, "alone").kind_factor == 1


def test_a_longer_text_counts_more(platform: Platform) -> None:
    """`brief` and `detailed` are found by their vectors alone, which are equal; `detailed` has ten times the text."""
    pair = ["detailed", "brief"]
    fields = {"retrievers": [DENSE], "query_vector": [1.0, 0.0]}
    assert [
        chunk_id for chunk_id in order(platform, fusion=FUSION_MODE_WEIGHTED, **fields) if chunk_id in pair
    ] == pair[::-1]
    response = ask(platform, **fields)
    assert [match.meta.chunk_id for match in response.matches if match.meta.chunk_id in pair] == pair
    for match in response.matches:
        is_data = match.scores.purpose in ("data", "translation")
        expected = 1.0 if is_data else (min(max(len(match.text), 150), 6_000) / 150) ** 0.125
        assert match.scores.length_factor == pytest.approx(expected, rel=1e-12)


def test_the_member_with_the_words_answers_for_its_file(platform: Platform) -> None:
    response = ask(platform, retrievers=[CODE_WORDS, DENSE], query_vector=[1.0, 0.0])
    best: dict[str, float] = {}
    for match in response.matches:
        best[match.location.path] = max(best.get(match.location.path, 0.0), match.scores.bm25_code)
    for match in response.matches:
        highest = best[match.location.path]
        share = match.scores.bm25_code / highest if highest else 1.0
        assert match.scores.within_file_factor == pytest.approx(0.75 + 0.25 * share, rel=1e-12)
    assert scores_of(response, "outside/rest").within_file_factor == 0.75


def test_length_and_words_tell_texts_without_edges_nothing(platform: Platform) -> None:
    response = ask(platform, filter=NodeFilter(corpus_types=["DOC_GENERAL"]))
    (scores,) = (match.scores for match in response.matches)
    assert (scores.length_factor, scores.within_file_factor) == (1.0, 1.0)


def test_a_match_gains_by_neighbours_that_match(platform: Platform) -> None:
    """`called` and `unrelated` are alike, but a match calls the first one; doubtful edges and others give nothing."""
    assert order(platform, fusion=FUSION_MODE_WEIGHTED).index("called") > order(
        platform, fusion=FUSION_MODE_WEIGHTED
    ).index("another")
    response = ask(platform)
    graph = {match.meta.chunk_id: match.scores.graph for match in response.matches}
    assert graph["called"] == 1.0
    assert (graph["another"], graph["doubtful"]) == (0.0, 0.0)
    ids = [match.meta.chunk_id for match in response.matches]
    assert ids.index("called") < ids.index("another")


def test_many_neighbours_lessen_what_each_gives(platform: Platform) -> None:
    graph = {match.meta.chunk_id: match.scores.graph for match in ask(platform).matches}
    assert 0 < graph["hub"] < graph["called"]


def test_hidden_neighbours_and_files_give_nothing(platform: Platform) -> None:
    """The hidden node calls `another` and speaks of the question in its file; who may see it, sees its effect."""
    everyone, insider = (ask(platform, access=access) for access in (None, AccessContext(acl_tags_any=["inside"])))
    assert scores_of(everyone, "another").graph == 0.0
    assert scores_of(insider, "another").graph > 0.0
    assert scores_of(insider, "another").file > scores_of(everyone, "another").file


def test_better_matches_of_a_file_leave_room_for_others(platform: Platform) -> None:
    """Three members of one file are better than another file's; each after the first counts less."""
    crowded = [
        chunk_id
        for chunk_id in order(platform, fusion=FUSION_MODE_WEIGHTED)
        if chunk_id.startswith("crowd") or chunk_id == "outside"
    ]
    assert crowded == ["crowd/1", "crowd/2", "crowd/3", "outside"]
    response = ask(platform)
    ids = [match.meta.chunk_id for match in response.matches]
    assert ids.index("crowd/1") < ids.index("crowd/2") < ids.index("outside") < ids.index("crowd/3")
    assert [scores_of(response, f"crowd/{number}").repeat_factor for number in (1, 2, 3)] == [1.0, 0.85, 0.85**2]
    finals = [match.scores.final for match in response.matches]
    assert finals == sorted(finals, reverse=True)


def test_who_asks_by_name_gets_the_order_of_the_fusion(platform: Platform) -> None:
    response = ask(platform, "RefundOrder")
    assert response.meta.ranking == RankingParameters()
    for match in response.matches:
        scores = match.scores
        assert (scores.kind_factor, scores.repeat_factor) == (1.0, 1.0)
        assert (scores.HasField("file"), scores.HasField("graph")) == (False, False)
        assert scores.final == scores.fused


def test_parameters_in_effect_are_told(platform: Platform) -> None:
    assert ask(platform).meta.ranking == RankingParameters(
        file_weight=0.3,
        test_factor=0.5,
        generated_factor=0.5,
        prose_factor=0.75,
        fragment_factor=0.85,
        graph_weight=0.3,
        repeat_factor=0.85,
        length_exponent=0.125,
        within_file_factor=0.75,
        purpose_factors=[
            PurposeFactor(purpose=row.name, factor=row.factor) for row in PURPOSES if row.name != "product"
        ],
    )


def test_parameters_without_effect_are_not_told(platform: Platform) -> None:
    """The factors of what the question is about, and the file's weight without BM25 over code."""
    ranking = ask(platform, "which tests and generated docs explain refunds", retrievers=[TRIGRAM]).meta.ranking
    assert {factor.purpose for factor in ranking.purpose_factors}.isdisjoint({"test", "generated", "documentation"})
    ranking.ClearField("purpose_factors")
    assert ranking == RankingParameters(
        fragment_factor=0.85, graph_weight=0.3, repeat_factor=0.85, length_exponent=0.125
    )


def test_the_final_score_is_what_the_contract_says(platform: Platform) -> None:
    response = ask(platform)
    for match in response.matches:
        scores, ranking = match.scores, response.meta.ranking
        relevance = (scores.fused + ranking.file_weight * scores.file) * scores.kind_factor
        relevance *= scores.length_factor * scores.within_file_factor
        expected = (relevance + ranking.graph_weight * scores.graph) * scores.boost * scores.repeat_factor
        assert scores.final == pytest.approx(expected, rel=1e-12)
        assert match.score == scores.final
