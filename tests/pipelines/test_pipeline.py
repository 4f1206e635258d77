"""Whole runs of whole pipelines, over real connections to a server in this process."""

import asyncio
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from groundwire.tokens import TokenCounter
from groundwire.v1 import evidence_pb2, scope_pb2
from groundwire_client import AccessContext, AsyncGroundwireClient, NodeFilter
from groundwire_pipelines.errors import DefinitionError, StepError
from groundwire_pipelines.models.endpoint import ModelEndpoint
from groundwire_pipelines.models.openai_model import OpenAIModel
from groundwire_pipelines.pipeline import Pipeline, PipelineResult, _span_sinks
from groundwire_pipelines.runtime import ModelAnswer, ModelRequest
from groundwire_pipelines.trace.events import RunEnded, RunStarted, TraceEvent, event_as_json
from support.openai_server import scripted_server
from support.retrieval_server import WorldServer, serving

SEARCH_ONLY = """
pipeline:
  name: search_only
  settings: {entry_step_id: search, repository: books, branch: trunk, top_k: 2, max_context_tokens: 8000}
  steps:
    - {id: search, action: fetch_more_context, search_type: bm25, query_from: question, next: fetch}
    - {id: render, action: render_context_blocks, view: flat, next: finalize}
    - {id: fetch, action: fetch_node_texts, budget_tokens: 5, next: render}
    - {id: finalize, action: finalize}
"""

TWICE = """
pipeline:
  name: twice
  extends: evidence
  settings: {entry_step_id: first}
  steps:
    - {id: first, action: gather_evidence, next: gather}
"""

ASKS = """
pipeline:
  name: asks
  settings: {entry_step_id: ask, repository: shop, branch: main, max_turn_loops: 0}
  steps:
    - {id: ask, action: call_model, prompt: say, protocol: answer, output: answer, variables: [repository], next: read}
    - {id: read, action: handle_prefix, protocol: answer, on_answer: end, on_request: guard}
    - {id: guard, action: loop_guard, on_continue: ask, on_limit: end}
    - {id: end, action: finalize}
"""


class Echo:
    """A model that answers with its prompt, in two pieces."""

    async def complete(self, request: ModelRequest, *, on_text: Callable[[str], None] | None = None) -> ModelAnswer:
        prompt = request.messages[-1].text
        if on_text is not None:
            on_text("[Answer:] ")
            on_text(prompt)
        return ModelAnswer(f"[Answer:] {prompt}", prompt_tokens=3, completion_tokens=5)


@pytest.fixture
def world() -> WorldServer:
    return WorldServer()


@pytest.fixture
def address(world: WorldServer) -> Iterator[str]:
    with serving(world) as address:
        yield address


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a pipeline of its own."""
    (tmp_path / "search_only.yaml").write_text(SEARCH_ONLY, encoding="utf-8")
    return tmp_path


def events_of(result: PipelineResult) -> list[dict[str, Any]]:
    """The trace without its times."""
    return [
        {name: value for name, value in event_as_json(event).items() if name not in ("time", "duration_seconds")}
        for event in result.trace
    ]


def test_evidence_needs_no_model(address: str) -> None:
    result = Pipeline.load("evidence").run("tax rules", server=address, repository="shop", branch="main")
    (block,) = result.context_blocks
    assert block.split("\n")[0] == "src/all.py"
    assert [source.node.id for source in result.state.shown] == ["shop::main::public::tax", "shop::main::public::rules"]
    assert result.answer == "\n\n".join(result.context_blocks)
    assert (result.index, result.state.active_index) == ("version-1", "version-1")
    assert isinstance(result.trace[0], RunStarted)
    assert isinstance(result.trace[-1], RunEnded)


def test_quick_evidence_follows_no_edge(world: WorldServer, address: str) -> None:
    pipeline = Pipeline.load("quick_evidence", max_context_tokens=40, phrasings=["VatService.Rate"])
    result = pipeline.run(
        "tax rules law", server=address, repository="shop", branch="main", access=AccessContext(tenant_id="acme")
    )
    (request,) = world.requests
    assert isinstance(request, evidence_pb2.GatherEvidenceRequest)
    assert (request.question, list(request.phrasings)) == ("tax rules law", ["VatService.Rate"])
    assert (request.graph_share, request.HasField("graph_share"), request.access.tenant_id) == (0.0, True, "acme")
    assert TokenCounter().count(result.answer) <= 40
    assert result.index == "version-1"


def test_all_calls_of_a_question_read_the_index_of_the_first_answer(
    folder: Path, world: WorldServer, address: str
) -> None:
    (folder / "twice.yaml").write_text(TWICE, encoding="utf-8")
    Pipeline.load("twice", [folder]).run("tax", server=address, repository="shop", branch="main")
    requests: list[Any] = world.requests
    assert [request.scope.active_index for request in requests] == ["", "version-1"]


def test_every_call_has_the_callers_scope_access_and_version(world: WorldServer, address: str) -> None:
    Pipeline.load("evidence").run(
        "tax",
        server=address,
        repository="shop",
        branch="main",
        active_index="pinned",
        access=AccessContext(
            tenant_id="acme", acl_tags_any=("finance",), classification_labels_all=("internal",), clearance_level=2
        ),
        filter=NodeFilter(languages=("python",)),
    )
    scope = scope_pb2.IndexScope(repository="shop", branch="main", active_index="pinned")
    access = scope_pb2.AccessContext(
        tenant_id="acme", acl_tags_any=["finance"], classification_labels_all=["internal"], clearance_level=2
    )
    requests: list[Any] = world.requests
    assert [(request.scope, request.access) for request in requests] == [(scope, access)]
    assert isinstance(requests[0], evidence_pb2.GatherEvidenceRequest)
    assert requests[0].filter.languages == ["python"]


def test_without_access_a_run_sees_public_nodes_whatever_its_client_may_see(world: WorldServer, address: str) -> None:
    async def ask() -> None:
        async with AsyncGroundwireClient(address, access=AccessContext(tenant_id="acme")) as client:
            await Pipeline.load("evidence").arun("tax", client=client, repository="shop", branch="main")

    asyncio.run(ask())
    requests: list[Any] = world.requests
    assert {request.access.tenant_id for request in requests} == {""}


def test_scope_comes_from_the_settings_where_the_caller_names_none(
    folder: Path, world: WorldServer, address: str
) -> None:
    Pipeline.load("search_only", [folder]).run("tax", server=address)
    requests: list[Any] = world.requests
    assert (requests[0].scope.repository, requests[0].scope.branch) == ("books", "trunk")


def test_settings_of_a_run_win_over_those_of_the_files(world: WorldServer, address: str) -> None:
    Pipeline.load("evidence", graph_share=0.5, repository="shop", branch="main").run("a b c", server=address)
    requests: list[Any] = world.requests
    assert requests[0].graph_share == 0.5


def test_a_file_may_be_given_by_its_path(folder: Path, address: str) -> None:
    result = Pipeline.load(folder / "search_only.yaml").run("tax rules now", server=address)
    assert result.context_blocks == ("src/all.py\n[1]\n1 def source_of('books::trunk::public::tax'): ...",)


def test_a_model_answers_with_the_prompts_beside_the_pipeline(asks: Pipeline, world: WorldServer, address: str) -> None:
    shown: list[str] = []
    result = asks.run("what?", server=address, model=Echo(), on_answer=shown.append)
    assert (result.answer, "".join(shown)) == ("Say shop.", "Say shop.")
    assert isinstance(result.trace[-1], RunEnded)
    assert (result.trace[-1].prompt_tokens, result.trace[-1].completion_tokens) == (3, 5)
    assert (world.requests, result.index) == ([], "")


@pytest.fixture
def asks(tmp_path: Path) -> Pipeline:
    """A pipeline that asks a model."""
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "say.md").write_text("Say {{repository}}.", encoding="utf-8")
    (tmp_path / "asks.yaml").write_text(ASKS, encoding="utf-8")
    return Pipeline.load("asks", [tmp_path])


def test_one_model_serves_many_runs(asks: Pipeline, address: str) -> None:
    with scripted_server(["[Answer:] one", "[Answer:] two", "[Answer:] three", "[Answer:] four"]) as server:
        model = OpenAIModel(ModelEndpoint(server.url, "scripted"), TokenCounter())
        answers = [asks.run("what?", server=address, model=model).answer for _ in "12"]

        async def both() -> list[PipelineResult]:
            async with AsyncGroundwireClient(address) as client:
                return await asyncio.gather(*(asks.arun("what?", client=client, model=model) for _ in "12"))

        answers += sorted(result.answer for result in asyncio.run(both()))
    assert answers == ["one", "two", "four", "three"]


def test_a_run_without_a_model_asks_that_of_the_environment(
    asks: Pipeline, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROUNDWIRE_SERVER", address)
    monkeypatch.delenv("GROUNDWIRE_MODEL_URL", raising=False)
    monkeypatch.delenv("GROUNDWIRE_MODEL_NAME", raising=False)
    with pytest.raises(StepError, match="set GROUNDWIRE_MODEL_URL to URL#model=NAME") as caught:
        asks.run("what?")
    assert (caught.value.rule, caught.value.step_id) == ("model-missing", "ask")
    with scripted_server(["[Answer:] one", "[Answer:] two"]) as server:
        monkeypatch.setenv("GROUNDWIRE_MODEL_URL", server.url)
        monkeypatch.setenv("GROUNDWIRE_MODEL_NAME", "scripted")
        assert [asks.run("what?").answer for _ in "12"] == ["one", "two"]
        with pytest.raises(StepError, match="the run was given none"):
            asks.run("what?", model=None)


def test_a_run_that_asks_no_model_does_not_mind_what_the_environment_names(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROUNDWIRE_MODEL_NAME", "without a URL")
    assert Pipeline.load("evidence").run("tax", server=address, repository="shop", branch="main").answer


def test_a_wrong_pipeline_does_not_load() -> None:
    with pytest.raises(DefinitionError):
        Pipeline.load("evidence", top_k="many")


def test_an_error_of_the_server_names_the_step(address: str) -> None:
    with pytest.raises(StepError, match="step 'gather': no index of absent, main") as caught:
        Pipeline.load("evidence").run("tax", server=address, repository="absent", branch="main")
    assert caught.value.rule == "server-not-found"


def test_sinks_are_told_what_the_result_holds_and_what_came_before_a_failure(address: str) -> None:
    events: list[TraceEvent] = []
    pipeline = Pipeline.load("evidence")
    result = pipeline.run("tax", server=address, repository="shop", branch="main", sinks=[events.append])
    assert tuple(events) == result.trace
    events.clear()
    with pytest.raises(StepError):
        pipeline.run("tax", server=address, repository="shop", sinks=[events.append])
    assert len(events) == 4


def test_a_run_repeated_gives_the_same_but_for_times(address: str) -> None:
    pipeline = Pipeline.load("evidence")
    first, second = (
        pipeline.run("tax rules", server=address, repository="shop", branch="main", active_index="v1") for _ in "12"
    )
    assert events_of(first) == events_of(second)
    assert (first.answer, first.state) == (second.answer, second.state)


def test_two_pipelines_at_the_same_time_share_nothing(folder: Path, address: str) -> None:
    evidence, search_only = Pipeline.load("evidence"), Pipeline.load("search_only", [folder])

    async def ask_all() -> None:
        async with AsyncGroundwireClient(address) as client:

            async def first_run(number: int) -> PipelineResult:
                return await evidence.arun(
                    f"tax rules {number % 5}",
                    client=client,
                    repository="shop",
                    branch="main",
                    active_index="v1",
                    access=AccessContext(tenant_id=f"tenant{number % 3}"),
                )

            async def second_run(number: int) -> PipelineResult:
                return await search_only.arun(
                    f"invoice {number % 7}", client=client, active_index="v2", user_id=f"user{number}"
                )

            alone = (
                [await first_run(number) for number in range(15)],
                [await second_run(number) for number in range(100)],
            )
            together = await asyncio.gather(*(run(number) for number in range(100) for run in (first_run, second_run)))
        for number, (first, second) in enumerate(zip(together[::2], together[1::2], strict=True)):
            for result, expected in ((first, alone[0][number % 15]), (second, alone[1][number])):
                assert (result.answer, result.state) == (expected.answer, expected.state)
                assert events_of(result) == events_of(expected)

    asyncio.run(ask_all())


def test_without_opentelemetry_a_run_makes_no_spans(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setitem(sys.modules, "groundwire_pipelines.trace.spans", None)
    assert _span_sinks() == ()
    assert Pipeline.load("evidence").run("tax", server=address, repository="shop", branch="main").answer
