"""Makes the events of one run and passes them to its sinks."""

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

from pydantic import JsonValue

from groundwire_pipelines.engine.binding import BoundStep
from groundwire_pipelines.engine.state_facts import TraceDetail, changed, held, snapshot
from groundwire_pipelines.errors import RunCancelledError, StepError
from groundwire_pipelines.runtime import Model, ModelAnswer, ModelRequest
from groundwire_pipelines.state import PipelineState
from groundwire_pipelines.trace.events import (
    Ending,
    Facts,
    RunEnded,
    RunStarted,
    StepEnded,
    StepStarted,
    TraceEvent,
    TraceSink,
)


@dataclass(slots=True)
class MeteredModel:
    """A model that adds up the tokens of its answers, so that a step which fails later still reports them."""

    model: Model
    prompt_tokens: int = 0
    completion_tokens: int = 0

    async def complete(self, request: ModelRequest, *, on_text: Callable[[str], None] | None = None) -> ModelAnswer:
        """Answers as the model does, and counts the tokens."""
        answer = await self.model.complete(request, on_text=on_text)
        self.prompt_tokens += answer.prompt_tokens
        self.completion_tokens += answer.completion_tokens
        return answer


@dataclass(slots=True)
class StepRecord:
    """The reports of the runner about a step before it ends; `failure` is an error that does not end the run."""

    transition: str = ""
    detail: Facts = field(default_factory=dict[str, JsonValue])
    failure: StepError | None = None


@dataclass(slots=True)
class Recorder:
    """The events of one run.

    `meter` is None for a run without a model; `steps` is the number of steps started so far, and `step_id` the last of
    them.
    """

    pipeline: str
    state: PipelineState
    meter: MeteredModel | None
    sinks: Sequence[TraceSink]
    texts: bool
    steps: int = 0
    step_id: str = ""

    @contextmanager
    def run(self) -> Iterator[None]:
        """A context around a whole run."""
        self._send(RunStarted(pipeline=self.pipeline, inputs=held(snapshot(self.state), self._detail), time=_now()))
        begun = time.perf_counter()
        ending: Ending = "ok"
        try:
            yield
        except BaseException as error:
            ending = _ending(error)
            raise
        finally:
            prompt_tokens, completion_tokens = self._spent()
            self._send(
                RunEnded(
                    pipeline=self.pipeline,
                    ending=ending,
                    steps=self.steps,
                    prompt_tokens=prompt_tokens,
                    completion_tokens=completion_tokens,
                    index=self.state.active_index,
                    time=_now(),
                    duration_seconds=time.perf_counter() - begun,
                )
            )

    @contextmanager
    def step(self, step: BoundStep) -> Iterator[StepRecord]:
        """A context around one step."""
        self.steps += 1
        self.step_id = step.definition.id
        before = snapshot(self.state)
        self._send(
            StepStarted(
                number=self.steps,
                step_id=step.definition.id,
                action=step.definition.action,
                settings=step.definition.raw,
                inputs=held(before, TraceDetail.SIZES),
                time=_now(),
            )
        )
        spent_before = self._spent()
        begun = time.perf_counter()
        record = StepRecord()
        failure: BaseException | None = None
        try:
            yield record
        except BaseException as error:
            failure = error
            raise
        finally:
            duration = time.perf_counter() - begun
            failure = failure or record.failure
            spent = self._spent()
            self._send(
                StepEnded(
                    number=self.steps,
                    step_id=step.definition.id,
                    action=step.definition.action,
                    ending=_ending(failure),
                    transition=record.transition,
                    detail=dict(record.detail),
                    outputs=changed(before, snapshot(self.state), self._detail),
                    prompt_tokens=spent[0] - spent_before[0],
                    completion_tokens=spent[1] - spent_before[1],
                    index=self.state.active_index,
                    rule=failure.rule if isinstance(failure, StepError) else "",
                    error=str(failure) if failure and self.texts else "",
                    time=_now(),
                    duration_seconds=duration,
                )
            )

    @property
    def _detail(self) -> TraceDetail:
        return TraceDetail.TEXTS if self.texts else TraceDetail.IDS

    def _spent(self) -> tuple[int, int]:
        return (self.meter.prompt_tokens, self.meter.completion_tokens) if self.meter else (0, 0)

    def _send(self, event: TraceEvent) -> None:
        for sink in self.sinks:
            sink(event)


def _ending(failure: BaseException | None) -> Ending:
    if failure is None:
        return "ok"
    gave_up = isinstance(failure, RunCancelledError | asyncio.CancelledError | KeyboardInterrupt)
    return "cancelled" if gave_up else "failed"


def _now() -> datetime:
    return datetime.now(UTC)
