"""`loop_guard`: bounds the follow-up retrievals of one question."""

from groundwire_pipelines.actions.definition import Action, DataFlow, Outcome, StepSettings
from groundwire_pipelines.actions.evidence import evidence_blocks
from groundwire_pipelines.errors import StepError
from groundwire_pipelines.runtime import Runtime
from groundwire_pipelines.state import PipelineState


class LoopGuardSettings(StepSettings):
    """`loop_guard` has no keys of its own."""


async def run(settings: LoopGuardSettings, state: PipelineState, runtime: Runtime) -> Outcome:
    """Counts a follow-up; leaves by `on_continue` while `max_turn_loops` admits it, else by `on_limit`.

    On the way on, the evidence so far is kept: the next retrieval adds to it. At the limit `final_answer_en` becomes a
    fixed text that says what was looked for and claims nothing.

    Raises:
        StepError: `settings-key-missing`.
    """
    limit = runtime.settings.max_turn_loops
    if limit is None:
        raise StepError("settings-key-missing", "settings.max_turn_loops is required to guard a loop")
    state.turn_loop_counter += 1
    state.data_requests.append(state.last_model_response)
    detail = {"turn_loop_counter": state.turn_loop_counter, "max_turn_loops": limit}
    if state.turn_loop_counter > limit:
        state.final_answer_en = _explanation(state)
        return Outcome("on_limit", detail)
    state.earlier_shown = [*state.earlier_shown, *state.shown]
    state.earlier_context_blocks = evidence_blocks(state)
    state.shown, state.context_blocks = [], []
    return Outcome("on_continue", detail)


def _explanation(state: PipelineState) -> str:
    looked_for = "\n".join(f"- {request}" for request in state.data_requests)
    return (
        f"The evidence found in {state.repository} ({state.branch}) does not suffice to answer this question, and the "
        f"limit of follow-up searches is reached. What was still looked for:\n{looked_for}\n"
        "Ask about one of these directly, or name the files or symbols that matter."
    )


ACTION = Action(
    name="loop_guard",
    summary="Counts follow-up retrievals and ends them at max_turn_loops.",
    settings=LoopGuardSettings,
    run=run,
    transitions=("on_continue", "on_limit"),
    required_settings=("max_turn_loops",),
    guards_loops=True,
    data_of=lambda _: DataFlow(
        reads=("last_model_response",), writes=("data_requests",), writes_on={"on_limit": ("final_answer_en",)}
    ),
)
