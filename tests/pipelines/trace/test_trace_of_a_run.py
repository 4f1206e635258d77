import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import JsonValue

from groundwire_client import AccessContext, NodeFilter
from groundwire_pipelines.action_definition import Action, Outcome, StepSettings
from groundwire_pipelines.actions import expand_dependency_tree, fetch_node_texts, render_context_blocks, search_nodes
from groundwire_pipelines.engine.runner import run_steps
from groundwire_pipelines.errors import PipelineError, StepError
from groundwire_pipelines.runtime import Message, ModelAnswer, ModelRequest, Runtime
from groundwire_pipelines.state import PipelineState
from groundwire_pipelines.trace.events import TraceEvent, TraceSink, event_as_json
from groundwire_pipelines.trace.trace_file import JsonLinesSink, read_trace
from support.retrieval import (
    INDEX,
    FakeRetrieval,
    fetched,
    make_definition,
    make_runtime,
    make_state,
    make_step,
    text,
    walked,
)

SECRETS = ("where is VAT computed?", "def vat", "board only", "finance-acl")


class FakeModel:
    """Answers everything alike, at a price."""

    async def complete(self, request: ModelRequest, *, on_text: Callable[[str], None] | None = None) -> ModelAnswer:
        return ModelAnswer(f"board only: {request.messages[0].text}", prompt_tokens=7, completion_tokens=3)


async def _ask(step: StepSettings, state: PipelineState, runtime: Runtime) -> Outcome:
    assert runtime.model is not None
    for _ in range(2):
        state.last_model_response = (await runtime.model.complete(ModelRequest((Message("user", "hello"),)))).text
    state.data_requests.append("board only")
    return Outcome(detail={"asked": 2})


async def _ask_and_fail(step: StepSettings, state: PipelineState, runtime: Runtime) -> Outcome:
    await _ask(step, state, runtime)
    raise StepError("prefix-malformed", "found 'board only'")


async def _end(step: StepSettings, state: PipelineState, runtime: Runtime) -> Outcome:
    return Outcome()


ACTIONS: dict[str, Action[Any]] = {
    action.name: action
    for action in (
        search_nodes.ACTION,
        expand_dependency_tree.ACTION,
        fetch_node_texts.ACTION,
        render_context_blocks.ACTION,
        Action("ask", "Asks.", StepSettings, _ask),
        Action("ask_and_fail", "Asks in vain.", StepSettings, _ask_and_fail),
        Action("end", "Ends.", StepSettings, _end, transitions=()),
    )
}
DEFINITION = make_definition(
    make_step("search", "search_nodes", {"next": "expand"}, search_type="hybrid", query_from="question"),
    make_step(
        "expand",
        "expand_dependency_tree",
        {"next": "fetch"},
        max_depth_from_settings="graph_max_depth",
        max_nodes_from_settings="graph_max_nodes",
        edge_allowlist_from_settings="graph_edge_allowlist",
    ),
    make_step("fetch", "fetch_node_texts", {"next": "render"}),
    make_step("render", "render_context_blocks", {"next": "ask"}, view="graph"),
    make_step("ask", "ask", {"next": "end"}),
    make_step("end", "end"),
    graph_max_depth=1,
    graph_max_nodes=9,
    graph_edge_allowlist=("*",),
)
FAILING = make_definition(make_step("ask", "ask_and_fail", {"next": "ask"}))


def traced(*sinks: TraceSink, texts: bool = False) -> None:
    """Runs the pipeline with these sinks."""
    retrieval = FakeRetrieval(
        expansions=[walked([("a", 0, ""), ("b", 0, ""), ("c", 1, "a")], [("a", "c", "Calls")])],
        fetches=[fetched([text("a", "def vat", tokens=4), text("c", "def tax", 1, "a", tokens=5)])],
    )
    runtime = make_runtime(retrieval, FakeModel(), **dict(DEFINITION.settings))
    state = make_state(
        retrieval_access=AccessContext(acl_tags_any=("finance-acl",)),
        retrieval_filter=NodeFilter(languages=("python",)),
    )
    asyncio.run(run_steps(DEFINITION, ACTIONS, state, runtime, sinks=sinks, trace_texts=texts))


def traced_events(texts: bool = False) -> list[dict[str, Any]]:
    """The events of a run, without their times."""
    events: list[TraceEvent] = []
    traced(events.append, texts=texts)
    return list(map(timeless, events))


def timeless(event: TraceEvent) -> dict[str, Any]:
    return {name: value for name, value in event_as_json(event).items() if name not in ("time", "duration_seconds")}


def test_tells_when_the_run_and_each_step_start_and_end() -> None:
    events = traced_events()
    assert [(event["event"], event.get("step_id")) for event in events] == [
        ("run_started", None),
        *(
            (kind, step)
            for step in ("search", "expand", "fetch", "render", "ask", "end")
            for kind in ("step_started", "step_ended")
        ),
        ("run_ended", None),
    ]


def test_tells_names_counts_and_ids() -> None:
    events = traced_events()
    scope: dict[str, JsonValue] = {"repository": "shop", "branch": "main"}
    question: dict[str, JsonValue] = {"user_question": {"characters": 22}, "is_english": True}
    given = {**question, **scope, "retrieval_filter": {"languages": {"count": 1}}}
    assert events[0] == {"event": "run_started", "pipeline": "test", "inputs": given}
    assert events[1] == {
        "event": "step_started",
        "number": 1,
        "step_id": "search",
        "action": "search_nodes",
        "settings": {"search_type": "hybrid", "query_from": "question"},
        "inputs": given,
    }
    assert events[2] == {
        "event": "step_ended",
        "number": 1,
        "step_id": "search",
        "action": "search_nodes",
        "ending": "ok",
        "transition": "next",
        "detail": {"mode": "hybrid", "top_k": 5, "hits": 2, "exact": True},
        "outputs": {
            "active_index": INDEX,
            "search_report": {
                "hits": 2,
                "reason": "",
                "is_filtered": True,
                "similarity": None,
                "words": None,
                "is_cut": False,
                "is_weak": False,
                "weakness": "",
            },
            "retrieval_seed_nodes": {"count": 2, "ids": ["a", "b"]},
            "retrieval_hits": {"count": 2, "ids": ["a", "b"]},
        },
        "prompt_tokens": 0,
        "completion_tokens": 0,
        "index": INDEX,
        "rule": "",
        "error": "",
    }
    assert events[4]["outputs"]["graph_edges"] == {"count": 1}
    assert events[4]["outputs"]["graph_debug"]["reason"] == "ok"
    assert events[5]["inputs"]["graph_expanded_nodes"] == {"count": 3}
    assert events[6]["outputs"] == {"node_texts": {"count": 2, "ids": ["a", "c"], "tokens": 9}}
    assert events[8]["outputs"]["context_blocks"]["count"] == 1
    assert events[8]["outputs"]["shown"] == {"count": 2, "ids": ["a", "c"], "tokens": 15}
    assert events[13] == {
        "event": "run_ended",
        "pipeline": "test",
        "ending": "ok",
        "steps": 6,
        "prompt_tokens": 14,
        "completion_tokens": 6,
        "index": INDEX,
    }


def test_tells_what_the_model_calls_of_a_step_took() -> None:
    ended = [event for event in traced_events() if event["event"] == "step_ended"]
    spent = {event["step_id"]: (event["prompt_tokens"], event["completion_tokens"]) for event in ended}
    assert spent == {**dict.fromkeys(("search", "expand", "fetch", "render", "end"), (0, 0)), "ask": (14, 6)}


def test_a_run_repeated_tells_the_same_but_for_times() -> None:
    assert traced_events() == traced_events()
    assert json.dumps(traced_events(texts=True)) == json.dumps(traced_events(texts=True))


def test_holds_texts_only_when_asked_and_access_never() -> None:
    without, with_texts = json.dumps(traced_events()), json.dumps(traced_events(texts=True))
    assert [secret for secret in SECRETS if secret in without] == []
    assert [secret for secret in SECRETS if secret not in with_texts] == ["finance-acl"]


@pytest.mark.parametrize(("texts", "error"), [(False, ""), (True, "step 'ask': found 'board only'")])
def test_a_failed_step_tells_its_rule_and_what_it_spent(texts: bool, error: str) -> None:
    events: list[TraceEvent] = []
    runtime = make_runtime(FakeRetrieval(), FakeModel(), **dict(FAILING.settings))
    with pytest.raises(StepError):
        asyncio.run(run_steps(FAILING, ACTIONS, make_state(), runtime, sinks=[events.append], trace_texts=texts))
    ended, run_ended = map(timeless, events[-2:])
    assert (ended["ending"], ended["rule"], ended["transition"], ended["error"]) == (
        "failed",
        "prefix-malformed",
        "",
        error,
    )
    assert (ended["prompt_tokens"], ended["completion_tokens"]) == (14, 6)
    assert ended["outputs"]["data_requests"]["count"] == 1
    assert run_ended["ending"] == "failed"


def test_a_file_holds_an_event_a_line(tmp_path: Path) -> None:
    events: list[TraceEvent] = []
    file = tmp_path / "trace.jsonl"
    with JsonLinesSink(file) as sink:
        traced(events.append, sink)
    lines = file.read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == json.loads(json.dumps(list(map(event_as_json, events))))
    assert json.loads(lines[0])["time"].endswith("+00:00")


def test_a_file_holds_the_events_until_a_run_failed(tmp_path: Path) -> None:
    file = tmp_path / "trace.jsonl"
    runtime = make_runtime(FakeRetrieval(), FakeModel(), **dict(FAILING.settings))
    with JsonLinesSink(file) as sink, pytest.raises(StepError):
        asyncio.run(run_steps(FAILING, ACTIONS, make_state(), runtime, sinks=[sink]))
    assert [json.loads(line)["event"] for line in file.read_text(encoding="utf-8").splitlines()] == [
        "run_started",
        "step_started",
        "step_ended",
        "run_ended",
    ]


def test_a_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    events: list[TraceEvent] = []
    with JsonLinesSink(path) as sink:
        traced(sink, events.append)
    assert list(map(event_as_json, read_trace(path))) == list(map(event_as_json, events))
    path.write_text(path.read_text()[:-9])
    assert len(read_trace(path)) == len(events) - 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"event": "run_started"}', "1: no event of a trace: pipeline: Field required"),
        ('{"event": "step_skipped"}', "give a file that `groundwire run --trace FILE` has written"),
        ("[]", "give a file"),
        ("{", "1: no event of a trace: Expecting property name"),
        ("[" * 100_000, "1: no event of a trace: "),
        ("\udcff", "it is not UTF-8"),
        (
            '{"event": "run_started", "pipeline": "p", "inputs": {}, "time": "2026-01-01T00:00:00"}',
            "1: no event of a trace: time: Input should have timezone info",
        ),
    ],
)
def test_a_file_that_is_no_trace_is_refused_with_its_line(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_bytes(content.encode("utf-8", "surrogateescape") + b"\n")
    with pytest.raises(PipelineError) as refused:
        read_trace(path)
    assert message in str(refused.value)
