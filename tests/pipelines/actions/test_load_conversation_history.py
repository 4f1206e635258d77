import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from groundwire_pipelines.actions.load_conversation_history import ACTION, format_history
from groundwire_pipelines.errors import StepError
from groundwire_pipelines.history.sqlite import SqliteHistory
from groundwire_pipelines.runtime import StoredHistory, Turn
from groundwire_pipelines.state import PipelineState
from support.model import Conversation, conversation
from support.retrieval import make_state, run_action

PROMPT = {"prompt": "summarize_history"}


def turn(name: str) -> Turn:
    """Takes 6 words of a prompt: `User:` and `Assistant:` with two each."""
    return Turn(f"{name} pl?", f"{name} en?", f"{name} en.", f"{name} pl.")


@pytest.fixture
def history(tmp_path: Path) -> SqliteHistory:
    return SqliteHistory(tmp_path / "history.db")


def append(history: SqliteHistory, *names: str) -> None:
    for name in names:
        asyncio.run(history.append("ann", "s", turn(name)))


def stored(history: SqliteHistory) -> StoredHistory:
    return asyncio.run(history.load("ann", "s"))


def load(run: Conversation) -> PipelineState:
    state = make_state(user_id="ann", session_id="s", user_question_en="where is VAT?")
    run_action(ACTION, PROMPT, state, run.runtime)
    return state


def test_a_history_within_the_budget_is_given_as_it_is_in_english(history: SqliteHistory) -> None:
    append(history, "a", "b")
    state = load(conversation(history=history, max_history_tokens=12))
    assert state.history == [turn("a"), turn("b")]
    assert state.history_summary == ""
    assert state.history_for_prompt == "User: a en?\nAssistant: a en.\n\nUser: b en?\nAssistant: b en."


def test_over_the_budget_it_is_summarised_for_the_question_and_stored(history: SqliteHistory) -> None:
    append(history, "a", "b", "c")
    run = conversation("a to b", history=history, max_history_tokens=17)
    state = load(run)
    assert run.model.prompts == ["summarize_history"]
    assert run.prompts.given == [
        {
            "question": "where is VAT?",
            "history": format_history("", (turn("a"), turn("b"))),
            # What stands before the summary takes 6 of the 17, and so does the last turn.
            "max_tokens": "5",
            "correction": "",
        }
    ]
    assert (state.history, state.history_summary) == ([turn("c")], "a to b")
    assert state.history_for_prompt == format_history("a to b", (turn("c"),))
    assert stored(history) == StoredHistory("a to b", 1, (turn("c"),))


def test_a_last_turn_of_more_than_half_of_the_budget_is_summarised_too(history: SqliteHistory) -> None:
    append(history, "a", "b " * 6)
    state = load(conversation("a to b", history=history, max_history_tokens=17))
    assert (state.history, state.history_for_prompt) == ([], "Summary of the conversation so far:\na to b")


def test_later_turns_are_added_to_the_summary_raw(history: SqliteHistory) -> None:
    append(history, "a", "b", "c")
    load(conversation("a to c", history=history, max_history_tokens=17))
    append(history, "d")
    run = conversation(history=history, max_history_tokens=24)
    state = load(run)
    assert run.model.prompts == []
    assert (state.history, state.history_summary) == ([turn("c"), turn("d")], "a to c")
    assert state.history_for_prompt == format_history("a to c", (turn("c"), turn("d")))


def test_over_the_budget_again_the_summary_and_the_new_turns_are_summarised(history: SqliteHistory) -> None:
    append(history, "a", "b", "c")
    load(conversation("a to c", history=history, max_history_tokens=17))
    append(history, "d", "e")
    run = conversation("a to e", history=history, max_history_tokens=17)
    load(run)
    assert run.prompts.given[0]["history"] == format_history("a to c", (turn("c"), turn("d")))
    assert stored(history) == StoredHistory("a to e", 2, (turn("e"),))


def test_a_summary_that_is_too_long_goes_back_once(history: SqliteHistory) -> None:
    append(history, "a", "b", "c")
    run = conversation("too long " * 9, "a to c", history=history, max_history_tokens=17)
    state = load(run)
    assert state.history_summary == "a to c"
    corrections = [given["correction"] for given in run.prompts.given]
    assert corrections == ["", "Your last attempt was refused: the summary of the history takes 30 tokens of 17"]


TOO_LONG = "too long " * 9
CUT = StepError("model-answer-cut", "stopped")
REFUSED = StepError("model-request-refused", "the prompt is longer than the model's context")


@pytest.mark.parametrize("answers", [(TOO_LONG, TOO_LONG), (CUT, TOO_LONG), (REFUSED, REFUSED), ("<think>a", "")])
def test_without_a_summary_that_fits_the_newest_turns_are_kept(
    history: SqliteHistory, answers: tuple[str | Exception, ...]
) -> None:
    append(history, "a", "b", "c")
    state = load(conversation(*answers, history=history, max_history_tokens=17))
    assert (state.history, state.history_summary) == ([turn("b"), turn("c")], "")
    assert state.history_for_prompt == format_history("", (turn("b"), turn("c")))
    # The next question begins where this one did: what was left out does not grow a prompt again.
    assert stored(history) == StoredHistory("", 1, (turn("b"), turn("c")))
    transcript = asyncio.run(history.transcript("ann", "s"))
    assert transcript is not None
    assert len(transcript.turns) == 3


def test_the_summary_so_far_is_kept_with_the_newest_turns_that_fit(history: SqliteHistory) -> None:
    append(history, "a", "b", "c")
    load(conversation("a to c", history=history, max_history_tokens=17))
    append(history, "d", "e")
    run = conversation(TOO_LONG, TOO_LONG, history=history, max_history_tokens=17)
    state = load(run)
    assert state.history_for_prompt == format_history("a to c", (turn("e"),))
    assert stored(history) == StoredHistory("a to c", 2, (turn("e"),))


def test_a_summary_so_far_that_is_over_a_smaller_budget_is_left_out(history: SqliteHistory) -> None:
    append(history, "a", "b", "c")
    load(conversation("a to c and on", history=history, max_history_tokens=17))
    append(history, "d")
    state = load(conversation(TOO_LONG, TOO_LONG, history=history, max_history_tokens=8))
    assert (state.history, state.history_summary) == ([turn("d")], "")


def test_a_turn_that_alone_is_over_the_budget_is_left_out(history: SqliteHistory) -> None:
    append(history, "a", "word " * 20)
    state = load(conversation(TOO_LONG, TOO_LONG, history=history, max_history_tokens=17))
    assert (state.history, state.history_for_prompt) == ([], "")
    append(history, "b")
    assert load(conversation(history=history, max_history_tokens=17)).history == [turn("b")]


def test_a_budget_that_can_hold_no_summary_asks_for_none(history: SqliteHistory) -> None:
    append(history, "a")
    run = conversation(history=history, max_history_tokens=5)
    state = load(run)
    assert (run.model.prompts, state.history_for_prompt) == ([], "")


def test_what_was_left_out_is_told(history: SqliteHistory) -> None:
    append(history, "a", "b", "c")
    run = conversation(TOO_LONG, TOO_LONG, history=history, max_history_tokens=17)
    state = make_state(user_id="ann", session_id="s", user_question_en="where is VAT?")
    outcome = run_action(ACTION, PROMPT, state, run.runtime)
    assert outcome.detail == {
        "turns": 3,
        "summary_version": 0,
        "summarised": False,
        "history_tokens": 12,
        "turns_left_out": 1,
    }


@pytest.mark.parametrize("rule", ["model-timeout", "model-unauthorised"])
def test_a_model_that_cannot_be_asked_ends_the_run(history: SqliteHistory, rule: str) -> None:
    append(history, "a", "b", "c")
    with pytest.raises(StepError) as caught:
        load(conversation(StepError(rule, "no"), history=history, max_history_tokens=17))
    assert caught.value.rule == rule
    assert stored(history).summary_version == 0


def test_a_summary_of_another_run_that_was_first_stands(history: SqliteHistory) -> None:
    append(history, "a", "b", "c")

    class Slow(SqliteHistory):
        async def load(self, user_id: str, session_id: str) -> StoredHistory:
            loaded = await super().load(user_id, session_id)
            await history.save_summary(user_id, session_id, "theirs", covers=3, previous_version=0)
            return loaded

    run = conversation("ours", history=Slow(history._path), max_history_tokens=17)
    assert load(run).history_summary == "ours"
    assert stored(history) == StoredHistory("theirs", 1, ())


def test_without_a_session_there_is_no_history_and_none_is_needed() -> None:
    run = conversation(max_history_tokens=17)
    state = make_state()
    outcome = run_action(ACTION, PROMPT, state, run.runtime)
    assert state.history_for_prompt == ""
    assert outcome.detail == {"turns": 0, "summarised": False, "history_tokens": 0}


def test_a_session_needs_a_history() -> None:
    with pytest.raises(StepError) as caught:
        load(conversation(max_history_tokens=17))
    assert caught.value.rule == "history-missing"


def test_a_session_needs_somebody_whose_it_is(history: SqliteHistory) -> None:
    append(history, "a")
    state = make_state(session_id="s")
    with pytest.raises(StepError, match="the session 's' but no user: give user_id") as caught:
        run_action(ACTION, PROMPT, state, conversation(history=history, max_history_tokens=17).runtime)
    assert caught.value.rule == "user-missing"
    assert state.history == []


def test_the_budget_is_required(history: SqliteHistory) -> None:
    assert ACTION.required_settings == ("max_history_tokens",)
    with pytest.raises(StepError, match="max_history_tokens") as caught:
        load(conversation(history=history))
    assert caught.value.rule == "settings-key-missing"


def test_a_summary_needs_a_model(history: SqliteHistory) -> None:
    append(history, "a", "b", "c")
    run = conversation(history=history, max_history_tokens=17)
    with pytest.raises(StepError) as caught:
        load(replace(run, runtime=replace(run.runtime, model=None)))
    assert caught.value.rule == "model-missing"
