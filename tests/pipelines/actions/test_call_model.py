from dataclasses import replace

import pytest
from pydantic import JsonValue, ValidationError

from groundwire_pipelines.actions.call_model import ACTION
from groundwire_pipelines.errors import StepError
from support.model import conversation
from support.retrieval import make_state, run_action

ANSWER: dict[str, JsonValue] = {"prompt": "answer", "output": "answer", "variables": ["question"]}


def test_the_answer_is_kept_with_its_prefix() -> None:
    run = conversation(" [BM25:] vat\n")
    state = make_state(user_question_en="where is VAT?")
    raw: dict[str, JsonValue] = {"prompt": "router", "output": "router", "variables": ["question"]}
    outcome = run_action(ACTION, raw, state, run.runtime)
    assert state.last_model_response == "[BM25:] vat"
    assert outcome.transition == "next"
    assert run.model.prompts == ["router"]
    assert run.told == []


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("question", "where is VAT?"),
        ("history", "User: a"),
        ("context", "one\n\ntwo"),
        ("modes", "[SEMANTIC:]\n[BM25:]\n[DIRECT:]"),
        ("repository", "shop"),
        ("branch", "main"),
    ],
)
def test_a_prompt_is_given_the_variables_that_its_step_names(variable: str, value: str) -> None:
    run = conversation("x", retrieval_modes=("bm25", "semantic"))
    state = make_state(
        user_question="Gdzie?",
        user_question_en="where is VAT?",
        history_for_prompt="User: a",
        context_blocks=["one", "two"],
    )
    run_action(ACTION, {**ANSWER, "variables": [variable]}, state, run.runtime)
    assert run.prompts.given == [{variable: value}]


def test_what_is_absent_is_said_to_be() -> None:
    run = conversation("x")
    run_action(ACTION, {**ANSWER, "variables": ["history", "context"]}, make_state(), run.runtime)
    assert run.prompts.given == [{"history": "(none)", "context": "No search was made in shop (main)."}]


@pytest.mark.parametrize(
    ("answer", "told"),
    [("[Answer:] It is a tax.", "It is a tax."), ("[Requesting data on:] VatService", ""), ("It is a tax.", "")],
)
def test_only_a_final_answer_is_told_as_it_comes(answer: str, told: str) -> None:
    run = conversation(answer)
    run_action(ACTION, ANSWER, make_state(user_question_en="?"), run.runtime)
    assert "".join(run.told) == told
    assert len(run.told) == len(told)


def test_an_answer_that_is_to_be_translated_is_not_told() -> None:
    run = conversation("[Answer:] It is a tax.")
    run_action(ACTION, ANSWER, make_state(user_question_en="?", is_english=False), run.runtime)
    assert run.told == []


def test_nobody_need_listen() -> None:
    run = conversation("[Answer:] It is a tax.")
    state = make_state(user_question_en="?")
    run_action(ACTION, ANSWER, state, replace(run.runtime, on_answer=None))
    assert state.last_model_response == "[Answer:] It is a tax."


def test_a_model_is_needed() -> None:
    runtime = replace(conversation().runtime, model=None)
    with pytest.raises(StepError, match="set GROUNDWIRE_MODEL_URL and GROUNDWIRE_MODEL_NAME") as caught:
        run_action(ACTION, ANSWER, make_state(user_question_en="?"), runtime)
    assert caught.value.rule == "model-missing"


def test_the_question_must_be_known_in_english() -> None:
    with pytest.raises(StepError) as caught:
        run_action(ACTION, ANSWER, make_state(), conversation().runtime)
    assert caught.value.rule == "question-not-translated"


@pytest.mark.parametrize(
    "change", [{"output": "text"}, {"variables": []}, {"variables": ["context", "answer"]}, {"prompt": ""}]
)
def test_keys_are_checked(change: dict[str, JsonValue]) -> None:
    with pytest.raises(ValidationError):
        ACTION.settings.model_validate({**ANSWER, **change})


def test_its_prompt_is_known_before_it_runs() -> None:
    settings = ACTION.settings(prompt="answer", output="answer", variables=("question", "context"))
    assert ACTION.prompts_of(settings) == {"answer": frozenset({"question", "context"})}
