"""`persist_turn_and_finalize`: stores the finished turn, then ends the run with its answer."""

from groundwire_pipelines.action_definition import Action, DataFlow, Outcome
from groundwire_pipelines.actions.finalize import FinalAnswerSettings, answer_for_user, prompts_of
from groundwire_pipelines.actions.load_conversation_history import conversation_history
from groundwire_pipelines.errors import StepError
from groundwire_pipelines.runtime import Runtime, Turn
from groundwire_pipelines.state import PipelineState


async def run(settings: FinalAnswerSettings, state: PipelineState, runtime: Runtime) -> Outcome:
    """Sets `final_answer` after the turn is stored, so an answer that a run returned is never lost.

    A run without a session stores nothing.

    Raises:
        StepError: `answer-missing`, `history-missing`, `user-missing`, and what the history or a model call raises.
    """
    state.final_answer_en = state.final_answer_en or state.model_answer
    if not state.final_answer_en:
        raise StepError("answer-missing", "there is no answer to store; to end a run with evidence only, use finalize")
    answer, detail = await answer_for_user(settings, state, runtime)
    if state.session_id:
        turn = Turn(state.user_question, state.user_question_en or state.user_question, state.final_answer_en, answer)
        await conversation_history(state, runtime).append(state.user_id, state.session_id, turn)
    state.final_answer = answer
    return Outcome(detail={**detail, "persisted": bool(state.session_id)})


ACTION = Action(
    name="persist_turn_and_finalize",
    summary="Stores the turn durably and ends the run with the answer in the user's language.",
    settings=FinalAnswerSettings,
    run=run,
    transitions=(),
    prompts_of=prompts_of,
    data_of=lambda _: DataFlow(reads=(("final_answer_en", "model_answer"),), writes=("final_answer",)),
)
