"""`finalize`: ends a run with its answer, or with its evidence if no model answered."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from groundwire_pipelines.action_definition import Action, DataFlow, Outcome
from groundwire_pipelines.action_parts.ask_model import ModelSettings, ask_prompt, is_final
from groundwire_pipelines.action_parts.evidence_text import evidence_or_reason
from groundwire_pipelines.errors import StepError
from groundwire_pipelines.runtime import Runtime
from groundwire_pipelines.state import PipelineState

_NOT_TRANSLATED = "(This answer is in English, because its translation failed.)"


class FinalAnswerSettings(ModelSettings):
    """Keys of the actions that end a run."""

    prompt: Annotated[str | None, Field(min_length=1)] = None
    """The prompt that translates `answer` into the language of `question`; without it, questions in languages other
    than English fail."""


async def answer_for_user(
    settings: FinalAnswerSettings, state: PipelineState, runtime: Runtime
) -> tuple[str, Mapping[str, str | int | float | bool]]:
    """The final answer in the language of the question, and details for the trace.

    A translation is passed to `on_answer` in one piece. If the model fails at it, the answer is the English one with a
    note.

    Raises:
        StepError: `translation-prompt-missing`, and what a model call raises.
    """
    answer = _tidied(state.final_answer_en)
    if state.is_english:
        return answer, {"translated": False}
    if settings.prompt is None:
        raise StepError(
            "translation-prompt-missing", "the question is not in English: give the step a `prompt` that translates"
        )
    variables = {"answer": answer, "question": state.user_question}
    detail: Mapping[str, str | int | float | bool] = {"translated": True}
    try:
        translated = _tidied(await ask_prompt(runtime, settings, settings.prompt, variables))
    except StepError as error:
        if not is_final(error, runtime):
            raise
        translated, detail = f"{answer}\n\n{_NOT_TRANSLATED}", {"translated": False, "translation_failed": error.rule}
    if runtime.on_answer is not None:
        runtime.on_answer(translated)
    return translated, detail


def prompts_of(settings: FinalAnswerSettings) -> dict[str, frozenset[str]]:
    """The prompts that an ending step uses, with their variables."""
    return {} if settings.prompt is None else {settings.prompt: frozenset({"answer", "question"})}


def _tidied(text: str) -> str:
    return "\n".join(text.strip().splitlines())


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
    state.final_answer, detail = await answer_for_user(settings, state, runtime)
    return Outcome(detail={**detail, "evidence_only": False})


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
