"""`check_context_budget`: whether the evidence fits an answer's prompt."""

from groundwire_pipelines.action_definition import Action, DataFlow, Outcome, StepSettings
from groundwire_pipelines.action_parts.evidence_text import evidence_text
from groundwire_pipelines.action_parts.text_budget import max_context_tokens
from groundwire_pipelines.runtime import Runtime
from groundwire_pipelines.state import PipelineState


async def run(settings: StepSettings, state: PipelineState, runtime: Runtime) -> Outcome:
    """Ends with `on_ok` if all evidence takes at most `max_context_tokens`, else with `on_over_limit`.

    Raises:
        StepError: `max-context-tokens-missing`.
    """
    budget = max_context_tokens(runtime.settings)
    tokens = runtime.counter.count(evidence_text(state))
    transition = "on_ok" if tokens <= budget else "on_over_limit"
    return Outcome(transition, {"context_tokens": tokens, "max_context_tokens": budget})


ACTION = Action(
    name="check_context_budget",
    summary="Branches on whether the evidence fits max_context_tokens.",
    settings=StepSettings,
    run=run,
    transitions=("on_ok", "on_over_limit"),
    required_settings=("max_context_tokens",),
    data_of=lambda _: DataFlow(reads=("context_blocks",)),
)
