"""`translate_in_if_needed`: translates the question into English, for every later prompt."""

from typing import Annotated

from pydantic import Field

from groundwire_pipelines.action_definition import Action, DataFlow, Outcome
from groundwire_pipelines.action_parts.ask_model import ModelSettings, ask_prompt
from groundwire_pipelines.errors import StepError
from groundwire_pipelines.runtime import Runtime
from groundwire_pipelines.state import PipelineState


class TranslateInSettings(ModelSettings):
    """Keys of `translate_in_if_needed`."""

    prompt: Annotated[str, Field(min_length=1)]
    """The prompt that translates `question` into English."""


async def run(settings: TranslateInSettings, state: PipelineState, runtime: Runtime) -> Outcome:
    """Sets `user_question_en`: the question itself if it is in English, else the model's translation.

    Raises:
        StepError: `question-empty`, and what a model call raises.
    """
    question = state.user_question.strip()
    if not question:
        raise StepError("question-empty", "the question is empty")
    if not state.is_english:
        question = await ask_prompt(runtime, settings, settings.prompt, {"question": question})
    state.user_question_en = question
    return Outcome(detail={"translated": not state.is_english})


ACTION = Action(
    name="translate_in_if_needed",
    summary="Translates the question into English if needed.",
    settings=TranslateInSettings,
    run=run,
    prompts_of=lambda settings: {settings.prompt: frozenset({"question"})},
    data_of=lambda _: DataFlow(writes=("user_question_en",)),
)
