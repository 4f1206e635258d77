"""A run as OpenTelemetry spans: one for the run, one below it for each step.

Importing this module needs `opentelemetry-api` (the extra `telemetry`); other modules import it only if that is
installed. The process's OpenTelemetry SDK decides where spans go; without an SDK, nowhere.
"""

import json
from contextvars import Token
from typing import Final

from opentelemetry import context, trace
from opentelemetry.context import Context
from opentelemetry.trace import Span, StatusCode, Tracer

from groundwire_pipelines.trace.events import Facts, RunEnded, RunStarted, StepEnded, StepStarted, TraceEvent

_LIBRARY: Final = "groundwire_pipelines"


class SpanSink:
    """Makes spans of the events of one run. A step's span is the current one, so calls have spans below it."""

    def __init__(self, tracer: Tracer | None = None) -> None:
        self._tracer = tracer or trace.get_tracer(_LIBRARY)
        self._open: list[tuple[Span, Token[Context]]] = []

    def __call__(self, event: TraceEvent) -> None:
        """Starts or ends a span."""
        match event:
            case RunStarted():
                self._start(f"pipeline {event.pipeline}", {"groundwire.pipeline": event.pipeline})
            case StepStarted():
                self._start(
                    f"step {event.step_id}",
                    {
                        "groundwire.step.id": event.step_id,
                        "groundwire.step.action": event.action,
                        "groundwire.step.number": event.number,
                        "groundwire.step.settings": _json(event.settings),
                    },
                )
            case StepEnded():
                self._end(
                    event,
                    {
                        "groundwire.step.transition": event.transition,
                        "groundwire.step.detail": _json(event.detail),
                        "groundwire.step.outputs": _json(event.outputs),
                        "groundwire.step.rule": event.rule,
                    },
                )
            case RunEnded():
                self._end(event, {"groundwire.steps": event.steps})

    def _start(self, name: str, attributes: dict[str, str | int]) -> None:
        span = self._tracer.start_span(name, attributes=attributes)
        self._open.append((span, context.attach(trace.set_span_in_context(span))))

    def _end(self, event: StepEnded | RunEnded, attributes: dict[str, str | int]) -> None:
        span, token = self._open.pop()
        context.detach(token)
        span.set_attributes(
            {
                **attributes,
                "groundwire.ending": event.ending,
                "groundwire.index": event.index,
                "gen_ai.usage.input_tokens": event.prompt_tokens,
                "gen_ai.usage.output_tokens": event.completion_tokens,
            }
        )
        if event.ending != "ok":
            span.set_status(StatusCode.ERROR, event.ending)
        span.end()


def _json(facts: Facts) -> str:
    return json.dumps(dict(facts))
