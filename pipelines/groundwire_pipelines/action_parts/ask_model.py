"""Shared by the actions that call the model: their keys, the call, and a second try after a check of the answer."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Final

from pydantic import Field

from groundwire_pipelines.action_definition import StepSettings
from groundwire_pipelines.errors import StepError
from groundwire_pipelines.parsing.prefixes import AnswerStream, without_markers, without_reasoning
from groundwire_pipelines.runtime import Message, ModelRequest, ResponseSchema, Runtime
from groundwire_pipelines.state import PipelineState

_EMPTY: Final = "model-answer-empty"
_UNUSABLE: Final = frozenset({"model-answer-cut", _EMPTY, "model-request-refused"})
"""The errors of a model that might succeed with an easier request."""


class ModelSettings(StepSettings):
    """The keys of every step that asks the model."""

    model: Annotated[str | None, Field(min_length=1)] = None
    """The endpoint's model to call; that of GROUNDWIRE_MODEL_NAME when absent."""
    temperature: Annotated[float | None, Field(ge=0, le=2)] = None
    """The sampling temperature; the endpoint's default when absent."""
    max_tokens: Annotated[int | None, Field(ge=1)] = None
    """The most tokens of the answer, reasoning included, in the model's own tokens; the endpoint's default when absent.
    The step fails if the answer is cut off by it."""


def request_of(
    settings: ModelSettings, messages: Sequence[Message], schema: ResponseSchema | None = None
) -> ModelRequest:
    """The request of a step."""
    return ModelRequest(
        messages=tuple(messages),
        model=settings.model or "",
        temperature=settings.temperature,
        max_tokens=settings.max_tokens,
        response_schema=schema,
    )


async def ask(runtime: Runtime, request: ModelRequest, *, streamed_for: PipelineState | None = None) -> str:
    """Calls the model, and once more if its answer is empty or reasoning only; see `ask_once`."""
    try:
        return await ask_once(runtime, request, streamed_for=streamed_for)
    except StepError as error:
        if error.rule != _EMPTY:
            raise
    return await ask_once(runtime, complained(request, "", "it is empty"), streamed_for=streamed_for)


async def ask_once(runtime: Runtime, request: ModelRequest, *, streamed_for: PipelineState | None = None) -> str:
    """Calls the model; returns its answer without reasoning and surrounding white space.

    With `streamed_for`, the state of the run, a final answer that needs no translation is passed to `on_answer` as it
    arrives.

    Raises:
        StepError: `model-missing`; `model-answer-empty`, also for an answer that is reasoning only; the rules of the
            model (`model-...`).
    """
    if runtime.model is None:
        raise StepError("model-missing", "the step needs a language model, and the run was given none")
    stream = None if streamed_for is None else _answer_stream(streamed_for, runtime)
    answer = await runtime.model.complete(request, on_text=stream.feed if stream else None)
    text = without_reasoning(answer.text).strip()
    if not text:
        raise StepError(_EMPTY, "the model answered with nothing")
    return text


def complained(request: ModelRequest, answer: str, problem: str) -> ModelRequest:
    """The request for a second try: what was asked, the answer if there was any, and what is wrong with it."""
    complaint = Message("user", f"Your answer cannot be used: {problem}. Answer once more, as you were asked to.")
    # Some endpoints refuse an empty message.
    answered = (Message("assistant", answer),) if answer else ()
    return replace(request, messages=(*request.messages, *answered, complaint))


def is_final(error: StepError, runtime: Runtime) -> bool:
    """True for an error of the model, not of the pipeline, after which the step is not tried again."""
    is_of_model = error.rule.startswith("model-") and error.rule != "model-missing"
    return is_of_model and (runtime.is_last_try or not error.may_pass)


def _answer_stream(state: PipelineState, runtime: Runtime) -> AnswerStream | None:
    """Passes a final answer that needs no translation to `on_answer` as it arrives; None if no one listens."""
    if not state.is_english or runtime.on_answer is None:
        return None
    return AnswerStream(runtime.on_answer, opening=state.incomplete)


async def ask_prompt(runtime: Runtime, settings: ModelSettings, prompt: str, variables: Mapping[str, str]) -> str:
    """Calls the model with one prompt as the user message, as `ask` does; prefixes before the answer are removed.

    Raises:
        StepError: What `ask` raises, and the rules of prompts (`prompt-...`).
    """
    return _without_markers(await ask(runtime, _request_of_prompt(runtime, settings, prompt, variables)))


def _request_of_prompt(
    runtime: Runtime, settings: ModelSettings, prompt: str, variables: Mapping[str, str]
) -> ModelRequest:
    return request_of(settings, (Message("user", runtime.prompts.render(prompt, variables)),))


def _without_markers(answer: str) -> str:
    text = without_markers(answer)
    if not text:
        raise StepError(_EMPTY, "the model answered with nothing but a prefix")
    return text


async def ask_twice(
    runtime: Runtime,
    settings: ModelSettings,
    prompt: str,
    variables: Mapping[str, str],
    complaint: Callable[[str], str],
) -> str:
    """Calls the model, and once more if `complaint` objects to the answer; returns the last answer, right or not.

    If the model does not finish its answer, leaves it empty or refuses, the answer is "". The prompt has a variable
    `correction`: empty at first, then the complaint about the first answer.

    Raises:
        StepError: What `ask_prompt` raises, but for such an answer.
    """

    async def answer(correction: str) -> str:
        try:
            given = {**variables, "correction": correction}
            return _without_markers(await ask_once(runtime, _request_of_prompt(runtime, settings, prompt, given)))
        except StepError as error:
            if error.rule in _UNUSABLE:
                return ""
            raise

    first = await answer("")
    wrong = complaint(first)
    return await answer(f"Your last attempt was refused: {wrong}") if wrong else first


def english_question(state: PipelineState) -> str:
    """The question in English.

    Raises:
        StepError: `question-not-translated`, if it is in another language and no step has translated it.
    """
    if not state.user_question_en and not state.is_english:
        raise StepError(
            "question-not-translated", "the question is not known in English yet: run translate_in_if_needed before"
        )
    return state.user_question_en or state.user_question.strip()
