"""`check_retrieval`: which transition after which search."""

from typing import Any

import pytest
from pydantic import JsonValue

from groundwire_client import ExpandDebug, SearchHit
from groundwire_pipelines.actions.check_retrieval import ACTION, CheckRetrievalSettings
from groundwire_pipelines.errors import StepError
from groundwire_pipelines.state import SearchReport
from support.retrieval import FakeRetrieval, make_runtime, make_state, place, run_action

ALL: dict[str, JsonValue] = {"few_below": 3, "weak_below": 0.3, "truncated": True}


def walk(reason: str) -> ExpandDebug:
    return ExpandDebug(seed_count=1, expanded_count=2, edges_count=1, truncated=reason != "ok", reason=reason)


@pytest.mark.parametrize(
    ("report", "reason", "way"),
    [
        (SearchReport(0, similarity=0.1), "ok", "on_none"),
        (SearchReport(0, reason="filters_exclude_each_other"), "ok", "on_none"),
        (SearchReport(2, similarity=0.1), "ok", "on_few"),
        (SearchReport(3, similarity=0.29), "limit_reached", "on_weak"),
        (SearchReport(3, similarity=0.3), "ok", "on_ok"),
        (SearchReport(3), "ok", "on_ok"),
        (SearchReport(3, similarity=-0.2), "ok", "on_weak"),
        (SearchReport(3), "limit_reached", "on_truncated"),
        (SearchReport(3), "response_limit", "on_truncated"),
        (SearchReport(3), "depth_reached", "on_ok"),
        (SearchReport(3, is_cut=True), "ok", "on_truncated"),
    ],
)
def test_the_first_way_that_holds_is_taken(report: SearchReport, reason: str, way: str) -> None:
    state = make_state(search_report=report, graph_debug=walk(reason))
    outcome = run_action(ACTION, ALL, state, make_runtime(FakeRetrieval()))
    assert outcome.transition == way
    assert outcome.detail["hits"] == report.hits


@pytest.mark.parametrize(
    ("raw", "ways"),
    [
        ({}, ("on_none", "on_ok")),
        ({"few_below": 2}, ("on_none", "on_few", "on_ok")),
        ({"weak_below": 0.5}, ("on_none", "on_weak", "on_ok")),
        ({"words_below": 0.5}, ("on_none", "on_weak", "on_ok")),
        (ALL, ("on_none", "on_few", "on_weak", "on_truncated", "on_ok")),
    ],
)
def test_only_what_a_step_judges_are_transitions_of_it(raw: dict[str, Any], ways: tuple[str, ...]) -> None:
    assert ACTION.transitions_of is not None
    assert ACTION.transitions_of(CheckRetrievalSettings(**raw)) == ways
    assert set(ways) <= set(ACTION.transitions)
    state = make_state(search_report=SearchReport(1, similarity=0.9, is_cut=True))
    assert run_action(ACTION, raw, state, make_runtime(FakeRetrieval())).transition in ways


def test_what_no_search_told_is_said_to_be_unknown() -> None:
    state = make_state(search_report=SearchReport(5))
    outcome = run_action(ACTION, ALL, state, make_runtime(FakeRetrieval()))
    assert outcome.detail == {"hits": 5, "similarity": "unknown", "words": "unknown", "truncated": False}


@pytest.mark.parametrize(
    ("similarity", "words", "is_weak"),
    [
        (0.27, 0.5, True),
        (0.27, None, True),
        (0.28, 0.0, False),
        (0.27, 0.6, False),
        (None, 0.27, True),
        (None, 0.28, False),
        (None, None, False),
    ],
)
def test_hits_are_weak_by_similarity_or_without_one_by_words(
    similarity: float | None, words: float | None, is_weak: bool
) -> None:
    """A hit with most of the words is not weak, whatever its similarity."""
    state = make_state(search_report=SearchReport(3, similarity=similarity, words=words))
    outcome = run_action(ACTION, {"weak_below": 0.28, "words_below": 0.28}, state, make_runtime(FakeRetrieval()))
    assert outcome.transition == ("on_weak" if is_weak else "on_ok")
    assert state.search_report is not None
    assert state.search_report.is_weak == is_weak
    assert state.final_answer_en == ""


def test_who_gives_up_says_how_weak_the_matches_are_and_where_they_stand() -> None:
    hit = SearchHit(id="a", rank=1, symbol="Tax.Rate", location=place("src/Tax.cs", 3, 9))
    report = SearchReport(1, similarity=0.214, words=0.5)
    state = make_state(search_report=report, retrieval_seed_nodes=["a"], retrieval_hits=[hit])
    raw: dict[str, JsonValue] = {"weak_below": 0.28, "gives_up": True}
    assert run_action(ACTION, raw, state, make_runtime(FakeRetrieval())).transition == "on_weak"
    assert state.final_answer_en == (
        "Only weak matches were found in shop (main): the best have a similarity of 0.21 to the query and 50% of its "
        "words. Ask in other words, or name files, types or functions. The nearest places:\n- src/Tax.cs:3-9 Tax.Rate"
    )
    nothing = make_state(search_report=SearchReport(0))
    assert run_action(ACTION, raw, nothing, make_runtime(FakeRetrieval())).transition == "on_none"
    assert nothing.final_answer_en == "Nothing was found in shop (main)."


def test_without_a_search_there_is_nothing_to_judge() -> None:
    with pytest.raises(StepError, match="put gather_evidence, search_nodes, query or find_paths there") as caught:
        run_action(ACTION, {}, make_state(), make_runtime(FakeRetrieval()))
    assert caught.value.rule == "search-missing"


@pytest.mark.parametrize("raw", [{"few_below": 1}, {"weak_below": 0}, {"weak_below": 1.5}, {"words_below": 0}])
def test_a_bound_that_judges_nothing_is_refused(raw: dict[str, JsonValue]) -> None:
    with pytest.raises(StepError, match=next(iter(raw))):
        run_action(ACTION, raw, make_state(), make_runtime(FakeRetrieval()))
