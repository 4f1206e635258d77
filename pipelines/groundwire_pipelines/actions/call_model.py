"""`call_model`: one call of the language model with a prompt file (seed 001 §3 and §7)."""

from typing import Annotated, Literal

from pydantic import Field

from groundwire_pipelines.actions.definition import Action, Outcome, StepSettings
from groundwire_pipelines.actions.evidence import evidence_or_reason
from groundwire_pipelines.actions.model_calls import ask, english_question
from groundwire_pipelines.parsing.prefixes import ROUTER_PREFIXES, AnswerStream
from groundwire_pipelines.runtime import Runtime
from groundwire_pipelines.state import PipelineState

Variable = Literal["question", "history", "context", "modes", "repository", "branch"]
"""What a prompt may be given: the question and the history in English, the evidence (`context`), the prefixes of the
retrieval modes that the settings admit (`modes`), and where the question is asked."""


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
            return evidence_or_reason(state, runtime)
        case "modes":
            modes = (*runtime.settings.retrieval_modes, "direct")
            return "\n".join(prefix for mode, prefix in ROUTER_PREFIXES.items() if mode in modes)
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
)
