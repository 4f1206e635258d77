"""`summarize_context`: replaces evidence over its budget by a summary that keeps every handle."""

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import Annotated, Final

from pydantic import Field

from groundwire_pipelines.action_definition import Action, DataFlow, Outcome
from groundwire_pipelines.action_parts.ask_model import ModelSettings, ask_twice, english_question, is_final
from groundwire_pipelines.action_parts.evidence_text import evidence_text, handles_missing
from groundwire_pipelines.action_parts.places import full_place
from groundwire_pipelines.action_parts.prompt_evidence import lay_out, places_of
from groundwire_pipelines.action_parts.prompt_values import Variables, fields_read, prompt_values
from groundwire_pipelines.action_parts.text_budget import max_context_tokens
from groundwire_pipelines.errors import StepError
from groundwire_pipelines.evidence_nodes import ShownText
from groundwire_pipelines.runtime import Runtime
from groundwire_pipelines.state import PipelineState

_WORD: Final = re.compile(r"(?<!\s)\s*+\S++")


class SummarizeContextSettings(ModelSettings):
    """Keys of `summarize_context`."""

    prompt: Annotated[str, Field(min_length=1)]
    """The prompt that shortens `context` to `max_tokens` for `question` and keeps all `identifiers`, the handles of the
    texts."""
    variables: Variables = ()


async def run(settings: SummarizeContextSettings, state: PipelineState, runtime: Runtime) -> Outcome:
    """Replaces the texts of the evidence by a summary; the rest of it is kept. Together they fit `max_context_tokens`.

    Paths, lines, names and edges are kept; if they take more than half of the budget, those of the texts only. The
    summary must name every text of the evidence by its handle. If it does not, or is too long, the model is asked once
    more, with what is wrong. If the second summary is no better, it is cut at a word, and missing handles are appended
    as far as they fit; the table has all of them. If the model fails, or no word of its summary fits, the evidence is
    cut to the budget.

    Raises:
        StepError: `context-over-budget`, if the paths and lines of the texts alone exceed it;
            `max-context-tokens-missing`, and what a model call raises.
    """
    budget = max_context_tokens(runtime.settings)
    texts = state.shown
    places = places_of(state)
    if not places or runtime.counter.count(places) > budget // 2:
        places = "\n".join(f"{handle(shown_text)} {full_place(shown_text.node)}" for shown_text in texts)
    left = budget - runtime.counter.count(f"{places}\n\n")
    if left <= 0:
        raise StepError(
            "context-over-budget",
            f"the places of {len(texts)} texts take all of max_context_tokens ({budget}): raise it",
        )

    def complaint(summary: str) -> str:
        lost = handles_missing(texts, summary)
        if lost:
            return f"the summary of the evidence lost these handles: {', '.join(map(handle, lost))}"
        tokens = runtime.counter.count(f"{places}\n\n{summary}")
        return (
            "" if tokens <= budget else f"the summary of the evidence takes {tokens} tokens of {budget} with the places"
        )

    variables = {
        **prompt_values(settings.variables, state, runtime),
        "question": english_question(state),
        "context": evidence_text(state),
        "identifiers": " ".join(map(handle, texts)),
        "max_tokens": str(left),
    }
    try:
        summary = await ask_twice(runtime, settings, settings.prompt, variables, complaint)
    except StepError as error:
        if not is_final(error, runtime):
            raise
        summary = ""
    obeys = not complaint(summary)
    if not obeys:
        summary = _mended(summary, texts, lambda text: runtime.counter.count(f"{places}\n\n{text}") <= budget)
    state.context_blocks = [places, summary] if summary else _rendered(state, runtime, budget) or [places]
    return Outcome(
        detail={
            "context_tokens": runtime.counter.count(evidence_text(state)),
            "max_context_tokens": budget,
            "texts": len(texts),
            **({} if obeys else {"mended": bool(summary)}),
        }
    )


def handle(shown: ShownText) -> str:
    """The number of a text as the evidence writes it."""
    return f"[{shown.handle}]"


def _rendered(state: PipelineState, runtime: Runtime, budget: int) -> list[str]:
    """The evidence, cut to the budget; empty if nothing of it fits."""
    lay_out(state, runtime, budget)
    return state.context_blocks


def _mended(summary: str, texts: Sequence[ShownText], fits: Callable[[str], bool]) -> str:
    """As much of a summary as fits together with its missing handles; "" if not a word of it fits with these."""
    words = _WORD.findall(summary)

    def cut(count: int) -> str:
        beginning = "".join(words[:count]) + (" …" if 0 < count < len(words) else "")
        missing = handles_missing(texts, beginning)
        return f"{beginning}\nNot summarised: {' '.join(map(handle, missing))}" if missing else beginning

    most = bisect_left(range(len(words) + 1), True, key=lambda count: not fits(cut(count))) - 1
    return cut(most).strip() if most > 0 else ""


ACTION = Action(
    name="summarize_context",
    summary="Summarises the evidence for the question and keeps its handles.",
    settings=SummarizeContextSettings,
    run=run,
    required_settings=("max_context_tokens",),
    prompts_of=lambda settings: {
        settings.prompt: frozenset(
            {"question", "context", "identifiers", "max_tokens", "correction", *settings.variables}
        )
    },
    data_of=lambda settings: DataFlow(
        reads=("context_blocks", *fields_read(settings.variables)), writes=("context_blocks", "shown")
    ),
)
