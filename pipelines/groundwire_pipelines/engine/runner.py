"""Runs a pipeline step by step, from the entry step to one that ends the run."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from groundwire_pipelines.actions.definition import Action
from groundwire_pipelines.definition.model import PipelineDefinition
from groundwire_pipelines.engine.attempts import run_step
from groundwire_pipelines.engine.binding import BoundStep, bind
from groundwire_pipelines.engine.recording import MeteredModel, Recorder
from groundwire_pipelines.engine.trace import TraceSink
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
        if recorder.steps >= runtime.settings.max_steps:
            raise StepError("step-limit", f"the run did not end within max_steps ({recorder.steps})", step_id)
        # Without this, steps that await nothing would delay the deadline and cancellation.
        await asyncio.sleep(0)
        step_id = await run_step(_step(steps, step_id), state, runtime, recorder)


def _step(steps: Mapping[str, BoundStep], step_id: str) -> BoundStep:
    if step_id not in steps:
        raise StepError("step-unknown", f"the pipeline has no step {step_id!r}", step_id)
    return steps[step_id]
