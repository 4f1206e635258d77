"""`groundwire run`: answers a question with a pipeline. The answer goes to standard output, progress to standard error.

The answer is printed once it is complete: before that the model may break off, or turn out to request more data.
"""

import asyncio
import json
import os
from collections.abc import Iterable
from contextlib import ExitStack, closing
from dataclasses import asdict
from typing import Annotated, cast

import typer
from pydantic import JsonValue
from rich.console import Console
from rich.text import Text

from groundwire.printable_text import printable
from groundwire_client import GraphEdge, IndexScope
from groundwire_client.cli import (
    BRANCH_VARIABLE,
    REPOSITORY_VARIABLE,
    AccessOptions,
    ConnectionOptions,
    FilterOptions,
    found_scopes,
    given_scopes,
    json_or_text,
    print_notes,
    unknown_names,
    with_options,
)
from groundwire_pipelines.cli import options
from groundwire_pipelines.cli.options import reported
from groundwire_pipelines.evidence_nodes import EvidenceNode
from groundwire_pipelines.history.sqlite import SqliteHistory
from groundwire_pipelines.pipeline import Pipeline, PipelineResult, RunOptions
from groundwire_pipelines.trace.events import StepEnded, StepStarted, TraceEvent
from groundwire_pipelines.trace.trace_file import JsonLinesSink


class Progress:
    """Shows the events of one run on standard error."""

    def __init__(self) -> None:
        self._console = Console(stderr=True, markup=False, emoji=False, highlight=False)
        self._status = self._console.status("")
        self._step = ""
        self._answered = 0

    def close(self) -> None:
        """Clears the line of the current step."""
        self._status.stop()

    def answering(self, piece: str) -> None:
        """Shows how much of an answer has arrived, but not its text."""
        self._answered += len(piece)
        self._status.update(Text(f"{self._step}  {self._answered} characters"))

    def __call__(self, event: TraceEvent) -> None:
        """Shows one event."""
        match event:
            case StepStarted():
                self._step, self._answered = printable(f"{event.step_id} ({event.action})"), 0
                self._status.update(Text(self._step))
                self._status.start()
            case StepEnded():
                self._status.stop()
                self._console.print(_line(event), soft_wrap=True)
            case _:
                pass


def _line(event: StepEnded) -> Text:
    sign, style = {"ok": ("+", "green"), "failed": ("!", "red"), "cancelled": ("x", "yellow")}[event.ending]
    facts = [f"{name} {value}" for name, value in event.detail.items()]
    if event.prompt_tokens or event.completion_tokens:
        facts.append(f"model tokens {event.prompt_tokens} in, {event.completion_tokens} out")
    way = f" -> {event.transition}" if event.transition not in ("", "next") else ""
    return Text.assemble(
        (sign, style),
        " ",
        (printable(event.step_id), "bold"),
        printable(way),
        (printable(f"  {', '.join(facts)}"), "dim"),
        f"  {event.duration_seconds:.2f} s",
    )


@with_options(FilterOptions, AccessOptions, ConnectionOptions)
def run(
    narrowing: FilterOptions,
    caller: AccessOptions,
    connection: ConnectionOptions,
    pipeline: Annotated[str, typer.Argument(help="A pipeline's name, its file, or file.yaml#name.")],
    question: Annotated[str, typer.Argument(help="The question to answer.")],
    repository: options.Repository = None,
    branch: options.Branch = None,
    index: options.Index = "",
    folder: options.Folders = None,
    setting: options.Settings = None,
    budget_tokens: options.BudgetTokens = None,
    path_from: options.PathFrom = "",
    path_to: options.PathTo = "",
    english: options.English = True,
    as_json: options.Json = False,
    trace: options.Trace = None,
    trace_texts: options.TraceTexts = False,
    session: options.Session = "",
    user: options.User = "",
    history: options.HistoryFile = options.DEFAULT_HISTORY,
) -> None:
    """Answer a question with a pipeline.

    A pipeline that calls a language model uses the one of GROUNDWIRE_MODEL_URL, GROUNDWIRE_MODEL_NAME and
    GROUNDWIRE_MODEL_KEY, at any endpoint that speaks OpenAI's protocol.
    """
    given = RunOptions(
        access=caller.access,
        filter=narrowing.filter,
        is_english=english,
        session_id=session,
        user_id=options.user_or_own(user) if session else user,
        history=SqliteHistory(history) if session else None,
        trace_texts=trace_texts,
    )
    with reported():
        named: dict[str, JsonValue] = {
            "max_context_tokens": budget_tokens,
            "path_from": path_from or None,
            "path_to": path_to or None,
            "lifecycle": narrowing.given_lifecycle,
        }
        by_option = {name: value for name, value in named.items() if value is not None}
        loaded = Pipeline.load(pipeline, folder or (), **{**_settings(setting or ()), **by_option})
        for warning in loaded.definition.warnings:
            typer.echo(f"warning: {printable(str(warning))}", err=True)
        own_settings = loaded.definition.settings
        repositories = repository or _first(own_settings.repository, REPOSITORY_VARIABLE)
        branches = branch or _first(own_settings.branch, BRANCH_VARIABLE)
        if repositories and branches:
            scopes = given_scopes(repositories, branches, index)
        else:
            scopes = connection.called(
                lambda client: found_scopes(client, repositories, branches, index), access=caller.access
            )
        if isinstance(scopes, IndexScope):
            given |= RunOptions(repository=scopes.repository, branch=scopes.branch, active_index=index)
        else:
            given["scopes"] = scopes
        with ExitStack() as stack:
            progress = stack.enter_context(closing(Progress()))
            given["sinks"] = [progress, *([stack.enter_context(JsonLinesSink(trace))] if trace else ())]
            given["on_answer"] = progress.answering
            result = asyncio.run(_ask(loaded, question, connection, given))
    typer.echo(json.dumps(_as_json(loaded, result), indent=2) if as_json else printable(result.answer))
    if session and not any(isinstance(event, StepEnded) and event.detail.get("persisted") for event in result.trace):
        unsaved = f"the turn is not saved in the session {session!r}: no step persist_turn_and_finalize ended the run"
        typer.echo(f"warning: {printable(unsaved)}", err=True)
    if result.index and not result.state.scopes:  # of several indexes, none says alone what there is
        scope = IndexScope(
            repository=result.state.repository, branch=result.state.branch, active_index=result.state.active_index
        )
        print_notes(
            connection.called(lambda client: unknown_names(client, scope, narrowing.filter, ()), access=caller.access)
        )


async def _ask(pipeline: Pipeline, question: str, to: ConnectionOptions, given: RunOptions) -> PipelineResult:
    try:
        client = to.async_client(to.token, timeout=pipeline.definition.settings.deadline_seconds)
    except (ValueError, OSError) as error:
        raise typer.BadParameter(str(error)) from error
    async with client:
        return await pipeline.arun(question, client=client, **given)


def _first(setting: str, variable: str) -> list[str]:
    """What the pipeline names, else the environment; none for neither."""
    name = setting or os.environ.get(variable, "")
    return [name] if name else []


def _settings(assignments: Iterable[str]) -> dict[str, JsonValue]:
    settings: dict[str, JsonValue] = {}
    for assignment in assignments:
        key, sign, value = assignment.partition("=")
        if not sign:
            raise typer.BadParameter(f"{assignment!r} is no KEY=VALUE", param_hint="--set")
        settings[key.strip()] = cast("JsonValue", json_or_text(value))
    return settings


def _as_json(pipeline: Pipeline, result: PipelineResult) -> dict[str, JsonValue]:
    evidence: list[JsonValue] = [
        {
            **_node(shown_text.node),
            "tokens": shown_text.tokens,
            "shown": shown_text.text,
            "is_whole": shown_text.is_whole,
        }
        for shown_text in result.evidence
    ]
    return {
        "pipeline": pipeline.definition.name,
        "index": result.index,
        "answer": result.answer,
        "context_blocks": list(result.context_blocks),
        "evidence": evidence,
        "graph": {"nodes": list(map(_node, result.graph.nodes)), "edges": list(map(_edge, result.graph.edges))},
    }


def _node(node: EvidenceNode) -> dict[str, JsonValue]:
    """The fields of a node, without a scope if one was asked."""
    return {name: value for name, value in asdict(node).items() if value or name != "scope"}


def _edge(edge: GraphEdge) -> dict[str, JsonValue]:
    return {
        "from": edge.from_id,
        "to": edge.to_id,
        "type": edge.edge_type,
        "confidence": float(f"{edge.confidence:.6g}"),  # stored in single precision
        "line": edge.line,
    }
