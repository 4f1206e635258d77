"""Of several definitions of one object Query ranks the current one first, and says so."""

import pytest

from groundwire.v1 import evidence_pb2, query_pb2
from groundwire.v1.query_pb2 import FUSION_MODE_RRF, FUSION_MODE_WEIGHTED, FusionMode, QueryClass
from groundwire.v1.scope_pb2 import AccessContext, NodeFilter
from support.platform import CODE_WORDS, REDEFINED, Platform, timestamp

QUESTION = "how is an invoice closed"
NAME = "SettleInvoice"
INSIDER = AccessContext(acl_tags_any=["inside"])
DEFINITIONS = {"current", "first", "second", "secret"}


def ask(platform: Platform, query: str = QUESTION, **fields: object) -> query_pb2.QueryResponse:
    return platform.ask(query, **{"scope": REDEFINED, "retrievers": [CODE_WORDS], "top_k": 100, **fields})


def order(response: query_pb2.QueryResponse) -> list[str]:
    """The local ids of the definitions, best first."""
    return [match.meta.chunk_id for match in response.matches if match.meta.chunk_id in DEFINITIONS]


def scores_of(response: query_pb2.QueryResponse, local_id: str) -> query_pb2.StageScores:
    (match,) = (match for match in response.matches if match.meta.chunk_id == local_id)
    return match.scores


def test_the_current_definition_comes_before_older_ones_that_match_better(platform: Platform) -> None:
    assert order(ask(platform, fusion=FUSION_MODE_WEIGHTED)) == ["first", "second", "current"]
    response = ask(platform)
    assert order(response) == ["current", "first", "second"]
    finals = [match.scores.final for match in response.matches]
    assert finals == sorted(finals, reverse=True)


def test_the_scores_say_why(platform: Platform) -> None:
    response = ask(platform)
    current, first, second, other = (scores_of(response, name) for name in ("current", "first", "second", "other"))
    assert (current.older_definitions, current.older_definition_factor) == (2, 1.0)
    assert current.final == current.best_older_definition
    assert first.final == pytest.approx(0.5 * current.best_older_definition, rel=1e-12)
    assert (first.older_definition_factor, second.older_definition_factor) == (0.5, 0.5)
    assert (first.older_definitions, first.HasField("best_older_definition")) == (0, False)
    assert (other.older_definition_factor, other.older_definitions) == (1.0, 0), "the edge is not sure enough"
    assert response.meta.ranking.older_definition_factor == 0.5


def test_the_current_definition_comes_first_for_a_name_too(platform: Platform) -> None:
    response = ask(platform, NAME)
    assert response.meta.query_class == QueryClass.QUERY_CLASS_IDENTIFIER
    assert order(response)[0] == "current"
    assert [field.name for field, _ in response.meta.ranking.ListFields()] == ["older_definition_factor"]


@pytest.mark.parametrize("query", ['"closed invoice"', "releases/1.sql"])
def test_a_quotation_or_a_path_asks_for_a_certain_text(platform: Platform, query: str) -> None:
    response = ask(platform, query)
    assert response.matches
    assert {match.scores.older_definition_factor for match in response.matches} == {1.0}


@pytest.mark.parametrize("fusion", [FUSION_MODE_RRF, FUSION_MODE_WEIGHTED])
def test_a_fusion_that_is_asked_for_keeps_its_order(platform: Platform, fusion: FusionMode.ValueType) -> None:
    response = ask(platform, fusion=fusion)
    assert order(response) == ["first", "second", "current"]
    assert not response.meta.ranking.HasField("older_definition_factor")


def test_a_current_definition_that_is_hidden_or_no_match_has_no_effect(platform: Platform) -> None:
    everyone, insider = ask(platform), ask(platform, access=INSIDER)
    assert order(everyone)[0] == "current"
    assert order(insider)[0] == "secret"
    assert scores_of(insider, "secret").older_definitions == 3
    assert scores_of(insider, "current").older_definition_factor == 0.5
    scripts = ask(platform, filter=NodeFilter(path_prefixes=["releases/"]))
    assert order(scripts) == ["first", "second"]
    assert not scripts.meta.ranking.HasField("older_definition_factor")


def test_the_current_definition_is_found_beyond_the_count_of_the_matches(platform: Platform) -> None:
    assert order(ask(platform, top_k=1)) == ["current"]


def test_with_history_older_definitions_follow_by_their_own_scores(platform: Platform) -> None:
    without, response = ask(platform), ask(platform, history=True)
    assert order(response) == ["current", "first", "second"]
    current, first = scores_of(response, "current"), scores_of(response, "first")
    assert current.final == scores_of(without, "current").final
    assert first.final == pytest.approx(0.95 * current.best_older_definition, rel=1e-12)
    assert response.meta.ranking.older_definition_factor == first.older_definition_factor == 0.95
    places = [match.meta.chunk_id for match in response.matches], [match.meta.chunk_id for match in without.matches]
    assert places[0].index("second") < places[1].index("second")


def test_evidence_with_history_shows_the_older_definitions_after_the_current_one(platform: Platform) -> None:
    request = evidence_pb2.GatherEvidenceRequest(
        scope=REDEFINED, question=QUESTION, budget_tokens=2_000, history=True, now=timestamp("2025-06-01T00:00:00Z")
    )
    response = platform.stub.GatherEvidence(request, timeout=300)
    numbers = {passage.id.rpartition("::")[2]: passage.number for passage in response.passages}
    definitions = sorted(DEFINITIONS & numbers.keys(), key=numbers.__getitem__)
    assert definitions == ["current", "first", "second"]
    assert {passage.copies for passage in response.passages} == {0}
    redefinitions = {
        (edge.from_id.rpartition("::")[2], edge.to_id.rpartition("::")[2])
        for edge in response.edges
        if edge.edge_type == "RedefinedBy"
    }
    assert redefinitions >= {("first", "current"), ("second", "current")}


def test_evidence_shows_the_current_definition_and_counts_the_older_ones(platform: Platform) -> None:
    request = evidence_pb2.GatherEvidenceRequest(
        scope=REDEFINED, question=QUESTION, budget_tokens=2_000, explain=True, now=timestamp("2025-06-01T00:00:00Z")
    )
    response = platform.stub.GatherEvidence(request, timeout=300)
    (passage,) = (candidate for candidate in response.passages if candidate.id.rpartition("::")[2] in DEFINITIONS)
    assert (passage.id.rpartition("::")[2], passage.copies) == ("current", 2)
    assert "the current definition (matches of older ones: 2)" in passage.explanation


def test_an_object_whose_definition_is_asked_comes_first(platform: Platform) -> None:
    """`other` matches better by its words, and the name of `current` is two words of the question."""
    words = "settle invoice open"
    assert all_matches(ask(platform, f"what is the meaning of {words}"))[:2] == ["other", "current"]
    response = ask(platform, f"where is the definition of {words}")
    assert all_matches(response)[:2] == ["current", "other"]
    assert (scores_of(response, "current").boost, scores_of(response, "other").boost) == (3.0, 2.0)
    assert list(response.meta.boosts) == []


def test_sql_counts_more_for_the_definition_of_a_procedure(platform: Platform) -> None:
    response = ask(platform, "where is the definition of the procedure settle invoice open")
    assert (scores_of(response, "current").boost, scores_of(response, "other").boost) == (4.5, 3.0)


def test_a_hidden_object_whose_definition_is_asked_changes_no_score(platform: Platform) -> None:
    question = "where is the definition of the procedure settle invoice"
    outsider, insider = ask(platform, question), ask(platform, question, access=INSIDER)
    assert scores_of(outsider, "current").boost == scores_of(insider, "secret").boost == 4.5
    assert "secret" not in all_matches(outsider)


def all_matches(response: query_pb2.QueryResponse) -> list[str]:
    """The local ids of all matches, best first."""
    return [match.meta.chunk_id for match in response.matches]
