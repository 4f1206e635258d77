"""`call_model`: one call of the language model with a prompt file (seed 001 §3 and §7)."""

from collections.abc import Mapping
from typing import Annotated, Final, Literal

from pydantic import Field

from groundwire_pipelines.actions.definition import Action, DataFlow, Outcome, StepSettings
from groundwire_pipelines.actions.evidence import evidence_text
from groundwire_pipelines.actions.model_calls import ask, english_question
from groundwire_pipelines.parsing.filter_words import filters_in_words
from groundwire_pipelines.parsing.prefixes import ROUTER_PREFIXES, AnswerStream
from groundwire_pipelines.runtime import Runtime
from groundwire_pipelines.state import PipelineState

Variable = Literal["question", "history", "context", "modes", "filters", "error", "repository", "branch"]
"""What a prompt may be given: the question and the history in English, the evidence (`context`), the prefixes of the
retrieval modes that the settings admit (`modes`), what searches are restricted to and how a query may narrow them
further (`filters`), the error that a step's way out for errors took last (`error`), and where the question is asked."""


_READ: Final[Mapping[str, str]] = {
    "question": "user_question_en",
    "history": "history_for_prompt",
    "context": "context_blocks",
    "error": "error_message",
}
"""What of the state a variable is made of, where that is not given from the start."""


class CallModelSettings(StepSettings):
    """Keys of `call_model`."""

    prompt: Annotated[
        str, Field(min_length=1, description="The prompt's name: the file `<name>.md` in a prompts folder.")
    ]
    output: Annotated[
        Literal["router", "answer"],
        Field(description="The protocol of the answer, for a handle_prefix step; a final answer is streamed."),
    ]
    variables: Annotated[
        tuple[Variable, ...],
        Field(min_length=1, description="What the prompt is given; it must use each of them, and no other."),
    ]


async def run(settings: CallModelSettings, state: PipelineState, runtime: Runtime) -> Outcome:
    """Sets `last_model_response` to the model's answer, prefix included.

    A final answer that needs no translation is told to `on_answer` as it comes.

    Raises:
        StepError: What a model call raises.
    """
    on_text = None
    if settings.output == "answer" and state.is_english and runtime.on_answer is not None:
        on_text = AnswerStream(runtime.on_answer).feed
    values: dict[str, str] = {name: _value(name, state, runtime) for name in settings.variables}
    state.last_model_response = await ask(runtime, settings.prompt, values, on_text=on_text)
    return Outcome(detail={"prompt": settings.prompt})


def _value(name: Variable, state: PipelineState, runtime: Runtime) -> str:
    match name:
        case "question":
            return english_question(state)
        case "history":
            return state.history_for_prompt or "(none)"
        case "context":
            return evidence_text(state) or "(nothing was found)"
        case "modes":
            modes = (*runtime.settings.retrieval_modes, "direct")
            return "\n".join(prefix for mode, prefix in ROUTER_PREFIXES.items() if mode in modes)
        case "filters":
            return filters_in_words(state.retrieval_filter)
        case "error":
            return f"{state.error_rule}: {state.error_message}"
        case "repository":
            return state.repository
        case "branch":
            return state.branch


ACTION = Action(
    name="call_model",
    summary="Asks the language model with a prompt file.",
    settings=CallModelSettings,
    run=run,
    prompts_of=lambda settings: {settings.prompt: frozenset(settings.variables)},
    data_of=lambda settings: DataFlow(
        reads=tuple(_READ[name] for name in settings.variables if name in _READ), writes=("last_model_response",)
    ),
)
