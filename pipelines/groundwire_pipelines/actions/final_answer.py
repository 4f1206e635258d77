"""The answer as the user gets it, in the user's language. Shared by the two actions that end a run."""

from typing import Annotated

from pydantic import Field

from groundwire_pipelines.actions.model_calls import ModelSettings, ask_prompt
from groundwire_pipelines.errors import StepError
from groundwire_pipelines.runtime import Runtime
from groundwire_pipelines.state import PipelineState


class FinalAnswerSettings(ModelSettings):
    """Keys of the actions that end a run."""

    prompt: Annotated[str | None, Field(min_length=1)] = None
    """The prompt that translates `answer` into the language of `question`; without it, questions in languages other
    than English fail."""


async def answer_for_user(settings: FinalAnswerSettings, state: PipelineState, runtime: Runtime) -> str:
    """The final answer in the language of the question.

    A translation is passed to `on_answer` in one piece.

    Raises:
        StepError: `translation-prompt-missing`, and what a model call raises.
    """
    answer = _tidied(state.final_answer_en)
    if state.is_english:
        return answer
    if settings.prompt is None:
        raise StepError(
            "translation-prompt-missing", "the question is not in English: give the step a `prompt` that translates"
        )
    variables = {"answer": answer, "question": state.user_question}
    translated = _tidied(await ask_prompt(runtime, settings, settings.prompt, variables))
    if runtime.on_answer is not None:
        runtime.on_answer(translated)
    return translated


def prompts_of(settings: FinalAnswerSettings) -> dict[str, frozenset[str]]:
    """The prompts that an ending step uses, with their variables."""
    return {} if settings.prompt is None else {settings.prompt: frozenset({"answer", "question"})}


def _tidied(text: str) -> str:
    return "\n".join(text.strip().splitlines())
