"""Which step follows: decided by the outcome of the step before and the pipeline's files, and by nothing else."""

from groundwire_pipelines.actions.definition import Outcome
from groundwire_pipelines.engine.binding import BoundStep
from groundwire_pipelines.errors import StepError


def next_step_id(step: BoundStep, outcome: Outcome) -> str | None:
    """The id of the step that follows, None at the end of the run.

    Raises:
        StepError: `transition-unknown`, when the action left by a way that it does not have; `transition-missing`,
            when the step names no target for the way taken.
    """
    if not step.action.transitions:
        return None
    if outcome.transition not in step.ways_out:
        raise StepError(
            "transition-unknown", f"the action {step.action.name} has no transition {outcome.transition!r}: mend it"
        )
    target = step.definition.transitions.get(outcome.transition)
    if target is None:
        raise StepError("transition-missing", f"the step names no target for {outcome.transition}")
    return target
