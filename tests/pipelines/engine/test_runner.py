import asyncio
from typing import Any

import grpc
import pytest

from groundwire_client import (
    AccessContext,
    FieldViolation,
    IndexScope,
    InvalidRequestError,
    NodeFilter,
    NotFoundError,
    UnavailableError,
)
from groundwire_pipelines.action_definition import Action, Outcome, StepSettings
from groundwire_pipelines.actions import search_nodes
from groundwire_pipelines.definition.pipeline_definition import PipelineDefinition
from groundwire_pipelines.engine.runner import run_steps
from groundwire_pipelines.errors import RunCancelledError, StepError
from groundwire_pipelines.runtime import Runtime
from groundwire_pipelines.state import PipelineState
from groundwire_pipelines.trace.events import RunEnded, StepEnded, StepStarted, TraceEvent
from support.retrieval import (
    INDEX,
    FakeRetrieval,
    make_definition,
    make_runtime,
    make_state,
    make_step,
    search_response,
)


class Choice(StepSettings):
    """The way that a step takes."""

    way: str = "next"


async def _note(step: Choice, state: PipelineState, runtime: Runtime) -> Outcome:
    state.last_model_response += "."
    return Outcome(step.way)


async def _say(step: StepSettings, state: PipelineState, runtime: Runtime) -> Outcome:
    state.final_answer = f"{len(state.last_model_response)} notes"
    return Outcome("no matter what")


class Assignment(StepSettings):
    """Which field of the state to assign."""

    field: str


async def _fail(step: StepSettings, state: PipelineState, runtime: Runtime) -> Outcome:
    raise StepError("rule-broken", "a rule is broken")


async def _time_out(step: StepSettings, state: PipelineState, runtime: Runtime) -> Outcome:
    raise TimeoutError("of its own")


async def _replace_access(step: StepSettings, state: PipelineState, runtime: Runtime) -> Outcome:
    state.retrieval_access = AccessContext(tenant_id="other")
    return Outcome()


async def _clear_filter(step: StepSettings, state: PipelineState, runtime: Runtime) -> Outcome:
    state.retrieval_filter = NodeFilter()
    return Outcome()


async def _change_in_place(step: StepSettings, state: PipelineState, runtime: Runtime) -> Outcome:
    assert state.retrieval_access is not None
    state.retrieval_access.tenant_id = "other"
    state.retrieval_filter.Clear()
    return Outcome()


async def _assign(step: Assignment, state: PipelineState, runtime: Runtime) -> Outcome:
    value = [IndexScope(repository="other", branch="main")] if step.field == "scopes" else "other"
    setattr(state, step.field, value)
    return Outcome()


async def _add_a_scope(step: StepSettings, state: PipelineState, runtime: Runtime) -> Outcome:
    state.scopes.append(IndexScope(repository="other", branch="main"))
    return Outcome()


async def _pin_elsewhere(step: StepSettings, state: PipelineState, runtime: Runtime) -> Outcome:
    state.pin("", [IndexScope(repository="other", branch="main", active_index="v1")])
    return Outcome()


NOTE = Action("note", "Notes.", Choice, _note, transitions=("next", "on_other"))
ACTIONS: dict[str, Action[Any]] = {
    "note": NOTE,
    "say": Action("say", "Says.", StepSettings, _say, transitions=()),
    "fail": Action("fail", "Fails.", StepSettings, _fail),
    "time_out": Action("time_out", "Times out.", StepSettings, _time_out),
    "search_nodes": search_nodes.ACTION,
    "replace_access": Action("replace_access", "Sees more.", StepSettings, _replace_access),
    "clear_filter": Action("clear_filter", "Finds more.", StepSettings, _clear_filter),
    "assign": Action("assign", "Looks elsewhere.", Assignment, _assign),
    "add_a_scope": Action("add_a_scope", "Looks elsewhere too.", StepSettings, _add_a_scope),
    "pin_elsewhere": Action("pin_elsewhere", "Pins what nobody asked.", StepSettings, _pin_elsewhere),
    "change_in_place": Action("change_in_place", "Sees and finds more.", StepSettings, _change_in_place),
}


def run(
    definition: PipelineDefinition, state: PipelineState | None = None, retrieval: FakeRetrieval | None = None
) -> tuple[PipelineState, list[TraceEvent]]:
    """The state at the end of a run, and its events."""
    state = state or make_state()
    events: list[TraceEvent] = []
    asyncio.run(run_with(definition, state, retrieval or FakeRetrieval(), events))
    return state, events


async def run_with(
    definition: PipelineDefinition, state: PipelineState, retrieval: FakeRetrieval, events: list[TraceEvent]
) -> None:
    runtime = make_runtime(retrieval, **dict(definition.settings))
    await run_steps(definition, ACTIONS, state, runtime, sinks=[events.append])


def path(events: list[TraceEvent]) -> list[str]:
    return [event.step_id for event in events if isinstance(event, StepStarted)]


def test_runs_from_the_entry_step_along_the_transitions_to_an_end() -> None:
    definition = make_definition(
        make_step("unused", "fail", {"next": "end"}),
        make_step("end", "say"),
        make_step("second", "note", {"next": "unused", "on_other": "end"}, way="on_other"),
        make_step("first", "note", {"next": "second", "on_other": "unused"}),
        entry_step_id="first",
    )
    state, events = run(definition)
    assert path(events) == ["first", "second", "end"]
    assert state.final_answer == "2 notes"


def test_an_error_of_a_step_names_the_step() -> None:
    with pytest.raises(StepError) as caught:
        run(make_definition(make_step("broken", "fail", {"next": "broken"})))
    assert (caught.value.rule, caught.value.step_id) == ("rule-broken", "broken")
    assert str(caught.value) == "step 'broken': a rule is broken"


@pytest.mark.parametrize(
    ("action", "failed"),
    [("replace_access", "state-read-only"), ("clear_filter", "state-read-only"), ("change_in_place", "")],
)
def test_no_step_changes_what_later_steps_may_see(action: str, failed: str) -> None:
    access, narrowing, retrieval = AccessContext(tenant_id="acme"), NodeFilter(kinds=["cs"]), FakeRetrieval()
    definition = make_definition(
        make_step("greedy", action, {"next": "search", "on_error": "search"}),
        make_step("search", "search_nodes", {"next": "end"}, search_type="bm25", query_from="question"),
        make_step("end", "say"),
    )
    state, _ = run(definition, make_state(retrieval_access=access, retrieval_filter=narrowing), retrieval)
    assert state.error_rule == failed
    (call,) = retrieval.calls
    assert (call.arguments["access"], call.arguments["filter"]) == (access, narrowing)
    assert (access, narrowing) == (AccessContext(tenant_id="acme"), NodeFilter(kinds=["cs"]))


@pytest.mark.parametrize("field", ["repository", "branch", "scopes", "active_index"])
def test_no_step_changes_where_later_steps_look(field: str) -> None:
    retrieval = FakeRetrieval()
    definition = make_definition(
        make_step("greedy", "assign", {"next": "search", "on_error": "search"}, field=field),
        make_step("search", "search_nodes", {"next": "end"}, search_type="bm25", query_from="question"),
        make_step("end", "say"),
    )
    state, _ = run(definition, make_state(), retrieval)
    assert (state.error_rule, state.active_index) == ("state-read-only", INDEX)
    assert [call.scope for call in retrieval.calls] == [IndexScope(repository="shop", branch="main")]


@pytest.mark.parametrize(("action", "failed"), [("add_a_scope", ""), ("pin_elsewhere", "index-changed")])
def test_no_step_adds_a_scope_to_those_of_the_caller(action: str, failed: str) -> None:
    named = [IndexScope(repository="shop", branch="main"), IndexScope(repository="team-*", branch="*")]
    answer = search_response("shop::main::cs::a", index="")
    answer.scopes.append(IndexScope(repository="team-a", branch="dev", active_index="v1"))
    retrieval = FakeRetrieval(searches=[answer])
    definition = make_definition(
        make_step("greedy", action, {"next": "search", "on_error": "search"}),
        make_step("search", "search_nodes", {"next": "end"}, search_type="bm25", query_from="question"),
        make_step("end", "say"),
    )
    state, _ = run(definition, make_state(scopes=named), retrieval)
    assert state.error_rule == failed
    assert [call.scope for call in retrieval.calls] == [named]
    assert (state.active_index, state.scopes) == ("team-a::dev::v1", list(answer.scopes))


@pytest.mark.parametrize(
    ("error", "rule", "message"),
    [
        (
            NotFoundError(grpc.StatusCode.NOT_FOUND, "SCOPE_NOT_FOUND", "no index of shop, main", {}, "7"),
            "server-scope-not-found",
            "no index of shop, main",
        ),
        (UnavailableError(grpc.StatusCode.UNAVAILABLE, "", "gone", {}, ""), "server-unavailable", "gone"),
        (
            InvalidRequestError(
                grpc.StatusCode.INVALID_ARGUMENT,
                "VALUE_OUT_OF_RANGE",
                "2 fields",
                {},
                "",
                (
                    FieldViolation("top_k", "VALUE_OUT_OF_RANGE", "5000 is too large"),
                    FieldViolation("query", "FIELD_REQUIRED", "is blank"),
                ),
            ),
            "server-value-out-of-range",
            "top_k: 5000 is too large; query: is blank",
        ),
    ],
)
def test_an_error_of_the_server_is_one_of_the_step(error: Exception, rule: str, message: str) -> None:
    step = make_step("look", "search_nodes", {"next": "look"}, search_type="bm25", query_from="question")
    with pytest.raises(StepError) as caught:
        run(make_definition(step), retrieval=FakeRetrieval(searches=[error]))
    assert (caught.value.rule, caught.value.message, caught.value.step_id) == (rule, message, "look")
    assert caught.value.__cause__ is error


def test_a_loop_ends_at_the_step_limit() -> None:
    definition = make_definition(make_step("again", "note", {"next": "again", "on_other": "again"}), max_steps=7)
    state = make_state()
    with pytest.raises(StepError) as caught:
        run(definition, state)
    assert (caught.value.rule, caught.value.step_id) == ("step-limit", "again")
    assert len(state.last_model_response) == 7


def test_as_many_steps_as_the_limit_may_run() -> None:
    definition = make_definition(
        make_step("one", "note", {"next": "two", "on_other": "two"}), make_step("two", "say"), max_steps=2
    )
    assert run(definition)[0].final_answer == "1 notes"


def test_the_deadline_ends_a_step_that_waits() -> None:
    definition = make_definition(
        make_step("look", "search_nodes", {"next": "look"}, search_type="bm25", query_from="question"),
        deadline_seconds=0.05,
    )
    events: list[TraceEvent] = []
    with pytest.raises(RunCancelledError, match=r"deadline of 0.05 s in the step 'look'"):
        asyncio.run(run_with(definition, make_state(), FakeRetrieval(hangs=True), events))
    assert [event.ending for event in events if isinstance(event, StepEnded | RunEnded)] == ["cancelled", "cancelled"]


def test_the_deadline_ends_a_loop_of_steps_that_never_wait() -> None:
    definition = make_definition(
        make_step("again", "note", {"next": "again", "on_other": "again"}), max_steps=10_000, deadline_seconds=0.001
    )
    with pytest.raises(RunCancelledError):
        run(definition)


def test_a_timeout_that_is_not_the_runs_stays_what_it_is() -> None:
    with pytest.raises(TimeoutError, match="of its own"):
        run(make_definition(make_step("late", "time_out", {"next": "late"})))


def test_a_cancelled_run_is_a_cancelled_task() -> None:
    definition = make_definition(
        make_step("look", "search_nodes", {"next": "look"}, search_type="bm25", query_from="question")
    )
    retrieval, events = FakeRetrieval(hangs=True), list[TraceEvent]()

    async def give_up() -> bool:
        task = asyncio.create_task(run_with(definition, make_state(), retrieval, events))
        while not retrieval.calls:
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled()

    assert asyncio.run(give_up())
    assert [event.ending for event in events if isinstance(event, StepEnded | RunEnded)] == ["cancelled", "cancelled"]


def test_one_snapshot_a_question_follow_up_loops_included() -> None:
    search = {"search_type": "bm25", "query_from": "question"}
    definition = make_definition(
        make_step("first", "search_nodes", {"next": "second"}, **search),
        make_step("second", "search_nodes", {"next": "end"}, **search),
        make_step("end", "say"),
    )
    retrieval = FakeRetrieval(searches=[search_response("a"), search_response("b")])
    state, _ = run(definition, retrieval=retrieval)
    assert [call.scope.active_index for call in retrieval.calls] == ["", INDEX]
    assert state.active_index == INDEX


@pytest.mark.parametrize(
    ("rule", "step_id", "definition"),
    [
        ("action-unknown", "a", make_definition(make_step("a", "nothing"))),
        ("step-unknown", "b", make_definition(make_step("a", "fail"), entry_step_id="b")),
        ("transition-missing", "a", make_definition(make_step("a", "note", {"on_other": "a"}))),
        ("transition-unknown", "a", make_definition(make_step("a", "note", {"next": "a"}, way="on_loss"))),
        ("way-malformed", "a", make_definition(make_step("a", "note", {"next": "a"}, way=3))),
        ("ways-unknown", "a", make_definition(make_step("a", "note", {"next": "a"}, ways="next"))),
    ],
)
def test_a_pipeline_made_in_memory_is_checked_as_well(rule: str, step_id: str, definition: PipelineDefinition) -> None:
    with pytest.raises(StepError) as caught:
        run(definition)
    assert (caught.value.rule, caught.value.step_id) == (rule, step_id)
