import pytest

from groundwire_pipelines.actions.loop_guard import ACTION
from groundwire_pipelines.errors import StepError
from support.model import conversation
from support.retrieval import make_state, run_action, shown


def test_goes_on_until_the_limit_is_passed() -> None:
    run = conversation(max_turn_loops=2)
    state = make_state(last_model_response="VatService")
    ways = [run_action(ACTION, {}, state, run.runtime).transition for _ in range(3)]
    assert ways == ["on_continue", "on_continue", "on_limit"]
    assert state.turn_loop_counter == 3


def test_without_loops_the_first_request_is_the_limit() -> None:
    outcome = run_action(ACTION, {}, make_state(last_model_response="x"), conversation(max_turn_loops=0).runtime)
    assert outcome.transition == "on_limit"
    assert outcome.detail == {"turn_loop_counter": 1, "max_turn_loops": 0}


def test_the_explanation_names_what_was_looked_for_and_claims_nothing() -> None:
    run = conversation(max_turn_loops=1)
    state = make_state(last_model_response="VatService", context_blocks=["secret: VAT is 3 %"])
    run_action(ACTION, {}, state, run.runtime)
    state.last_model_response = "the table of rates"
    run_action(ACTION, {}, state, run.runtime)
    assert state.final_answer_en == (
        "The evidence found in shop (main) does not suffice to answer this question, and the limit of follow-up "
        "searches is reached. What was still looked for:\n- VatService\n- the table of rates\n"
        "Ask about one of these directly, or name the files or symbols that matter."
    )
    assert run.model.prompts == []


def test_the_evidence_so_far_is_kept_for_the_next_answer() -> None:
    run = conversation(max_turn_loops=3)
    state = make_state(
        last_model_response="x",
        shown=[shown(1, "a"), shown(2, "c")],
        context_blocks=["table", "[1]", "[2]"],
    )
    run_action(ACTION, {}, state, run.runtime)
    assert state.earlier_context_blocks == ["table", "[1]", "[2]"]
    assert state.earlier_shown == [shown(1, "a"), shown(2, "c")]
    assert (state.shown, state.context_blocks) == ([], [])
    state.shown, state.context_blocks = [shown(3, "d")], ["another table", "[3]"]
    run_action(ACTION, {}, state, run.runtime)
    assert state.earlier_context_blocks == ["table", "[1]", "[2]", "another table", "[3]"]
    assert [one.handle for one in state.earlier_shown] == [1, 2, 3]


def test_the_limit_is_required() -> None:
    assert ACTION.required_settings == ("max_turn_loops",)
    assert ACTION.guards_loops
    with pytest.raises(StepError, match="max_turn_loops") as caught:
        run_action(ACTION, {}, make_state(), conversation().runtime)
    assert caught.value.rule == "settings-key-missing"
