"""`load_conversation_history`: the session's past turns, summarised where they exceed their budget."""

from bisect import bisect_left
from typing import Annotated

from pydantic import Field

from groundwire_pipelines.action_definition import Action, DataFlow, Outcome
from groundwire_pipelines.action_parts.ask_model import ModelSettings, ask_twice, english_question
from groundwire_pipelines.errors import StepError
from groundwire_pipelines.runtime import History, Runtime, StoredHistory, Turn
from groundwire_pipelines.state import PipelineState


class LoadHistorySettings(ModelSettings):
    """Keys of `load_conversation_history`."""

    prompt: Annotated[str, Field(min_length=1)]
    """The prompt that shortens `history` to `max_tokens`, keeping what matters for `question`."""


async def run(settings: LoadHistorySettings, state: PipelineState, runtime: Runtime) -> Outcome:
    """Sets `history`, `history_summary` and `history_for_prompt`, which fits `max_history_tokens`.

    A run without a session has no history. If they exceed the budget, the previous summary and the turns after it are
    summarised anew, except for the last turn, which stays as it is unless it takes more than half of the budget. If the
    model's summary does not fit, the previous summary is kept unchanged, with the newest turns
    that fit. Either result is stored with the number of turns that it covers, so that a history never grows beyond what
    a model can read.

    Raises:
        StepError: `history-missing`, `user-missing`, `settings-key-missing`, and what the history or a model call
            raises.
    """
    if not state.session_id:
        return Outcome(detail={"turns": 0, "summarised": False, "history_tokens": 0})
    history = conversation_history(state, runtime)
    budget = runtime.settings.max_history_tokens
    if budget is None:
        raise StepError("settings-key-missing", "settings.max_history_tokens is required to load a history")
    stored = await history.load(state.user_id, state.session_id)
    kept, summarised = stored, False
    if runtime.counter.count(_text(stored)) > budget:
        raw = _raw_turns(stored, budget, runtime)
        summary = await _summary(settings, stored, raw, english_question(state), budget, runtime)
        summarised = summary != ""
        kept = StoredHistory(summary, 0, raw) if summarised else _what_fits(stored, budget, runtime)
        await history.save_summary(
            state.user_id,
            state.session_id,
            kept.summary,
            covers=len(stored.turns) - len(kept.turns),
            previous_version=stored.summary_version,
        )
    state.history, state.history_summary, state.history_for_prompt = list(kept.turns), kept.summary, _text(kept)
    detail: dict[str, str | int | float | bool] = {
        "turns": len(stored.turns),
        "summary_version": stored.summary_version,
        "summarised": summarised,
        "history_tokens": runtime.counter.count(state.history_for_prompt),
    }
    if not summarised and kept is not stored:
        detail["turns_left_out"] = len(stored.turns) - len(kept.turns)
    return Outcome(detail=detail)


def conversation_history(state: PipelineState, runtime: Runtime) -> History:
    """The history of a run with a session.

    Raises:
        StepError: `history-missing`; `user-missing`, because the name of a session alone does not separate the
            conversations of different users.
    """
    if runtime.history is None:
        raise StepError("history-missing", "the run names a session, but has no history to store its turns")
    if not state.user_id:
        raise StepError(
            "user-missing",
            f"the run names the session {state.session_id!r} but no user: give user_id, so that no other user can "
            "read the session",
        )
    return runtime.history


def format_history(summary: str, turns: tuple[Turn, ...]) -> str:
    """The history as prompts show it, in English; "" if there is none."""
    parts = [f"Summary of the conversation so far:\n{summary}"] if summary else []
    parts += [f"User: {turn.question_en}\nAssistant: {turn.answer_en}" for turn in turns]
    return "\n\n".join(parts)


def _text(stored: StoredHistory) -> str:
    return format_history(stored.summary, stored.turns)


def _raw_turns(stored: StoredHistory, budget: int, runtime: Runtime) -> tuple[Turn, ...]:
    """The last turn, which the next question is most likely about; none if it is too long or all that there is."""
    last = stored.turns[-1:]
    is_all = len(stored.turns) == 1 and not stored.summary
    return () if is_all or runtime.counter.count(format_history("", last)) > budget // 2 else last


async def _summary(
    settings: LoadHistorySettings,
    stored: StoredHistory,
    raw: tuple[Turn, ...],
    question: str,
    budget: int,
    runtime: Runtime,
) -> str:
    """A new summary of all but the `raw` turns, within the budget together with these; "" if the model gives none."""

    def complaint(summary: str) -> str:
        if not summary:
            return "the summary is empty or incomplete"
        tokens = runtime.counter.count(format_history(summary, raw))
        return "" if tokens <= budget else f"the summary of the history takes {tokens} tokens of {budget}"

    # The words around the summary in a prompt take tokens of the same budget.
    room = budget - runtime.counter.count(format_history(" ", raw))
    if room <= 0:
        return ""
    older = format_history(stored.summary, stored.turns[: len(stored.turns) - len(raw)])
    variables = {"question": question, "history": older, "max_tokens": str(room)}
    summary = await ask_twice(runtime, settings, settings.prompt, variables, complaint)
    return "" if complaint(summary) else summary


def _what_fits(stored: StoredHistory, budget: int, runtime: Runtime) -> StoredHistory:
    """The previous summary, unless it exceeds the budget by itself, and the newest turns that fit with it."""
    turns = stored.turns

    def fits(summary: str, first: int) -> bool:
        return runtime.counter.count(format_history(summary, turns[first:])) <= budget

    summary = stored.summary if fits(stored.summary, len(turns)) else ""
    first = bisect_left(range(len(turns)), True, key=lambda first: fits(summary, first))
    return StoredHistory(summary, stored.summary_version, turns[first:])


ACTION = Action(
    name="load_conversation_history",
    summary="Loads the session's turns and keeps them within max_history_tokens by a rolling summary.",
    settings=LoadHistorySettings,
    run=run,
    required_settings=("max_history_tokens",),
    prompts_of=lambda settings: {settings.prompt: frozenset({"question", "history", "max_tokens", "correction"})},
    data_of=lambda _: DataFlow(writes=("history", "history_summary", "history_for_prompt")),
)
