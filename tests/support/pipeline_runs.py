"""Runs of whole pipelines against a scripted model server and a scripted retrieval client."""

import asyncio
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Unpack, cast

from pydantic import JsonValue

from groundwire.tokens import TokenCounter
from groundwire_client import AsyncGroundwireClient
from groundwire_pipelines.errors import PipelineError
from groundwire_pipelines.history.sqlite import SqliteHistory
from groundwire_pipelines.loading import load_pipeline
from groundwire_pipelines.models.endpoint import ModelEndpoint
from groundwire_pipelines.models.openai_model import OpenAIModel
from groundwire_pipelines.pipeline import Pipeline, PipelineResult, RunOptions
from groundwire_pipelines.runtime import Turn
from groundwire_pipelines.trace.events import TraceEvent, event_as_json
from support.gathered import gathered, passage
from support.openai_server import Reply, scripted_server
from support.retrieval import FakeRetrieval, depends

GOLDEN = Path(__file__).parents[1] / "pipelines" / "library" / "golden"

SERVICE, RATES, INVOICE = "shop::main::cs::VatService", "shop::main::sql::dbo.Rates|TABLE", "shop::main::cs::Invoice"


def shop() -> FakeRetrieval:
    """The first search finds a service and its table, every later one an invoice."""
    return FakeRetrieval(
        gatherings=[
            gathered(
                passage(SERVICE, "decimal Vat() => Rates.Find();"),
                passage(RATES, "CREATE TABLE Rates", reached_by=depends(SERVICE, RATES, "ReadsFrom")),
            ),
            gathered(passage(INVOICE, "class Invoice { Vat(); }")),
        ]
    )


@dataclass(slots=True)
class PipelineRun:
    """A run that ended: its result or what it failed with, and what the model and its listeners were told."""

    result: PipelineResult | None
    failure: PipelineError | None
    prompts: list[str]
    streamed_answer: str
    retrieval: FakeRetrieval
    events: list[dict[str, Any]]

    @property
    def answer(self) -> str:
        """The answer of a run that succeeded."""
        assert self.failure is None, self.failure
        assert self.result is not None
        return self.result.answer

    @property
    def steps(self) -> list[str]:
        """The steps that it ran, in order."""
        return [event["step_id"] for event in self.events if event["event"] == "step_ended"]


@dataclass(slots=True)
class Shop:
    """Where pipelines are run: a question at a time, over one history."""

    history: SqliteHistory
    retrieval: FakeRetrieval = field(default_factory=shop)

    def run(
        self,
        *script: str | Reply,
        pipeline: str = "rag_code_base",
        question: str = "where is VAT computed?",
        settings: Mapping[str, JsonValue] = MappingProxyType({}),
        **options: Unpack[RunOptions],
    ) -> PipelineRun:
        """Runs a pipeline of the library; the model answers with `script`, each answer of 100 and 10 tokens."""
        replies = [Reply(reply, usage=(100, 10)) if isinstance(reply, str) else reply for reply in script]
        return asyncio.run(self._run(Pipeline(load_pipeline(pipeline, overrides=settings)), question, replies, options))

    def remember(self, *turns: Turn) -> None:
        """Adds turns to Ann's conversation `talk`."""
        for turn in turns:
            asyncio.run(self.history.append("ann", "talk", turn))

    async def _run(
        self, pipeline: Pipeline, question: str, replies: Sequence[Reply], options: RunOptions
    ) -> PipelineRun:
        events: list[TraceEvent] = []
        answer_parts: list[str] = []
        result: PipelineResult | None = None
        failure: PipelineError | None = None
        with scripted_server(replies) as server:
            given: RunOptions = {
                "repository": "shop",
                "branch": "main",
                "model": OpenAIModel(ModelEndpoint(server.url, "scripted", retries=0), TokenCounter()),
                "history": self.history,
                "on_answer": answer_parts.append,
                "sinks": (events.append,),
                "trace_texts": True,
                **options,
            }
            try:
                client = cast("AsyncGroundwireClient", self.retrieval)
                result = await pipeline.arun(question, client=client, **given)
            except PipelineError as error:
                failure = error
            assert server.script == [], f"the run did not ask for all that the script holds: {failure}"
        timeless = [_timeless(event, server.url) for event in events]
        return PipelineRun(result, failure, server.prompts, "".join(answer_parts), self.retrieval, timeless)


def assert_golden(name: str, run: PipelineRun) -> None:
    """Compares a run's trace with the file of that name; GROUNDWIRE_UPDATE_GOLDEN=1 writes the file instead."""
    path = GOLDEN / f"{name}.jsonl"
    lines = "".join(json.dumps(event, ensure_ascii=False) + "\n" for event in run.events)
    if os.environ.get("GROUNDWIRE_UPDATE_GOLDEN") == "1":
        path.write_text(lines, encoding="utf-8")
    assert lines.splitlines() == path.read_text(encoding="utf-8").splitlines()


def _timeless(event: TraceEvent, model_url: str) -> dict[str, Any]:
    """The event without its times, and without the port that the model server happened to get."""
    facts = {name: fact for name, fact in event_as_json(event).items() if name not in ("time", "duration_seconds")}
    timeless: dict[str, Any] = json.loads(json.dumps(facts).replace(model_url, "http://model/v1"))
    return timeless
