"""`retry` and `on_error`: what a run does about steps that fail."""

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, cast

import grpc
import pytest

from groundwire_client import AsyncGroundwireClient, FailedPreconditionError, NotFoundError, UnavailableError
from groundwire_pipelines import Pipeline
from groundwire_pipelines.action_definition import Action, Outcome, StepSettings
from groundwire_pipelines.action_parts.evidence_text import evidence_or_reason
from groundwire_pipelines.actions import search_nodes
from groundwire_pipelines.engine.runner import run_steps
from groundwire_pipelines.errors import RunCancelledError, StepError
from groundwire_pipelines.runtime import Runtime
from groundwire_pipelines.state import PipelineState, SearchReport
from groundwire_pipelines.trace.events import StepEnded, TraceEvent
from support.retrieval import FakeRetrieval, make_definition, make_runtime, make_state, make_step, search_response

BUSY = UnavailableError(grpc.StatusCode.UNAVAILABLE, "OVERLOADED", "busy", {}, "1")
ABSENT = NotFoundError(grpc.StatusCode.NOT_FOUND, "SCOPE_NOT_FOUND", "no such scope", {}, "1")
RETRY = {"tries": 3, "pause_seconds": 0.001}


async def _say(step: StepSettings, state: PipelineState, runtime: Runtime) -> Outcome:
    state.final_answer = ", ".join(state.retrieval_seed_nodes)
    return Outcome()


async def _tell_and_fail(step: StepSettings, state: PipelineState, runtime: Runtime) -> Outcome:
    assert runtime.on_answer is not None
    runtime.on_answer("half of an ")
    raise StepError("model-unreachable", "gone", may_pass=True)


ACTIONS: dict[str, Action[Any]] = {
    "say": Action("say", "Says.", StepSettings, _say, transitions=()),
    "tell_and_fail": Action("tell_and_fail", "Tells.", StepSettings, _tell_and_fail),
    "search_nodes": search_nodes.ACTION,
}


def run(
    searches: Iterable[Any],
    ways: dict[str, str],
    action: str = "search_nodes",
    deadline_seconds: float = 600.0,
    **keys: Any,
) -> tuple[PipelineState, list[StepEnded], list[str]]:
    """The state at the end, how the steps ended, and what was told of an answer."""
    raw = {"search_type": "bm25", "query_from": "question", **keys} if action == "search_nodes" else keys
    definition = make_definition(
        make_step("try", action, {"next": "end", **ways}, **raw), make_step("end", "say"), make_step("other", "say")
    )
    state = make_state(retrieval_seed_nodes=["before"])
    events: list[TraceEvent] = []
    streamed: list[str] = []
    runtime = make_runtime(
        FakeRetrieval(searches=list(searches)), deadline_seconds=deadline_seconds, entry_step_id="try"
    )
    listening = Runtime(
        runtime.retrieval, runtime.settings, runtime.counter, runtime.prompts, on_answer=streamed.append
    )
    asyncio.run(run_steps(definition, ACTIONS, state, listening, sinks=[events.append]))
    return state, [event for event in events if isinstance(event, StepEnded)], streamed


def test_a_step_is_tried_again_after_what_may_pass() -> None:
    state, ended, _ = run([BUSY, BUSY, search_response("a")], {}, retry=RETRY)
    assert state.final_answer == "a"
    assert [(step.step_id, step.ending, step.transition, step.rule) for step in ended] == [
        ("try", "failed", "retry", "server-overloaded"),
        ("try", "failed", "retry", "server-overloaded"),
        ("try", "ok", "next", ""),
        ("end", "ok", "next", ""),
    ]
    assert state.error_rule == ""


def test_tries_are_bounded_and_then_the_error_stands() -> None:
    with pytest.raises(StepError) as caught:
        run([BUSY], {}, retry=RETRY)
    assert (caught.value.rule, caught.value.step_id) == ("server-overloaded", "try")


@pytest.mark.parametrize("keys", [{}, {"retry": RETRY}])
def test_nothing_else_is_tried_again(keys: dict[str, Any]) -> None:
    with pytest.raises(StepError) as caught:
        run([ABSENT if keys else BUSY, search_response("a")], {}, **keys)
    assert caught.value.rule == ("server-scope-not-found" if keys else "server-overloaded")


def test_a_try_waits_as_long_as_the_endpoint_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    monkeypatch.setattr("groundwire_pipelines.engine.runner.asyncio.sleep", sleep)
    asks = [StepError("model-overloaded", "busy", may_pass=True, wait_seconds=seconds) for seconds in (7.0, 0.0)]
    run([*asks, search_response("a")], {}, retry=RETRY)
    assert [pause for pause in pauses if pause] == [7.0, 0.002]


@pytest.mark.parametrize(("search_type", "is_told"), [("hybrid", True), ("bm25", False)])
def test_of_an_index_without_vectors_it_is_said_what_to_set(search_type: str, is_told: bool) -> None:
    missing = FailedPreconditionError(grpc.StatusCode.FAILED_PRECONDITION, "VECTORS_MISSING", "no vectors", {}, "1")
    with pytest.raises(StepError) as caught:
        run([missing], {}, search_type=search_type)
    assert ("retrieval_modes: [bm25]" in caught.value.message) == is_told


def test_a_pause_does_not_outlast_the_deadline() -> None:
    with pytest.raises(RunCancelledError):
        run([BUSY], {}, deadline_seconds=0.3, retry={"tries": 2, "pause_seconds": 600})


def test_an_answer_that_was_told_in_part_is_not_told_again() -> None:
    _, ended, streamed = run([], {"on_error": "end"}, action="tell_and_fail", retry=RETRY)
    assert streamed == ["half of an "]
    assert [step.transition for step in ended] == ["on_error", "next"]


@pytest.mark.parametrize(
    ("ways", "way", "target"),
    [
        ({"on_error": "other"}, "on_error", "other"),
        ({"on_error": "end", "on_error.server-scope-not-found": "other"}, "on_error.server-scope-not-found", "other"),
        ({"on_error": "end", "on_error.server-overloaded": "other"}, "on_error", "end"),
    ],
)
def test_an_error_takes_its_way_with_the_state_of_before(ways: dict[str, str], way: str, target: str) -> None:
    state, ended, _ = run([ABSENT], ways)
    assert [(step.step_id, step.transition) for step in ended] == [("try", way), (target, "next")]
    assert state.final_answer == "before"
    assert (state.error_step, state.error_rule, state.error_message) == (
        "try",
        "server-scope-not-found",
        "no such scope",
    )
    assert ended[0].outputs["error_rule"] == "server-scope-not-found"
    assert ended[0].outputs["error_message"] == {"characters": len("no such scope")}


def test_an_error_of_another_rule_has_no_way() -> None:
    with pytest.raises(StepError):
        run([ABSENT], {"on_error.server-overloaded": "other"})


def test_an_answer_after_an_error_says_that_the_step_failed() -> None:
    """Nothing was found is another thing than that nothing could be asked."""
    pipeline = Pipeline.load("evidence")
    steps = dict(pipeline.definition.steps)
    transitions = {"next": "finalize", "on_error": "finalize"}
    steps["gather"] = steps["gather"].model_copy(update={"transitions": transitions})
    client = cast("AsyncGroundwireClient", FakeRetrieval(gatherings=[ABSENT]))
    failing = Pipeline(replace(pipeline.definition, steps=steps))
    result = asyncio.run(failing.arun("tax", client=client, repository="shop", branch="main"))
    assert result.answer == "The step 'gather' failed: no such scope"


def test_an_answer_after_an_error_says_what_was_found_since() -> None:
    state = make_state(error_step="search", error_message="overloaded", search_report=SearchReport(0))
    assert evidence_or_reason(state, make_runtime(FakeRetrieval())) == (
        "The step 'search' failed: overloaded\nNothing was found in shop (main)."
    )
    state = make_state(error_step="fetch", error_message="overloaded", retrieval_seed_nodes=["a"])
    assert evidence_or_reason(state, make_runtime(FakeRetrieval())) == (
        "The step 'fetch' failed: overloaded\nNodes found in shop (main): 1. No step fetched their texts:\n- a"
    )
