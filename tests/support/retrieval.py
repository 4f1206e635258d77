"""A double of the asyncio client that answers from a script, and short ways to make what a run needs."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, TypeVar, cast

from pydantic import JsonValue

from groundwire_client import (
    AsyncGroundwireClient,
    DependencyEdge,
    DependencyPath,
    ExpandDebug,
    ExpandedNode,
    Expansion,
    FetchResult,
    Hit,
    Location,
    NodeText,
    PathNode,
    Paths,
    PathsDebug,
    QueryResult,
    Scope,
    SearchResult,
    SkippedNode,
)
from groundwire_pipelines.actions.definition import Action, Outcome
from groundwire_pipelines.definition.model import Origin, PipelineDefinition, StepDefinition
from groundwire_pipelines.engine.binding import bind
from groundwire_pipelines.rendering.shown import Excerpt, ShownText
from groundwire_pipelines.runtime import History, Model, Runtime
from groundwire_pipelines.settings import PipelineSettings
from groundwire_pipelines.state import PipelineState
from support.query_answers import match, queried

INDEX = "2026-01-01_main"

_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True)
class Call:
    """A call as the client was asked to make it; `arguments` by the names of its parameters."""

    method: str
    scope: Scope
    arguments: Mapping[str, Any]


@dataclass(slots=True)
class FakeRetrieval:
    """Records calls; gives the next of `answers` for a method while there are more than one, then the last again."""

    searches: list[SearchResult | Exception] = field(default_factory=lambda: [found("a", "b")])
    queries: list[QueryResult | Exception] = field(
        default_factory=lambda: [queried(match("a", 1), match("b", 2), index=INDEX)]
    )
    expansions: list[Expansion | Exception] = field(default_factory=lambda: [walked([("a", 0, ""), ("b", 0, "")])])
    fetches: list[FetchResult | Exception] = field(default_factory=lambda: [fetched([text("a"), text("b")])])
    paths: list[Paths | Exception] = field(default_factory=lambda: [connected("ab")])
    calls: list[Call] = field(default_factory=list[Call])
    hangs: bool = False

    async def search(self, scope: Scope, query: str = "", **arguments: Any) -> SearchResult:
        return await self._answer(self.searches, Call("search", scope, {"query": query, **arguments}))

    async def query(self, scope: Scope, query: str, **arguments: Any) -> QueryResult:
        return await self._answer(self.queries, Call("query", scope, {"query": query, **arguments}))

    async def expand(self, scope: Scope, seed_ids: Sequence[str], **arguments: Any) -> Expansion:
        return await self._answer(self.expansions, Call("expand", scope, {"seed_ids": tuple(seed_ids), **arguments}))

    async def find_paths(self, scope: Scope, from_ids: Sequence[str], to_ids: Sequence[str], **arguments: Any) -> Paths:
        given = {"from_ids": tuple(from_ids), "to_ids": tuple(to_ids), **arguments}
        return await self._answer(self.paths, Call("find_paths", scope, given))

    async def fetch(
        self, scope: Scope, seed_ids: Sequence[str], nodes: Iterable[ExpandedNode] = (), **arguments: Any
    ) -> FetchResult:
        given = {"seed_ids": tuple(seed_ids), "nodes": tuple(nodes), **arguments}
        return await self._answer(self.fetches, Call("fetch", scope, given))

    @property
    def methods(self) -> list[str]:
        """The methods called, in order."""
        return [call.method for call in self.calls]

    async def _answer(self, answers: list[_Answer | Exception], call: Call) -> _Answer:
        self.calls.append(call)
        await asyncio.sleep(3600 if self.hangs else 0)
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


class WordCounter:
    """Counts words for tokens."""

    def count(self, text: str) -> int:
        return len(text.split())


class NoPrompts:
    """A pipeline without prompts."""

    def render(self, name: str, variables: Mapping[str, str]) -> str:
        raise AssertionError(f"prompt {name} with {variables}")

    def schema(self, name: str) -> Mapping[str, JsonValue]:
        raise AssertionError(f"schema {name}")


def found(*ids: str, index: str = INDEX) -> SearchResult:
    """A search's answer."""
    hits = tuple(Hit(node_id, 1 / rank, rank) for rank, node_id in enumerate(ids, start=1))
    return SearchResult(hits=hits, index=index, exact=True)


def walked(
    nodes: Iterable[tuple[str, int, str]], edges: Iterable[tuple[str, str, str]] = (), index: str = INDEX
) -> Expansion:
    """An expansion of nodes (id, depth, parent) and edges (from, to, type)."""
    expanded = tuple(ExpandedNode(*node) for node in nodes)
    dependencies = tuple(DependencyEdge(*edge) for edge in edges)
    seeds = tuple(node.id for node in expanded if node.depth == 0)
    debug = ExpandDebug(len(seeds), len(expanded), len(dependencies), truncated=False, reason="ok")
    return Expansion(seeds, expanded, dependencies, debug, index)


def text(
    node_id: str, content: str = "source", depth: int = 0, parent: str = "", tokens: int = 1, lines: int = 3
) -> NodeText:
    """A node's text at `src/<id>.py:1-<lines>`."""
    location = Location(f"src/{node_id}.py", 1, lines, "00")
    return NodeText(node_id, content, depth == 0, depth, parent, tokens, location, f"Symbol.{node_id}")


def shown(handle: int, node_id: str) -> ShownText:
    """A node's text as evidence shows it."""
    return ShownText(handle, text(node_id), Excerpt("source", 1, 1, is_whole=True))


def connected(*ways: str, index: str = INDEX) -> Paths:
    """Paths over nodes of one letter; each node depends on the next at line 7, with confidence 0.5."""
    paths = tuple(
        DependencyPath(
            tuple(way),
            tuple(DependencyEdge(near, far, "Calls", 0.5, 7) for near, far in pairwise(way)),
            0.5 ** (len(way) - 1),
        )
        for way in ways
    )
    nodes = tuple(PathNode(node) for node in dict.fromkeys("".join(ways)))
    return Paths(paths, nodes, PathsDebug(1, 1, 0, 4, truncated=False, reason="ok"), index)


def fetched(texts: Iterable[NodeText], skipped: Iterable[SkippedNode] = (), index: str = INDEX) -> FetchResult:
    """A fetch's answer, its sums included."""
    kept = tuple(texts)
    tokens, characters = sum(one.token_count for one in kept), sum(len(one.text) for one in kept)
    return FetchResult(kept, tuple(skipped), tokens, characters, index)


def make_state(**fields: Any) -> PipelineState:
    """The state of a run in the scope `shop`, `main`."""
    return PipelineState(
        **{"user_question": "where is VAT computed?", "repository": "shop", "branch": "main", **fields}
    )


def make_runtime(
    retrieval: FakeRetrieval, model: Model | None = None, history: History | None = None, **settings: Any
) -> Runtime:
    """The services of a run."""
    checked = PipelineSettings(**{"entry_step_id": "step", "top_k": 5, "max_context_tokens": 1000, **settings})
    client = cast("AsyncGroundwireClient", retrieval)
    return Runtime(client, checked, WordCounter(), NoPrompts(), model, history)


def make_step(
    step_id: str, action: str, transitions: Mapping[str, str] | None = None, **raw: JsonValue
) -> StepDefinition:
    """A step."""
    return StepDefinition(step_id, action, raw, transitions or {}, Origin("memory", 1))


def make_definition(*steps: StepDefinition, **settings: Any) -> PipelineDefinition:
    """A pipeline that starts at its first step."""
    checked = PipelineSettings(**{"entry_step_id": steps[0].id, "top_k": 5, "max_context_tokens": 1000, **settings})
    return PipelineDefinition("test", "", checked, {step.id: step for step in steps}, {}, (), ())


def run_action(action: Action[Any], raw: Mapping[str, JsonValue], state: PipelineState, runtime: Runtime) -> Outcome:
    """Runs one step of an action, its keys checked as the engine checks them."""
    step = make_step("step", action.name, None, **raw)
    definition = replace(make_definition(step), settings=runtime.settings)
    bound = bind(definition, {action.name: action})["step"]
    return asyncio.run(_awaited(bound.run, state, runtime))


async def _awaited(run: Callable[[PipelineState, Runtime], Any], state: PipelineState, runtime: Runtime) -> Outcome:
    outcome: Outcome = await run(state, runtime)
    return outcome
