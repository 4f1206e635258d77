"""`summarize_context`: evidence over its budget becomes a summary that keeps every handle."""

from typing import Annotated

from pydantic import Field

from groundwire_pipelines.actions.check_context_budget import max_context_tokens
from groundwire_pipelines.actions.definition import Action, Outcome, StepSettings
from groundwire_pipelines.actions.evidence import evidence_text, handles_missing
from groundwire_pipelines.actions.model_calls import ask_checked, english_question
from groundwire_pipelines.errors import StepError
from groundwire_pipelines.rendering.layout import handle, table
from groundwire_pipelines.rendering.shown import Selection
from groundwire_pipelines.runtime import Runtime
from groundwire_pipelines.state import PipelineState


class SummarizeContextSettings(StepSettings):
    """Keys of `summarize_context`."""

    prompt: Annotated[
        str,
        Field(
            min_length=1,
            description="The prompt that shortens `context` to `max_tokens` for `question`, keeping all `identifiers`, "
            "which are the handles of the texts.",
        ),
    ]


async def run(settings: SummarizeContextSettings, state: PipelineState, runtime: Runtime) -> Outcome:
    """Replaces all evidence by the table of what it shows and a summary, which fit `max_context_tokens` together.

    The summary must name every text that the evidence shows, by its handle. One that does not, or is too long, goes
    back to the model once, with what is wrong.

    Raises:
        StepError: `identifiers-lost`, `context-over-budget`, `max-context-tokens-missing`, and what a model call
            raises.
    """
    budget = max_context_tokens(runtime)
    texts = state.shown
    places = table(Selection(tuple(texts)))
    left = budget - runtime.counter.count(f"{places}\n\n")
    if left <= 0:
        raise StepError(
            "context-over-budget",
            f"the places of {len(texts)} texts take all of max_context_tokens ({budget}): raise it",
        )

    def complaint(summary: str) -> StepError | None:
        lost = handles_missing(texts, summary)
        if lost:
            names = ", ".join(map(handle, lost))
            return StepError("identifiers-lost", f"the summary of the evidence lost these handles: {names}")
        tokens = runtime.counter.count(f"{places}\n\n{summary}")
        if tokens > budget:
            return StepError(
                "context-over-budget", f"the summary of the evidence takes {tokens} tokens of {budget} with the places"
            )
        return None

    variables = {
        "question": english_question(state),
        "context": evidence_text(state),
        "identifiers": " ".join(handle(one.handle) for one in texts),
        "max_tokens": str(left),
    }
    summary = await ask_checked(runtime, settings.prompt, variables, complaint)
    state.context_blocks = [places, summary]
    return Outcome(
        detail={
            "context_tokens": runtime.counter.count(evidence_text(state)),
            "max_context_tokens": budget,
            "texts": len(texts),
        }
    )


ACTION = Action(
    name="summarize_context",
    summary="Summarises the evidence for the question, keeping its handles.",
    settings=SummarizeContextSettings,
    run=run,
    required_settings=("max_context_tokens",),
    prompts_of=lambda settings: {
        settings.prompt: frozenset({"question", "context", "identifiers", "max_tokens", "correction"})
    },
)
