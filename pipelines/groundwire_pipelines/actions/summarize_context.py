"""`summarize_context`: evidence over its budget becomes a summary that keeps every identifier (seed 001 §6.2)."""

from typing import Annotated

from pydantic import Field

from groundwire_pipelines.actions.check_context_budget import max_context_tokens
from groundwire_pipelines.actions.definition import Action, Outcome, StepSettings
from groundwire_pipelines.actions.evidence import evidence_text, node_ids_shown
from groundwire_pipelines.actions.model_calls import ask_checked, english_question
from groundwire_pipelines.errors import StepError
from groundwire_pipelines.runtime import Runtime
from groundwire_pipelines.state import PipelineState


class SummarizeContextSettings(StepSettings):
    """Keys of `summarize_context`."""

    prompt: Annotated[
        str,
        Field(
            min_length=1,
            description="The prompt that shortens `context` to `max_tokens` for `question`, keeping all `identifiers`.",
        ),
    ]


async def run(settings: SummarizeContextSettings, state: PipelineState, runtime: Runtime) -> Outcome:
    """Replaces all evidence by one block, the summary, that fits `max_context_tokens`.

    The summary must name every node that the evidence names, by its canonical id. One that does not, or is too long,
    goes back to the model once, with what is wrong.

    Raises:
        StepError: `identifiers-lost`, `context-over-budget`, `max-context-tokens-missing`, and what a model call
            raises.
    """
    budget = max_context_tokens(runtime)
    context = evidence_text(state)
    identifiers = node_ids_shown(state, context)

    def complaint(summary: str) -> StepError | None:
        present = node_ids_shown(state, summary)
        lost = [node_id for node_id in identifiers if node_id not in present]
        if lost:
            return StepError("identifiers-lost", f"the summary of the evidence lost these ids: {', '.join(lost)}")
        tokens = runtime.counter.count(summary)
        if tokens > budget:
            return StepError("context-over-budget", f"the summary of the evidence takes {tokens} tokens of {budget}")
        return None

    variables = {
        "question": english_question(state),
        "context": context,
        "identifiers": "\n".join(identifiers),
        "max_tokens": str(budget),
    }
    summary = await ask_checked(runtime, settings.prompt, variables, complaint)
    state.context_blocks, state.earlier_context_blocks = [summary], []
    return Outcome(
        detail={
            "context_tokens": runtime.counter.count(summary),
            "max_context_tokens": budget,
            "identifiers": len(identifiers),
        }
    )


ACTION = Action(
    name="summarize_context",
    summary="Summarises the evidence for the question, keeping its identifiers.",
    settings=SummarizeContextSettings,
    run=run,
    required_settings=("max_context_tokens",),
    prompts_of=lambda settings: {
        settings.prompt: frozenset({"question", "context", "identifiers", "max_tokens", "correction"})
    },
)
