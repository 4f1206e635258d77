"""`finalize`: ends a run with its answer, or with its evidence if no model answered."""

from groundwire_pipelines.actions.definition import Action, DataFlow, Outcome
from groundwire_pipelines.actions.evidence import evidence_or_reason
from groundwire_pipelines.actions.final_answer import FinalAnswerSettings, answer_for_user, prompts_of
from groundwire_pipelines.runtime import Runtime
from groundwire_pipelines.state import PipelineState


async def run(settings: FinalAnswerSettings, state: PipelineState, runtime: Runtime) -> Outcome:
    """Sets `final_answer`: the answer in the user's language; without an answer, the evidence, or why there is none.

    The answer is the one that a `handle_prefix` or `loop_guard` step made final, else the last one of a `call_model`
    step to what was retrieved.

    Needs no model for an English question or a run that gathers evidence only.

    Raises:
        StepError: `translation-prompt-missing`, and what a model call raises.
    """
    state.final_answer_en = state.final_answer_en or state.model_answer
    if not state.final_answer_en:
        state.final_answer = evidence_or_reason(state, runtime)
        return Outcome(detail={"translated": False, "evidence_only": True})
    state.final_answer = await answer_for_user(settings, state, runtime)
    return Outcome(detail={"translated": not state.is_english, "evidence_only": False})


ACTION = Action(
    name="finalize",
    summary="Ends the run with the answer in the user's language, or with the evidence.",
    settings=FinalAnswerSettings,
    run=run,
    transitions=(),
    prompts_of=prompts_of,
    data_of=lambda _: DataFlow(
        reads=(("final_answer_en", "model_answer", "context_blocks", "search_report", "error_message"),),
        writes=("final_answer",),
    ),
)
