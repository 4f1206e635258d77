"""`load_conversation_history`: the session's past turns, summarised where they exceed their budget (seed 001 §2)."""

from typing import Annotated

from pydantic import Field

from groundwire_pipelines.actions.definition import Action, DataFlow, Outcome, StepSettings
from groundwire_pipelines.actions.model_calls import ask_checked, english_question
from groundwire_pipelines.errors import StepError
from groundwire_pipelines.runtime import History, Runtime
from groundwire_pipelines.state import PipelineState, Turn


class LoadHistorySettings(StepSettings):
    """Keys of `load_conversation_history`."""

    prompt: Annotated[
        str,
        Field(
            min_length=1,
            description="The prompt that shortens `history` to `max_tokens`, keeping what matters for `question`.",
        ),
    ]


async def run(settings: LoadHistorySettings, state: PipelineState, runtime: Runtime) -> Outcome:
    """Sets `history`, `history_summary` and `history_for_prompt`, which fits `max_history_tokens`.

    A run without a session has no history. Over the budget, the summary so far and the turns after it become a new
    summary, which is stored with the number of turns it covers.

    Raises:
        StepError: `history-missing`, `user-missing`, `settings-key-missing`, `history-over-budget`, and what the
            history or a model call raises.
    """
    if not state.session_id:
        return Outcome(detail={"turns": 0, "summarised": False, "history_tokens": 0})
    history = conversation_history(state, runtime)
    budget = _budget(runtime)
    stored = await history.load(state.user_id, state.session_id)
    text = format_history(stored.summary, stored.turns)
    over_budget = runtime.counter.count(text) > budget
    if over_budget:
        summary = await _summarise(settings.prompt, text, english_question(state), budget, runtime)
        await history.save_summary(
            state.user_id, state.session_id, summary, covers=len(stored.turns), previous_version=stored.summary_version
        )
        state.history, state.history_summary, state.history_for_prompt = [], summary, format_history(summary, ())
    else:
        state.history, state.history_summary, state.history_for_prompt = list(stored.turns), stored.summary, text
    return Outcome(
        detail={
            "turns": len(stored.turns),
            "summary_version": stored.summary_version,
            "summarised": over_budget,
            "history_tokens": runtime.counter.count(state.history_for_prompt),
        }
    )


def conversation_history(state: PipelineState, runtime: Runtime) -> History:
    """The history of a run with a session.

    Raises:
        StepError: `history-missing`; `user-missing`, because without users the name of a session is all that tells one
            person's conversation from another's.
    """
    if runtime.history is None:
        raise StepError("history-missing", "the run names a session, and has no history to keep its turns in")
    if not state.user_id:
        raise StepError(
            "user-missing",
            f"the run names the session {state.session_id!r}, and nobody whose it is: give user_id, so that "
            "nobody else who names it reads it",
        )
    return runtime.history


def format_history(summary: str, turns: tuple[Turn, ...]) -> str:
    """The history as prompts show it, in English; "" when there is none."""
    parts = [f"Summary of the conversation so far:\n{summary}"] if summary else []
    parts += [f"User: {turn.question_en}\nAssistant: {turn.answer_en}" for turn in turns]
    return "\n\n".join(parts)


async def _summarise(prompt: str, text: str, question: str, budget: int, runtime: Runtime) -> str:
    def too_long(summary: str) -> StepError | None:
        tokens = runtime.counter.count(format_history(summary, ()))
        if tokens <= budget:
            return None
        return StepError("history-over-budget", f"the summary of the history takes {tokens} tokens of {budget}")

    # What stands around the summary in a prompt takes tokens of the same budget.
    room = budget - runtime.counter.count(format_history(" ", ()))
    if room <= 0:
        raise StepError("history-over-budget", f"max_history_tokens is {budget}: too small to hold any summary")
    return await ask_checked(
        runtime, prompt, {"question": question, "history": text, "max_tokens": str(room)}, too_long
    )


def _budget(runtime: Runtime) -> int:
    if runtime.settings.max_history_tokens is None:
        raise StepError("settings-key-missing", "settings.max_history_tokens is required to load a history")
    return runtime.settings.max_history_tokens


ACTION = Action(
    name="load_conversation_history",
    summary="Loads the session's turns and keeps them within max_history_tokens by a rolling summary.",
    settings=LoadHistorySettings,
    run=run,
    required_settings=("max_history_tokens",),
    prompts_of=lambda settings: {settings.prompt: frozenset({"question", "history", "max_tokens", "correction"})},
    data_of=lambda _: DataFlow(
        reads=("user_question_en",), writes=("history", "history_summary", "history_for_prompt")
    ),
)
