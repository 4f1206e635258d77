import asyncio
import json
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from groundwire_pipelines.action_definition import Action, Outcome, StepSettings
from groundwire_pipelines.actions import search_nodes
from groundwire_pipelines.engine.runner import run_steps
from groundwire_pipelines.errors import StepError
from groundwire_pipelines.runtime import Runtime
from groundwire_pipelines.state import PipelineState
from groundwire_pipelines.trace.spans import SpanSink
from support.retrieval import INDEX, FakeRetrieval, make_definition, make_runtime, make_state, make_step

SEARCH = make_step("search", "search_nodes", {"next": "end"}, search_type="bm25", query_from="question")


def spans_of(*, fails: bool) -> list[ReadableSpan]:
    """The spans of a run that searches, and then ends or fails; its last step makes a span of its own."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("test")

    async def end(step: StepSettings, state: PipelineState, runtime: Runtime) -> Outcome:
        tracer.start_span("inner").end()
        if fails:
            raise StepError("rule-broken", "a rule is broken")
        return Outcome()

    ending: dict[str, Action[Any]] = {"end": Action("end", "Ends.", StepSettings, end, transitions=())}
    definition = make_definition(SEARCH, make_step("end", "end"))
    runtime = make_runtime(FakeRetrieval(), **dict(definition.settings))
    run = run_steps(
        definition, {"search_nodes": search_nodes.ACTION, **ending}, make_state(), runtime, sinks=[SpanSink(tracer)]
    )
    if fails:
        with pytest.raises(StepError):
            asyncio.run(run)
    else:
        asyncio.run(run)
    return list(exporter.get_finished_spans())


def test_a_step_is_a_span_below_the_runs() -> None:
    search, inner, end, whole = spans_of(fails=False)
    assert [span.name for span in (search, inner, end, whole)] == ["step search", "inner", "step end", "pipeline test"]
    assert whole.parent is None
    assert whole.context is not None
    assert end.context is not None
    assert [span.parent and span.parent.span_id for span in (search, end)] == [whole.context.span_id] * 2
    assert inner.parent is not None
    assert inner.parent.span_id == end.context.span_id


def test_a_span_holds_what_the_step_tells() -> None:
    search, _, _, whole = spans_of(fails=False)
    attributes = dict(search.attributes or {})
    assert attributes["groundwire.step.action"] == "search_nodes"
    assert attributes["groundwire.step.transition"] == "next"
    assert attributes["groundwire.index"] == INDEX
    assert json.loads(str(attributes["groundwire.step.outputs"]))["retrieval_seed_nodes"] == {
        "count": 2,
        "ids": ["a", "b"],
    }
    assert json.loads(str(attributes["groundwire.step.detail"]))["hits"] == 2
    assert attributes["gen_ai.usage.input_tokens"] == 0
    assert (whole.attributes or {})["groundwire.steps"] == 2
    assert whole.status.status_code is StatusCode.UNSET


def test_a_failed_step_and_its_run_are_failed_spans() -> None:
    *_, end, whole = spans_of(fails=True)
    assert (end.attributes or {})["groundwire.step.rule"] == "rule-broken"
    assert (end.status.status_code, whole.status.status_code) == (StatusCode.ERROR, StatusCode.ERROR)


def test_after_a_run_the_current_span_is_what_it_was() -> None:
    spans_of(fails=True)
    assert trace.get_current_span() is trace.INVALID_SPAN
