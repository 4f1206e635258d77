"""`finalize`: ends a run with its answer, or with its evidence where no model answered."""

from groundwire_pipelines.actions.definition import Action, DataFlow, Outcome
from groundwire_pipelines.actions.evidence import evidence_text
from groundwire_pipelines.actions.final_answer import FinalAnswerSettings, answer_for_user, prompts_of
from groundwire_pipelines.runtime import Runtime
from groundwire_pipelines.state import PipelineState


async def run(settings: FinalAnswerSettings, state: PipelineState, runtime: Runtime) -> Outcome:
    """Sets `final_answer`: the answer in the user's language; without an answer, the evidence as it is.

    Needs no model for an English question or a run that gathers evidence only.

    Raises:
        StepError: `translation-prompt-missing`, and what a model call raises.
    """
    if not state.final_answer_en:
        state.final_answer = evidence_text(state) or _nothing(state)
        return Outcome(detail={"translated": False, "evidence_only": True})
    state.final_answer = await answer_for_user(settings, state, runtime)
    return Outcome(detail={"translated": not state.is_english, "evidence_only": False})


def _nothing(state: PipelineState) -> str:
    if state.error_message:
        return f"The step {state.error_step!r} failed, so there is no answer: {state.error_message}"
    where = f"{state.repository} ({state.branch})"
    if not state.node_texts:
        return f"Nothing was found in {where}."
    limit = "max_context_tokens (--budget-tokens)"
    return f"Nothing of the {len(state.node_texts)} texts found in {where} fits {limit}: raise it."


ACTION = Action(
    name="finalize",
    summary="Ends the run with the answer in the user's language, or with the evidence.",
    settings=FinalAnswerSettings,
    run=run,
    transitions=(),
    prompts_of=prompts_of,
    data_of=lambda _: DataFlow(
        reads=(("final_answer_en", "context_blocks", "error_message"),), writes=("final_answer",)
    ),
)
