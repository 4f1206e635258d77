"""The steps of a pipeline's run, from the file of its trace."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from groundwire.printable_text import printable
from groundwire_explore.problems import Problem
from groundwire_pipelines.errors import PipelineError
from groundwire_pipelines.trace.events import Facts, RunEnded, RunStarted, StepEnded, StepStarted, TraceEvent
from groundwire_pipelines.trace.trace_file import read_trace

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Step:
    """A step as it ran.

    Attributes:
        number: Its place in the run, from 1.
        id: Its name in the pipeline.
        action: Its action.
        ending: `ok`, `failed`, `cancelled`, or `running` for one that has not ended.
        transition: The transition to the next step; empty for the last one.
        seconds: How long it took, as text.
        start: When it began, as a share of the run, 0 to 1.
        length: How long it took, as a share of the run.
        tokens: Tokens of its model calls, as text; empty for none.
        rule: The broken rule of a failed step, and its message where the trace has texts.
        detail: What its action reports.
        outputs: The fields of the state that it changed.
        settings: Its keys.
    """

    number: int
    id: str
    action: str
    ending: str
    transition: str
    seconds: str
    start: float
    length: float
    tokens: str
    rule: str
    detail: Pairs
    outputs: Pairs
    settings: Pairs


@dataclass(frozen=True, slots=True)
class Run:
    """A run of a pipeline; `ending` is `running` while the trace has no end."""

    pipeline: str
    ending: str
    seconds: str
    index: str
    inputs: Pairs
    steps: tuple[Step, ...]


def read_run(path: Path) -> Run | Problem | None:
    """The run of a trace; None for an empty file, and the problem of a file that cannot be read or is no trace."""
    try:
        events = read_trace(path)
    except PipelineError as error:
        return Problem("The trace cannot be shown", (str(error),))
    begun = next((event for event in events if isinstance(event, RunStarted)), None)
    if begun is None:
        return None
    ended = next((event for event in events if isinstance(event, RunEnded)), None)
    total = (events[-1].time - begun.time).total_seconds()
    return Run(
        pipeline=printable(begun.pipeline),
        ending=ended.ending if ended else "running",
        seconds=f"{ended.duration_seconds if ended else total:.2f} s",
        index=printable(ended.index if ended else ""),
        inputs=_pairs(begun.inputs),
        steps=_steps(events, begun, total or 1.0),
    )


def _steps(events: Sequence[TraceEvent], begun: RunStarted, total: float) -> tuple[Step, ...]:
    ends = {event.number: event for event in events if isinstance(event, StepEnded)}
    return tuple(
        _step(event, ends.get(event.number), (event.time - begun.time).total_seconds() / total, total)
        for event in events
        if isinstance(event, StepStarted)
    )


def _step(start: StepStarted, end: StepEnded | None, begin: float, total: float) -> Step:
    begin = min(max(begin, 0.0), 1.0)
    length = min(max(end.duration_seconds / total, 0.004), 1 - begin) if end else 1 - begin
    tokens = f"{end.prompt_tokens} + {end.completion_tokens}" if end else ""
    return Step(
        number=start.number,
        id=printable(start.step_id),
        action=printable(start.action),
        ending=end.ending if end else "running",
        transition=printable(end.transition) if end else "",
        seconds=f"{end.duration_seconds:.3f} s" if end else "",
        start=begin,
        length=length,
        tokens="" if tokens == "0 + 0" else tokens,
        rule=printable(": ".join(filter(None, (end.rule, end.error)))) if end else "",
        detail=_pairs(end.detail) if end else (),
        outputs=_pairs(end.outputs) if end else (),
        settings=_pairs(start.settings),
    )


def _pairs(facts: Facts) -> Pairs:
    return tuple(
        (printable(name), printable(_text(value))) for name, value in facts.items() if value not in (None, "", [], {})
    )


def _text(value: JsonValue) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping) or (isinstance(value, list) and any(isinstance(item, dict | list) for item in value)):
        return json.dumps(value, indent=2, ensure_ascii=False)
    return ", ".join(map(_text, value)) if isinstance(value, list) else json.dumps(value)
