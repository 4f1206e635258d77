"""Calls as OpenTelemetry spans: one for the call, below the caller's own, and one for each stage.

Importing this module needs the extra `telemetry`. Spans are made when a call has ended, from its record: a call that is
not sampled costs the decision alone.
"""

import os
import time
import uuid
from collections.abc import Mapping

import grpc
from opentelemetry.context import Context
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
from opentelemetry.trace import SpanKind, StatusCode, format_trace_id, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from groundwire_server.rpc.telemetry.call_record import CallRecord, Outcome, Stage

UNDECIDED_SHARE = 0.01
# The statuses that a server's span counts as errors: https://opentelemetry.io/docs/specs/semconv/rpc/grpc/
_SERVER_ERRORS = frozenset(
    {
        grpc.StatusCode.UNKNOWN,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.UNIMPLEMENTED,
        grpc.StatusCode.INTERNAL,
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DATA_LOSS,
    }
)


class Traces:
    """Makes spans of calls. The sampler is that of the variable OTEL_TRACES_SAMPLER.

    Without it, a caller's decision holds; of calls without one, the share UNDECIDED_SHARE is sampled.
    """

    def __init__(self, exporter: SpanExporter, version: str) -> None:
        named = os.environ.get("OTEL_TRACES_SAMPLER")
        sampler = None if named else ParentBased(TraceIdRatioBased(UNDECIDED_SHARE))  # the provider reads the variable
        self._provider = TracerProvider(sampler=sampler, resource=_resource(version), shutdown_on_exit=False)
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer("groundwire_server", version)
        self._propagator = TraceContextTextMapPropagator()

    def export(self, call: CallRecord, outcome: Outcome, ended: int) -> str:
        """Hands in the spans of a call that ended at `ended`, by its clock; returns its trace id, "" if not sampled."""
        epoch = time.time_ns() - time.perf_counter_ns()
        span = self._tracer.start_span(
            call.method,
            context=self._propagator.extract(call.headers.trace, Context()),
            kind=SpanKind.SERVER,
            start_time=epoch + call.began,
        )
        if not span.is_recording():
            return ""
        span.set_attributes(_attributes(call, outcome))
        if outcome.code in _SERVER_ERRORS:
            span.set_status(StatusCode.ERROR)
        self._export_stages(set_span_in_context(span), call, epoch, ended)
        span.end(epoch + ended)
        return format_trace_id(span.get_span_context().trace_id)

    def stop(self) -> None:
        """Sends what has not been sent yet, for as long as the exporter's timeout allows."""
        self._provider.shutdown()

    def _export_stages(self, call_context: Context, call: CallRecord, epoch: int, ended: int) -> None:
        """A stage that still runs, of a call that was given up, ends with the call."""
        if call.queue_began:
            self._export_stage(Stage("queue", -1, call.queue_began, call.queue_ended), call_context, epoch, ended)
        contexts: list[Context] = []
        for stage in tuple(call.stages):
            parent = call_context if stage.parent < 0 else contexts[stage.parent]
            contexts.append(self._export_stage(stage, parent, epoch, ended))

    def _export_stage(self, stage: Stage, parent: Context, epoch: int, ended: int) -> Context:
        span = self._tracer.start_span(stage.name, context=parent, start_time=epoch + stage.began)
        span.end(epoch + (stage.ended or ended))
        return set_span_in_context(span, parent)


def _attributes(call: CallRecord, outcome: Outcome) -> Mapping[str, str]:
    attributes = {
        "rpc.system.name": "grpc",
        "rpc.method": call.method,
        "rpc.response.status_code": outcome.code.name,
        "groundwire.request_id": call.headers.request_id,
    }
    if outcome.code in _SERVER_ERRORS:
        attributes["error.type"] = outcome.code.name
    if outcome.reason:
        attributes["groundwire.reason"] = outcome.reason
    if outcome.index:
        attributes["groundwire.index"] = outcome.index
    return attributes


def _resource(version: str) -> Resource:
    """The resource of spans; environment variables override it."""
    known = {"service.name": "groundwire", "service.version": version, "service.instance.id": str(uuid.uuid4())}
    return Resource.create({**known, **OTELResourceDetector().detect().attributes})
