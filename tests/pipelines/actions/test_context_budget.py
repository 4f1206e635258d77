"""`check_context_budget` and `summarize_context`."""

from typing import Any

import pytest
from pydantic import JsonValue

from groundwire_pipelines.action_definition import Action
from groundwire_pipelines.actions import check_context_budget, summarize_context
from groundwire_pipelines.errors import StepError
from groundwire_pipelines.state import PipelineState
from support.model import Conversation, conversation
from support.retrieval import make_state, run_action, shown, text

PROMPT = {"prompt": "summarize_context"}
PLACES = "src/a.py\n[1] 1-3 Symbol.a\nsrc/b.py\n[12] 1-3 Symbol.b"
"""The rows with their files, of eight words."""
SHORT_PLACES = "[1] src/a.py:1-3 Symbol.a\n[12] src/b.py:1-3 Symbol.b"
"""The same of six words, if these take more than half of the budget."""


def make_evidence(**fields: object) -> PipelineState:
    given = {
        "user_question_en": "where is VAT?",
        "node_texts": [text("a"), text("b"), text("c")],
        "shown": [shown(1, "a"), shown(12, "b")],
        "context_blocks": ["src/a.py\n[1] 1-3 Symbol.a\n1 source\nsrc/b.py\n[12] 1-3 Symbol.b\n1 source"],
    }
    return make_state(**{**given, **fields})


@pytest.mark.parametrize(("limit", "transition"), [(12, "on_ok"), (11, "on_over_limit")])
def test_the_evidence_is_compared_with_its_budget(limit: int, transition: str) -> None:
    run = conversation(max_context_tokens=limit)
    outcome = run_action(check_context_budget.ACTION, {}, make_evidence(), run.runtime)
    assert outcome.transition == transition
    assert outcome.detail == {"context_tokens": 12, "max_context_tokens": limit}


@pytest.mark.parametrize("limit", [None, 0, -1])
@pytest.mark.parametrize("action", [check_context_budget.ACTION, summarize_context.ACTION], ids=lambda it: it.name)
def test_the_budget_must_be_above_0(action: Action[Any], limit: int | None) -> None:
    run = conversation(max_context_tokens=limit)
    raw = PROMPT if action is summarize_context.ACTION else {}
    with pytest.raises(StepError) as caught:
        run_action(action, raw, make_evidence(), run.runtime)
    assert caught.value.rule == "max-context-tokens-missing"


def summarize(run: Conversation, state: PipelineState) -> None:
    run_action(summarize_context.ACTION, PROMPT, state, run.runtime)


def test_the_summary_takes_the_place_of_all_evidence() -> None:
    run = conversation(" [1] calls [12]. \n", max_context_tokens=9)
    state = make_evidence()
    context = "\n\n".join(state.context_blocks)
    summarize(run, state)
    assert run.model.prompts == ["summarize_context"]
    assert run.prompts.given == [
        {
            "question": "where is VAT?",
            "context": context,
            "identifiers": "[1] [12]",
            "max_tokens": "3",
            "correction": "",
        }
    ]
    assert state.context_blocks == [SHORT_PLACES, "[1] calls [12]."]
    assert [source.handle for source in state.shown] == [1, 12]
    assert run.answer_parts == []


@pytest.mark.parametrize(("budget", "kept"), [(30, True), (29, False)])
def test_edges_and_names_are_kept_beside_the_summary_within_half_the_budget(budget: int, *, kept: bool) -> None:
    named = "not shown:\n- src/c.py:4-9 Symbol.c"
    run = conversation("[1] calls [12].", max_context_tokens=budget)
    state = make_evidence()
    state.context_blocks = [f"{state.context_blocks[0]}\n{named}", "a note"]
    summarize(run, state)
    places = f"{PLACES}\n{named}\na note"
    assert state.context_blocks == [places if kept else SHORT_PLACES, "[1] calls [12]."]


@pytest.mark.parametrize(
    ("bad", "correction"),
    [
        ("nothing", "the summary of the evidence lost these handles: [1], [12]"),
        ("[1]", "the summary of the evidence lost these handles: [12]"),
        ("[12] 1", "the summary of the evidence lost these handles: [1]"),
        ("[1] [12] a b", "the summary of the evidence takes 10 tokens of 9 with the places"),
    ],
)
def test_a_bad_summary_goes_back_once_with_what_is_wrong(bad: str, correction: str) -> None:
    run = conversation(bad, "[1], [12]", max_context_tokens=9)
    state = make_evidence()
    summarize(run, state)
    assert state.context_blocks == [SHORT_PLACES, "[1], [12]"]
    corrections = [given["correction"] for given in run.prompts.given]
    assert corrections == ["", f"Your last attempt was refused: {correction}"]


@pytest.mark.parametrize(
    ("second", "budget", "kept"),
    [
        ("[1] only", 11, "[1] only\nNot summarised: [12]"),
        ("nothing of any", 13, "nothing of any\nNot summarised: [1] [12]"),
        ("[1] [12] a b c d", 10, "[1] [12] a …"),
        ("a b c d e f [1] [12]", 13, "a b …\nNot summarised: [1] [12]"),
        ("a b c", 10, ""),
        ("a b c", 9, ""),
        ("<think>thoughts", 11, ""),
    ],
)
def test_a_second_bad_summary_is_mended(second: str, budget: int, kept: str) -> None:
    run = conversation("nothing", second, max_context_tokens=budget)
    state = make_evidence()
    outcome = run_action(summarize_context.ACTION, PROMPT, state, run.runtime)
    assert state.context_blocks == ([SHORT_PLACES, kept] if kept else [SHORT_PLACES])
    assert outcome.detail["mended"] is bool(kept)
    assert outcome.detail["context_tokens"] == len("\n\n".join(state.context_blocks).split()) <= budget


def test_its_prompt_may_be_given_more() -> None:
    run = conversation("[1] [12]", max_context_tokens=20)
    state = make_evidence(rewritten_question="vat rates")
    raw: dict[str, JsonValue] = {**PROMPT, "variables": ["rewritten_question"]}
    run_action(summarize_context.ACTION, raw, state, run.runtime)
    assert run.prompts.given[0]["rewritten_question"] == "vat rates"
    settings = summarize_context.ACTION.settings(prompt="p", variables=("rewritten_question",))
    assert "rewritten_question" in summarize_context.ACTION.prompts_of(settings)["p"]


def test_places_that_take_the_whole_budget_leave_no_summary() -> None:
    with pytest.raises(StepError, match="raise it") as caught:
        summarize(conversation(max_context_tokens=6), make_evidence())
    assert caught.value.rule == "context-over-budget"


def test_a_question_in_another_language_must_be_known_in_english() -> None:
    with pytest.raises(StepError) as caught:
        summarize(conversation(), make_evidence(user_question_en="", is_english=False))
    assert caught.value.rule == "question-not-translated"
