"""Runs a pipeline: one step after the other, from the entry step to one that ends the run."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from groundwire_client import GroundwireError, InvalidRequestError
from groundwire_pipelines.actions.definition import Action
from groundwire_pipelines.definition.model import PipelineDefinition
from groundwire_pipelines.engine.binding import BoundStep, bind
from groundwire_pipelines.engine.metering import MeteredModel
from groundwire_pipelines.engine.recording import Recorder
from groundwire_pipelines.engine.trace import TraceSink
from groundwire_pipelines.engine.transitions import next_step_id
from groundwire_pipelines.errors import RunCancelledError, StepError
from groundwire_pipelines.runtime import Runtime
from groundwire_pipelines.state import PipelineState


async def run_steps(
    definition: PipelineDefinition,
    actions: Mapping[str, Action[Any]],
    state: PipelineState,
    runtime: Runtime,
    *,
    sinks: Sequence[TraceSink] = (),
    trace_texts: bool = False,
) -> None:
    """Runs a pipeline to its end; `state` holds what it found, also when it fails.

    A run that is cancelled as an asyncio task raises `asyncio.CancelledError`, as every coroutine does.

    Raises:
        StepError: A step broke a rule or what it called failed; it names the step. The server's errors have rules
            such as `server-scope-not-found`, after the reason that it gave. `step-limit` after `max_steps` steps.
        RunCancelledError: `deadline_seconds` passed.
    """
    steps = bind(definition, actions)
    meter = None if runtime.model is None else MeteredModel(runtime.model)
    recorder = Recorder(definition.name, state, meter, sinks, trace_texts)
    deadline = asyncio.timeout(runtime.settings.deadline_seconds)
    with recorder.run():
        try:
            async with deadline:
                await _walk(definition, steps, state, replace(runtime, model=meter), recorder)
        except TimeoutError as error:
            if not deadline.expired():
                raise
            raise RunCancelledError(
                f"the run of {definition.name} passed its deadline of {runtime.settings.deadline_seconds:g} s in the "
                f"step {recorder.step_id!r}: raise deadline_seconds, or lower what it asks for"
            ) from error


async def _walk(
    definition: PipelineDefinition,
    steps: Mapping[str, BoundStep],
    state: PipelineState,
    runtime: Runtime,
    recorder: Recorder,
) -> None:
    step_id: str | None = runtime.settings.entry_step_id
    while step_id is not None:
        if recorder.steps == runtime.settings.max_steps:
            raise StepError("step-limit", f"the run did not end within max_steps ({recorder.steps})", step_id)
        # Steps that await nothing would otherwise keep a deadline or a cancellation from being noticed.
        await asyncio.sleep(0)
        step_id = await _run_step(_step(steps, step_id), state, runtime, recorder)


async def _run_step(step: BoundStep, state: PipelineState, runtime: Runtime, recorder: Recorder) -> str | None:
    with recorder.step(step) as record, _naming(step.definition.id):
        outcome = await step.run(state, runtime)
        target = next_step_id(step, outcome)
        record.outcome = outcome
        return target


def _step(steps: Mapping[str, BoundStep], step_id: str) -> BoundStep:
    if step_id not in steps:
        raise StepError("step-unknown", f"the pipeline has no step {step_id!r}", step_id)
    return steps[step_id]


@contextmanager
def _naming(step_id: str) -> Iterator[None]:
    """Errors of a step with its id, those of the server as errors of the step."""
    try:
        yield
    except StepError as error:
        raise StepError(error.rule, error.message, step_id) from error
    except GroundwireError as error:
        reason = (error.reason or error.code.name).lower().replace("_", "-")
        raise StepError(f"server-{reason}", _server_message(error), step_id) from error


def _server_message(error: GroundwireError) -> str:
    if isinstance(error, InvalidRequestError) and error.violations:
        return "; ".join(f"{broken.field}: {broken.description}" for broken in error.violations)
    return error.message
