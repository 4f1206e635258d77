import pytest

from groundwire_pipelines.actions.translate_in_if_needed import ACTION
from groundwire_pipelines.errors import StepError
from support.model import conversation
from support.retrieval import make_state, run_action

PROMPT = {"prompt": "translate_in"}


def test_an_english_question_is_taken_as_it_is() -> None:
    run = conversation()
    state = make_state(user_question="  where is VAT?\n")
    outcome = run_action(ACTION, PROMPT, state, run.runtime)
    assert state.user_question_en == "where is VAT?"
    assert outcome.detail == {"translated": False}
    assert run.model.prompts == []


def test_another_question_is_translated() -> None:
    run = conversation("  Where is VAT? \n")
    state = make_state(user_question="Gdzie jest VAT?", is_english=False)
    outcome = run_action(ACTION, PROMPT, state, run.runtime)
    assert state.user_question_en == "Where is VAT?"
    assert state.user_question == "Gdzie jest VAT?"
    assert outcome.detail == {"translated": True}
    assert run.model.prompts == ["translate_in"]
    assert run.prompts.given == [{"question": "Gdzie jest VAT?"}]
    assert run.answer_parts == []


@pytest.mark.parametrize("question", ["", " \n"])
def test_an_empty_question_is_refused(question: str) -> None:
    with pytest.raises(StepError) as caught:
        run_action(ACTION, PROMPT, make_state(user_question=question), conversation().runtime)
    assert caught.value.rule == "question-empty"


def test_its_prompt_is_known_before_it_runs() -> None:
    settings = ACTION.settings(prompt="translate_in")
    assert ACTION.prompts_of(settings) == {"translate_in": frozenset({"question"})}
