"""`call_model`: one call of the language model with a prompt file (seed 001 §3 and §7)."""

from typing import Annotated, Literal

from pydantic import Field

from groundwire_pipelines.actions.definition import Action, Outcome, StepSettings
from groundwire_pipelines.actions.evidence import evidence_text
from groundwire_pipelines.actions.model_calls import Spent, ask, english_question
from groundwire_pipelines.parsing.prefixes import ROUTER_PREFIXES, AnswerStream
from groundwire_pipelines.runtime import Runtime
from groundwire_pipelines.state import PipelineState

Variable = Literal["question", "history", "context", "request", "modes", "repository", "branch"]


class CallModelSettings(StepSettings):
    """Keys of `call_model`."""

    prompt: Annotated[str, Field(min_length=1)]
    """The prompt's name: the file `<name>.md` in a prompts folder."""
    output: Literal["router", "answer"]
    """The protocol that the answer follows, which a `handle_prefix` step reads; an answer is streamed."""
    variables: Annotated[tuple[Variable, ...], Field(min_length=1)]
    """What the prompt is given; it must use each of them: `question` and `history` in English, `context` the evidence,
    `request` what the model last asked to see, `modes` the router's lines that the settings admit, `repository` and
    `branch`."""


async def run(settings: CallModelSettings, state: PipelineState, runtime: Runtime) -> Outcome:
    """Sets `last_model_response` to the model's answer, prefix included.

    A final answer that needs no translation is told to `on_answer` as it comes. Raises what a model call raises.
    """
    on_text = None
    if settings.output == "answer" and state.is_english and runtime.on_answer is not None:
        on_text = AnswerStream(runtime.on_answer).feed
    values = {name: _value(name, state, runtime) for name in settings.variables}
    answer = await ask(runtime, settings.prompt, values, on_text=on_text)
    state.last_model_response = answer.text
    return Outcome(detail={"prompt": settings.prompt, **Spent().plus(answer).detail()})


def _value(name: Variable, state: PipelineState, runtime: Runtime) -> str:
    match name:
        case "question":
            return english_question(state)
        case "history":
            return state.history_for_prompt or "(none)"
        case "context":
            return evidence_text(state) or "(nothing was found)"
        case "request":
            return state.last_model_response
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
