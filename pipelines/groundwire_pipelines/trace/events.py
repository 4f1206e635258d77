"""The trace of a run: events at the start and end of the run and of each step.

A repeated run gives the same events except for `time` and `duration_seconds`. Texts of the user, the model and the
sources, and the values of the run's filter, are included only if the run's caller asks for them. Otherwise events hold
names, counts, ids, and the keys of steps as the pipeline's file has them.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Final, Literal

from pydantic import AwareDatetime, FiniteFloat, JsonValue

Facts = Mapping[str, JsonValue]
Ending = Literal["ok", "failed", "cancelled"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted:
    """A run began; `inputs` are its caller's options. `time` is in UTC."""

    pipeline: str
    inputs: Facts
    time: AwareDatetime


@dataclass(frozen=True, slots=True, kw_only=True)
class StepStarted:
    """A step began, the run's `number`th from 1. `settings` are its keys, `inputs` the sizes of the state's fields."""

    number: int
    step_id: str
    action: str
    settings: Facts
    inputs: Facts
    time: AwareDatetime


@dataclass(frozen=True, slots=True, kw_only=True)
class StepEnded:
    """A step ended.

    `transition` is empty if the run ended with it; after an error that did not end the run it is `on_error`,
    `on_error.<rule>` or `retry`. `outputs` are the fields of the state that it changed, `detail` what its action
    reports, `index` the index version of the run, empty before the first response. Tokens are those of its model calls.
    `rule` is the broken rule of a failed step; `error` is its message, included only with texts.
    """

    number: int
    step_id: str
    action: str
    ending: Ending
    transition: str
    detail: Facts
    outputs: Facts
    prompt_tokens: int
    completion_tokens: int
    index: str
    rule: str
    error: str
    time: AwareDatetime
    duration_seconds: FiniteFloat


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnded:
    """A run ended after `steps` steps; tokens are those of all its model calls."""

    pipeline: str
    ending: Ending
    steps: int
    prompt_tokens: int
    completion_tokens: int
    index: str
    time: AwareDatetime
    duration_seconds: FiniteFloat


TraceEvent = RunStarted | StepStarted | StepEnded | RunEnded

TraceSink = Callable[[TraceEvent], None]
"""Receives the events of one run as they happen, such as `list.append`; an exception in it ends the run."""

EVENT_NAMES: Final[Mapping[type[TraceEvent], str]] = {
    RunStarted: "run_started",
    StepStarted: "step_started",
    StepEnded: "step_ended",
    RunEnded: "run_ended",
}
"""The name of each event in a trace's file."""


def event_as_json(event: TraceEvent) -> dict[str, JsonValue]:
    """The event's name as `event`, then its fields; times in ISO 8601."""
    return {"event": EVENT_NAMES[type(event)], **asdict(event), "time": event.time.isoformat()}
