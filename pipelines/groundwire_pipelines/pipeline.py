"""The Python API: load a pipeline, run it against a server.

    pipeline = Pipeline.load("evidence", top_k=5)
    result = pipeline.run("where is VAT computed?", server="localhost:50051", repository="shop", branch="main")
    print(result.answer)

The same from asyncio, with a client that other runs may share:

    async with AsyncGroundwireClient("localhost:50051") as client:
        result = await pipeline.arun("where is VAT computed?", client=client, repository="shop", branch="main")
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self, TypedDict, Unpack

from pydantic import JsonValue

from groundwire.tokens import TokenCounter
from groundwire_client import TLS, AccessContext, AsyncGroundwireClient, IndexScope, NodeFilter, is_pattern
from groundwire_pipelines.actions.registry import actions
from groundwire_pipelines.definition.pipeline_definition import PipelineDefinition
from groundwire_pipelines.engine.runner import run_steps
from groundwire_pipelines.evidence_graph import EvidenceGraph, graph_of
from groundwire_pipelines.evidence_nodes import ShownText
from groundwire_pipelines.filter_keys import FilterKeys
from groundwire_pipelines.loading import load_pipeline
from groundwire_pipelines.models.environment import EnvironmentModel
from groundwire_pipelines.parsing.filters import merged
from groundwire_pipelines.prompts import PromptFolders
from groundwire_pipelines.runtime import History, Model, Runtime
from groundwire_pipelines.state import PipelineState
from groundwire_pipelines.trace.events import TraceEvent, TraceSink


class RunOptions(TypedDict, total=False):
    """The options of a run besides its question; all have a default.

    Attributes:
        repository: The repository to search; that of the pipeline's settings when absent or empty.
        branch: The branch to search; that of the pipeline's settings when absent or empty.
        active_index: The index version to search; that of the settings, else the active one, pinned for the whole run.
        scopes: Several scopes to search as one, in place of the three above. A name that ends in `*` is a pattern.
        access: What the caller may see; public nodes only when absent, whatever default the client has. With None the
            request states no access: then the client's own access applies, or what the server grants to the token or
            certificate.
        filter: Narrows every search, walk and fetch, in addition to the pipeline's setting `filter`; neither a step nor
            a model can widen it.
        is_english: False for a question in another language; the answer is then in that language too.
        session_id: The conversation that the question belongs to; none when absent.
        user_id: The user whose conversation it is; required with a session. It is not verified: the program that starts
            the run must know it.
        model: The language model, for pipelines that call one; when absent, the one that the environment variables
            GROUNDWIRE_MODEL_URL, GROUNDWIRE_MODEL_NAME and GROUNDWIRE_MODEL_KEY name. With None, a step that calls a
            model fails.
        history: Where conversations are kept, for runs with a session.
        on_answer: Called with pieces of a model's final answer as they arrive, without its prefix and the model's
            reasoning. A reply may still break off: if its step fails, which `sinks` receive as an event, the pieces
            since the step started are invalid. The pieces of a step replace those of earlier steps, because a
            `handle_prefix` step may ask for an answer again. A translated answer comes in one piece.
        sinks: Called with the run's events as they happen, in addition to OpenTelemetry if it is installed.
        trace_texts: Whether events also hold the texts of user, model and sources, not only names, counts and ids.
    """

    repository: str
    branch: str
    active_index: str
    scopes: Sequence[IndexScope]
    access: AccessContext | None
    filter: NodeFilter
    is_english: bool
    session_id: str
    user_id: str
    model: Model | None
    history: History | None
    on_answer: Callable[[str], None] | None
    sinks: Sequence[TraceSink]
    trace_texts: bool


@dataclass(frozen=True, slots=True)
class PipelineResult:
    """The result of a run.

    `answer` is for the user: the model's answer, or the evidence if the pipeline calls no model. `context_blocks` are
    the evidence behind it, from all retrievals of the question, and `evidence` the texts in it, by number; in
    `context_blocks` a summary may replace them. `graph` has all nodes that were found or reached, with or without a
    text in the evidence, and the edges between them. `index` is the index version that the run was pinned to, each
    with its scope if it asked several; empty if it never called the server. `state` is the state at the end of the run.
    """

    answer: str
    context_blocks: tuple[str, ...]
    evidence: tuple[ShownText, ...]
    graph: EvidenceGraph
    index: str
    state: PipelineState
    trace: tuple[TraceEvent, ...]


@dataclass(frozen=True, slots=True)
class Pipeline:
    """A pipeline that passed every check. Immutable: any number of runs may share it, also concurrently."""

    definition: PipelineDefinition

    @classmethod
    def load(cls, name_or_path: str | Path, search_path: Sequence[Path] = (), **settings: JsonValue) -> Self:
        """The pipeline of a file, or of a name in the folders of `search_path` or the library.

        `settings` override those in its files.

        Raises:
            DefinitionError: The pipeline's files have problems; it names each with its place.
        """
        return cls(load_pipeline(str(name_or_path), search_path, settings))

    async def arun(
        self, question: str, *, client: AsyncGroundwireClient, **options: Unpack[RunOptions]
    ) -> PipelineResult:
        """Answers a question over an open client.

        Raises:
            StepError: A step broke a rule or a call failed.
            RunCancelledError: The run's deadline passed.
        """
        settings = self.definition.settings
        single = IndexScope(
            repository=options.get("repository") or settings.repository,
            branch=options.get("branch") or settings.branch,
            active_index=options.get("active_index") or settings.active_index,
        )
        scopes = list(options.get("scopes") or [single] * is_pattern(single))
        asked_scopes = scopes or [single]
        state = PipelineState(
            user_question=question,
            repository=", ".join(dict.fromkeys(asked_scope.repository for asked_scope in asked_scopes)),
            branch=", ".join(dict.fromkeys(asked_scope.branch for asked_scope in asked_scopes)),
            is_english=options.get("is_english", True),
            session_id=options.get("session_id", ""),
            user_id=options.get("user_id", ""),
            active_index="" if scopes else single.active_index,
            scopes=scopes,
            retrieval_access=options.get("access", AccessContext()),
            retrieval_filter=_both(settings.filter, options.get("filter", NodeFilter())),
        )
        counter = TokenCounter()
        runtime = Runtime(
            retrieval=client,
            settings=settings,
            counter=counter,
            prompts=PromptFolders(self.definition.prompts),
            model=options.get("model", EnvironmentModel(counter)),
            history=options.get("history"),
            on_answer=options.get("on_answer"),
        )
        trace: list[TraceEvent] = []
        await run_steps(
            self.definition,
            actions(),
            state,
            runtime,
            sinks=(trace.append, *_span_sinks(), *options.get("sinks", ())),
            trace_texts=options.get("trace_texts", False),
        )
        return PipelineResult(
            answer=state.final_answer,
            context_blocks=tuple(state.context_blocks),
            evidence=tuple(state.shown),
            graph=graph_of(state),
            index=state.active_index,
            state=state,
            trace=tuple(trace),
        )

    def run(
        self,
        question: str,
        *,
        server: str | None = None,
        credentials: TLS | None = None,
        metadata: Sequence[tuple[str, str | bytes]] = (),
        plaintext_token: bool = False,
        **options: Unpack[RunOptions],
    ) -> PipelineResult:
        """Answers a question over a connection of its own. Not for code that runs in an event loop.

        `server` is an address such as `localhost:50051`; None means the environment variable GROUNDWIRE_SERVER.
        `metadata` is sent with every call; a token in it needs `credentials` or `plaintext_token`, as
        `AsyncGroundwireClient` says. The run's deadline also limits each of its calls.

        Raises:
            StepError: A step broke a rule or what it called failed.
            RunCancelledError: The run's deadline passed.
            ValueError: There is no address, or a token would be sent unencrypted.
            OSError: A TLS file cannot be read.
        """

        async def connected() -> PipelineResult:
            seconds = self.definition.settings.deadline_seconds
            async with AsyncGroundwireClient(
                server, credentials=credentials, metadata=metadata, plaintext_token=plaintext_token, timeout=seconds
            ) as client:
                return await self.arun(question, client=client, **options)

        return asyncio.run(connected())


def _both(setting: FilterKeys | None, given: NodeFilter) -> NodeFilter:
    """The pipeline's filter and the run's."""
    return merged(setting.as_filter() if setting else NodeFilter(), given)


def _span_sinks() -> tuple[TraceSink, ...]:
    """The sink that makes spans; none if OpenTelemetry, the extra `telemetry`, is not installed."""
    try:
        from groundwire_pipelines.trace.spans import SpanSink
    except ImportError:
        return ()
    return (SpanSink(),)
