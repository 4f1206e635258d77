"""Runs a pipeline step by step, from the entry step to one that ends the run.

A step is tried again where it may be, and takes its transition for errors where it fails.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final

import grpc

from groundwire_client import GroundwireError, InvalidRequestError
from groundwire_pipelines.action_definition import ON_ERROR, Action, Outcome
from groundwire_pipelines.definition.pipeline_definition import PipelineDefinition
from groundwire_pipelines.engine.binding import BoundStep, bind
from groundwire_pipelines.engine.loops import steps_around_loops
from groundwire_pipelines.engine.recording import MeteredModel, Recorder
from groundwire_pipelines.engine.state_facts import Snapshot, restore, snapshot
from groundwire_pipelines.errors import RunCancelledError, StepError
from groundwire_pipelines.runtime import Runtime
from groundwire_pipelines.state import PipelineState
from groundwire_pipelines.trace.events import TraceSink

_RETRY: Final = "retry"
"""The transition in the trace from a failed try to the next one."""
_VECTORS_MISSING: Final = "VECTORS_MISSING"
_PASSING: Final = frozenset(
    {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.DEADLINE_EXCEEDED}
)
"""The status codes after which a server may answer the same call a moment later."""


async def run_steps(
    definition: PipelineDefinition,
    actions: Mapping[str, Action[Any]],
    state: PipelineState,
    runtime: Runtime,
    *,
    sinks: Sequence[TraceSink] = (),
    trace_texts: bool = False,
) -> None:
    """Runs a pipeline to its end; `state` holds the results, also when it fails.

    A run that is cancelled as an asyncio task raises `asyncio.CancelledError`, as every coroutine does.

    Raises:
        StepError: A step broke a rule or its call failed, and it has no transition for the error; names the step.
            Errors of the server have rules such as `server-scope-not-found`, after their reason. `step-limit` after
            `max_steps` steps.
        RunCancelledError: `deadline_seconds` passed.
    """
    steps = bind(definition, actions)
    meter = None if runtime.model is None else MeteredModel(runtime.model)
    recorder = Recorder(definition.name, state, meter, sinks, trace_texts)
    deadline = asyncio.timeout(runtime.settings.deadline_seconds)
    with recorder.run():
        try:
            async with deadline:
                await _walk(steps, state, replace(runtime, model=meter), recorder)
        except TimeoutError as error:
            if not deadline.expired():
                raise
            raise RunCancelledError(
                f"the run of {definition.name} passed its deadline of {runtime.settings.deadline_seconds:g} s in the "
                f"step {recorder.step_id!r}: raise deadline_seconds, or lower what it asks for"
            ) from error


async def _walk(steps: Mapping[str, BoundStep], state: PipelineState, runtime: Runtime, recorder: Recorder) -> None:
    step_id: str | None = runtime.settings.entry_step_id
    to_end = steps_around_loops(steps)
    while step_id is not None:
        if recorder.steps >= runtime.settings.max_steps:
            raise StepError("step-limit", f"the run did not end within max_steps ({recorder.steps})", step_id)
        # Without this, steps that await nothing would delay the deadline and cancellation.
        await asyncio.sleep(0)
        if step_id not in steps:
            raise StepError("step-unknown", f"the pipeline has no step {step_id!r}", step_id)
        left = runtime.settings.max_steps - recorder.steps - 1
        has_steps = left >= to_end.get(step_id, 0)
        step_id = await _run_step(steps[step_id], state, replace(runtime, has_steps_for_loop=has_steps), recorder)


async def _run_step(step: BoundStep, state: PipelineState, runtime: Runtime, recorder: Recorder) -> str | None:
    """Runs a step; returns the id of the step that follows, None at the end of the run.

    A failed try leaves the state as it was before the step, except for the fields of the error if a transition for it
    is taken.

    Raises:
        StepError: The step failed, and has no transition for the error.
    """
    before = snapshot(state)
    for pause in step.settings.retry.pauses if step.settings.retry else ():
        tried = await _try(step, before, state, runtime, recorder, is_last=False)
        if tried.transition != _RETRY:
            return tried.target
        await asyncio.sleep(max(pause, tried.wait_seconds))
    return (await _try(step, before, state, runtime, recorder, is_last=True)).target


@dataclass(frozen=True, slots=True)
class _Tried:
    """A try: its transition, the step that follows, and how long to wait before the next try at least."""

    transition: str
    target: str | None
    wait_seconds: float = 0.0


@dataclass(slots=True)
class _Listener:
    """Passes on pieces of an answer, and notes whether there were any."""

    on_answer: Callable[[str], None]
    has_told: bool = False

    def tell(self, piece: str) -> None:
        self.has_told = True
        self.on_answer(piece)


async def _try(
    step: BoundStep, before: Snapshot, state: PipelineState, runtime: Runtime, recorder: Recorder, *, is_last: bool
) -> _Tried:
    listener = None if runtime.on_answer is None else _Listener(runtime.on_answer)
    watched = replace(runtime, on_answer=listener.tell if listener else None, is_last_try=is_last)
    with recorder.step(step) as record:
        try:
            with _naming(step):
                outcome = await step.action.run(step.settings, state, watched)
                target = _next_step_id(step, outcome)
        except StepError as error:
            # A piece of an answer that a user has seen cannot be taken back, so the step is not tried again.
            may_try = not is_last and error.may_pass and (listener is None or not listener.has_told)
            transition = _RETRY if may_try else _error_transition(step, error)
            if not transition:
                raise
            restore(state, before)
            if transition != _RETRY:
                state.error_step, state.error_rule = step.definition.id, error.rule
                state.error_message = error.message
            record.failure, record.transition = error, transition
            return _Tried(transition, step.definition.transitions.get(transition), error.wait_seconds)
        record.transition, record.detail = outcome.transition, outcome.detail
        return _Tried(outcome.transition, target)


def _next_step_id(step: BoundStep, outcome: Outcome) -> str | None:
    """The id of the step that follows an outcome, None at the end of the run.

    Raises:
        StepError: `transition-unknown`, if the action returned a transition that it does not have;
            `transition-missing`, if the step names no target for the transition.
    """
    if not step.action.transitions:
        return None
    if outcome.transition not in step.transitions:
        raise StepError(
            "transition-unknown", f"the action {step.action.name} has no transition {outcome.transition!r}: correct it"
        )
    target = step.definition.transitions.get(outcome.transition)
    if target is None:
        raise StepError("transition-missing", f"the step names no target for {outcome.transition}")
    return target


def _error_transition(step: BoundStep, error: StepError) -> str:
    """The transition for an error: that for its rule, else that for any error; "" if there is none."""
    names = (f"{ON_ERROR}.{error.rule}", ON_ERROR)
    return next((name for name in names if name in step.definition.transitions), "")


@contextmanager
def _naming(step: BoundStep) -> Iterator[None]:
    """Adds the step's id to its errors, and turns errors of the server into errors of the step."""
    step_id = step.definition.id
    try:
        yield
    except StepError as error:
        raise StepError(
            error.rule, error.message, step_id, may_pass=error.may_pass, wait_seconds=error.wait_seconds
        ) from error
    except GroundwireError as error:
        reason = (error.reason or error.code.name).lower().replace("_", "-")
        may_pass = error.code in _PASSING
        message = _server_message(error)
        if error.reason == _VECTORS_MISSING and step.action.modes_of(step.settings) != ("bm25",):
            message += "; or set retrieval_modes: [bm25] in the pipeline, to search by words alone"
        raise StepError(f"server-{reason}", message, step_id, may_pass=may_pass) from error


def _server_message(error: GroundwireError) -> str:
    if isinstance(error, InvalidRequestError) and error.violations:
        return "; ".join(f"{broken.field}: {broken.description}" for broken in error.violations)
    return error.message
