"""`finalize` and `persist_turn_and_finalize`."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import JsonValue

from groundwire_client import ReachedNode, SkippedNode, SkipReason, SourceLocation
from groundwire_pipelines.action_definition import Action
from groundwire_pipelines.actions import call_model, finalize, persist_turn_and_finalize
from groundwire_pipelines.actions.finalize import FinalAnswerSettings
from groundwire_pipelines.errors import StepError
from groundwire_pipelines.history.sqlite import SqliteHistory
from groundwire_pipelines.runtime import Turn
from groundwire_pipelines.state import SearchReport
from support.model import conversation
from support.retrieval import make_state, run_action, text

BOTH = pytest.mark.parametrize(
    "action", [finalize.ACTION, persist_turn_and_finalize.ACTION], ids=["finalize", "persist_turn_and_finalize"]
)
PROMPT = {"prompt": "translate_out"}
FinalAction = Action[FinalAnswerSettings]


@BOTH
def test_an_english_answer_is_given_tidied_and_needs_no_model(action: FinalAction) -> None:
    run = conversation()
    state = make_state(final_answer_en="\n It is\r\na tax.  \n")
    outcome = run_action(action, {}, state, replace(run.runtime, model=None))
    assert state.final_answer == "It is\na tax."
    assert outcome.detail["translated"] is False


@BOTH
def test_another_answer_is_translated_and_told_once_it_is_whole(action: FinalAction) -> None:
    run = conversation("To podatek.\n")
    state = make_state(user_question="Co to?", is_english=False, final_answer_en="It is a tax.")
    outcome = run_action(action, PROMPT, state, run.runtime)
    assert (state.final_answer, state.final_answer_en) == ("To podatek.", "It is a tax.")
    assert run.prompts.given == [{"answer": "It is a tax.", "question": "Co to?"}]
    assert run.answer_parts == ["To podatek."]
    assert outcome.detail["translated"] is True


@BOTH
def test_a_marker_before_a_translation_is_removed(action: FinalAction) -> None:
    run = conversation("[Answer:] To podatek.")
    state = make_state(user_question="Co to?", is_english=False, final_answer_en="It is a tax.")
    run_action(action, PROMPT, state, run.runtime)
    assert (state.final_answer, run.answer_parts) == ("To podatek.", ["To podatek."])


@BOTH
def test_a_translation_needs_a_prompt_and_a_model(action: FinalAction) -> None:
    run = conversation()
    state = make_state(is_english=False, final_answer_en="It is a tax.")
    with pytest.raises(StepError) as caught:
        run_action(action, {}, state, run.runtime)
    assert caught.value.rule == "translation-prompt-missing"
    with pytest.raises(StepError) as caught:
        run_action(action, PROMPT, state, replace(run.runtime, model=None))
    assert caught.value.rule == "model-missing"


@BOTH
def test_it_ends_the_run_and_its_prompt_is_known_before(action: FinalAction) -> None:
    assert action.transitions == ()
    assert action.prompts_of(action.settings()) == {}
    settings = action.settings(prompt="translate_out")
    assert action.prompts_of(settings) == {"translate_out": frozenset({"answer", "question"})}


@pytest.mark.parametrize("is_english", [True, False])
def test_without_an_answer_the_evidence_is_the_result(is_english: bool) -> None:
    run = conversation()
    state = make_state(context_blocks=["node: a", "node: b"], is_english=is_english)
    outcome = run_action(finalize.ACTION, {}, state, run.runtime)
    assert state.final_answer == "node: a\n\nnode: b"
    assert outcome.detail == {"translated": False, "evidence_only": True}


OVER, GONE = (
    SkippedNode(id="a", reason=SkipReason.SKIP_REASON_OVER_BUDGET),
    SkippedNode(id="a", reason=SkipReason.SKIP_REASON_UNAVAILABLE),
)


@pytest.mark.parametrize(
    ("fields", "answer"),
    [
        ({}, "No search was made in shop (main)."),
        ({"search_report": SearchReport(0)}, "Nothing was found in shop (main)."),
        (
            {"search_report": SearchReport(0, is_filtered=True)},
            "Nothing that passes the filter was found in shop (main).",
        ),
        (
            {"search_report": SearchReport(0, reason="filters_exclude_each_other", is_filtered=True)},
            "Nothing was found in shop (main): no node can pass both of its filters.",
        ),
        ({"retrieval_seed_nodes": ["a", "b"]}, "Nodes found in shop (main): 2. No step fetched their texts:\n- a\n- b"),
        (
            {
                "retrieval_seed_nodes": ["a"],
                "graph_expanded_nodes": [
                    ReachedNode(id="b", depth=1, parent_id="a", symbol="B", location=SourceLocation(path="b.py"))
                ],
            },
            "Nodes found in shop (main): 2. No step fetched their texts:\n- a\n- b.py B",
        ),
        (
            {"retrieval_seed_nodes": ["a"], "skipped_texts": [OVER, GONE]},
            "Nodes found in shop (main): 1. None of their texts fits the budget of the step that fetches: raise it or "
            "max_context_tokens.\n- a",
        ),
        (
            {"retrieval_seed_nodes": ["a"], "skipped_texts": [GONE]},
            "Nodes found in shop (main): 1. The texts that were asked for are not there, or not for this caller and "
            "filter:\n- a",
        ),
        (
            {"node_texts": [text("a")]},
            "Texts fetched from shop (main): 1. No step rendered them:\n- src/a.py:1-3 Symbol.a",
        ),
    ],
)
def test_without_evidence_it_is_said_why_and_what_was_found(fields: dict[str, Any], answer: str) -> None:
    state = make_state(**fields)
    run_action(finalize.ACTION, {}, state, conversation().runtime)
    assert state.final_answer == answer
    model = conversation("x")
    asks: dict[str, JsonValue] = {"prompt": "answer", "output": "answer", "variables": ["context"]}
    run_action(call_model.ACTION, asks, make_state(**fields), model.runtime)
    assert model.prompts.given == [{"context": answer}]


def test_of_what_was_found_as_much_is_named_as_the_budget_admits() -> None:
    state = make_state(retrieval_seed_nodes=[f"node{number}" for number in range(100)])
    run_action(finalize.ACTION, {}, state, conversation(max_context_tokens=40).runtime)
    lines = state.final_answer.splitlines()
    assert lines[1:3] == ["- node0", "- node1"]
    assert lines[-1] == f"…and {100 - len(lines[1:-1])} more"
    assert len(state.final_answer.split()) <= 40
    run_action(finalize.ACTION, {}, state, conversation(max_context_tokens=None).runtime)
    assert len(state.final_answer.splitlines()) == 101


def test_the_turn_is_stored_whole(tmp_path: Path) -> None:
    history = SqliteHistory(tmp_path / "history.db")
    run = conversation("To podatek.", history=history)
    state = make_state(
        user_question="Co to?",
        user_question_en="What is it?",
        is_english=False,
        final_answer_en="It is a tax.",
        user_id="ann",
        session_id="s",
    )
    outcome = run_action(persist_turn_and_finalize.ACTION, PROMPT, state, run.runtime)
    assert outcome.detail == {"translated": True, "persisted": True}
    stored = asyncio.run(history.load("ann", "s"))
    assert stored.turns == (Turn("Co to?", "What is it?", "It is a tax.", "To podatek."),)


def test_an_answer_is_not_given_before_it_is_stored(tmp_path: Path) -> None:
    run = conversation(history=SqliteHistory(tmp_path))
    state = make_state(final_answer_en="It is a tax.", session_id="s", user_id="ann")
    with pytest.raises(StepError) as caught:
        run_action(persist_turn_and_finalize.ACTION, {}, state, run.runtime)
    assert caught.value.rule == "history-failed"
    assert state.final_answer == ""


def test_without_a_session_nothing_is_stored() -> None:
    state = make_state(final_answer_en="It is a tax.")
    outcome = run_action(persist_turn_and_finalize.ACTION, {}, state, conversation().runtime)
    assert outcome.detail == {"translated": False, "persisted": False}


def test_a_session_of_nobody_stores_nothing(tmp_path: Path) -> None:
    history = SqliteHistory(tmp_path / "history.db")
    state = make_state(final_answer_en="It is a tax.", session_id="s")
    with pytest.raises(StepError) as caught:
        run_action(persist_turn_and_finalize.ACTION, {}, state, conversation(history=history).runtime)
    assert caught.value.rule == "user-missing"
    assert asyncio.run(history.load("", "s")).turns == ()


@pytest.mark.parametrize(
    ("fields", "rule"),
    [({"session_id": "s"}, "answer-missing"), ({"session_id": "s", "final_answer_en": "x"}, "history-missing")],
)
def test_an_answer_and_for_a_session_a_history_are_needed(fields: dict[str, str], rule: str) -> None:
    with pytest.raises(StepError) as caught:
        run_action(persist_turn_and_finalize.ACTION, {}, make_state(**fields), conversation().runtime)
    assert caught.value.rule == rule
