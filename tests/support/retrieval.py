"""A double of the asyncio client that answers from a script, and short ways to make what a run needs."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, TypeVar, cast

from google.protobuf.message import Message
from pydantic import JsonValue

from groundwire_client import (
    AsyncGroundwireClient,
    DependencyPath,
    Evidence,
    ExpandDebug,
    ExpandDependencyTreeResponse,
    FetchNodeTextsResponse,
    FindPathsDebug,
    FindPathsResponse,
    GatherEvidenceResponse,
    GetIndexResponse,
    GraphEdge,
    IndexScope,
    IndexVersion,
    ListIndexesResponse,
    NodeText,
    PathNode,
    QueryResponse,
    ReachedNode,
    ResolvedName,
    ResolvedNode,
    ResolveNodesResponse,
    SearchHit,
    SearchNodesResponse,
    SkippedNode,
    SourceLocation,
)
from groundwire_client._evidence import evidence_of
from groundwire_pipelines.action_definition import Action, Outcome
from groundwire_pipelines.definition.file_models import StepDefinition
from groundwire_pipelines.definition.pipeline_definition import PipelineDefinition
from groundwire_pipelines.engine.binding import BoundStep, bind
from groundwire_pipelines.evidence_nodes import EvidenceNode, ShownText
from groundwire_pipelines.prompts import PromptFolders
from groundwire_pipelines.runtime import History, Model, Runtime
from groundwire_pipelines.settings import PipelineSettings
from groundwire_pipelines.state import PipelineState
from support.gathered import INDEX as INDEX
from support.gathered import gathered, numbered, passage
from support.query_answers import match, queried

_Answer = TypeVar("_Answer")
_Message = TypeVar("_Message", bound=Message)


@dataclass(frozen=True, slots=True)
class Call:
    """A call as the client was asked to make it; `arguments` by the names of its parameters."""

    method: str
    scope: IndexScope
    arguments: Mapping[str, Any]


@dataclass(slots=True)
class FakeRetrieval:
    """Records calls; gives the next of `answers` for a method while there are more than one, then the last again."""

    searches: list[SearchNodesResponse | Exception] = field(default_factory=lambda: [search_response("a", "b")])
    queries: list[QueryResponse | Exception] = field(
        default_factory=lambda: [queried(match("a", 1), match("b", 2), index=INDEX)]
    )
    expansions: list[ExpandDependencyTreeResponse | Exception] = field(
        default_factory=lambda: [walked([("a", 0, ""), ("b", 0, "")])]
    )
    fetches: list[FetchNodeTextsResponse | Exception] = field(default_factory=lambda: [fetched([text("a"), text("b")])])
    paths: list[FindPathsResponse | Exception] = field(default_factory=lambda: [connected("ab")])
    gatherings: list[GatherEvidenceResponse | Exception] = field(
        default_factory=lambda: [gathered(passage("a"), passage("b"))]
    )
    names: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    """The ids that names mean; such calls are not recorded."""
    calls: list[Call] = field(default_factory=list[Call])
    hangs: bool = False

    async def search(self, scope: IndexScope, query: str = "", **arguments: Any) -> SearchNodesResponse:
        return await self._answer(self.searches, Call("search", scope, {"query": query, **arguments}))

    async def resolve_nodes(self, scope: IndexScope, names: Sequence[str], **_: Any) -> ResolveNodesResponse:
        return ResolveNodesResponse(
            names=[
                ResolvedName(name=name, nodes=[ResolvedNode(id=id_) for id_ in self.names.get(name, ())])
                for name in names
            ],
            index=INDEX,
        )

    async def query(self, scope: IndexScope, query: str, **arguments: Any) -> QueryResponse:
        return await self._answer(self.queries, Call("query", scope, {"query": query, **arguments}))

    async def evidence(self, scope: IndexScope, question: str, budget_tokens: int, **arguments: Any) -> Evidence:
        given = {"question": question, "budget_tokens": budget_tokens, **arguments}
        response = await self._answer(self.gatherings, Call("evidence", scope, given))
        return evidence_of(scope, question, numbered(response, arguments["shown_ids"]))

    async def get_index(self, scope: IndexScope, **_: Any) -> GetIndexResponse:
        """Such calls are not recorded."""
        return GetIndexResponse(
            index=IndexVersion(version=scope.active_index or INDEX, dimension=2, lexical=True),
            kinds=["cs", "sql"],
            languages=["csharp", "sql"],
            folders=["src/api/"],
        )

    async def list_indexes(self, **_: Any) -> ListIndexesResponse:
        """No index. Such calls are not recorded."""
        return ListIndexesResponse()

    async def expand(
        self, scope: IndexScope, seed_ids: Sequence[str], **arguments: Any
    ) -> ExpandDependencyTreeResponse:
        return await self._answer(self.expansions, Call("expand", scope, {"seed_ids": tuple(seed_ids), **arguments}))

    async def find_paths(
        self, scope: IndexScope, from_ids: Sequence[str], to_ids: Sequence[str], **arguments: Any
    ) -> FindPathsResponse:
        given = {"from_ids": tuple(from_ids), "to_ids": tuple(to_ids), **arguments}
        return await self._answer(self.paths, Call("find_paths", scope, given))

    async def fetch(
        self, scope: IndexScope, seed_ids: Sequence[str], nodes: Iterable[ReachedNode] = (), **arguments: Any
    ) -> FetchNodeTextsResponse:
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


def search_response(*ids: str, index: str = INDEX) -> SearchNodesResponse:
    """A search's answer."""
    hits = [SearchHit(id=node_id, score=1 / rank, rank=rank) for rank, node_id in enumerate(ids, start=1)]
    return SearchNodesResponse(hits=hits, index=index, exact=True)


def reached(node_id: str, depth: int = 0, parent: str = "", **fields: Any) -> ReachedNode:
    """A node of a walk."""
    return ReachedNode(id=node_id, depth=depth, parent_id=parent, **fields)


def depends(from_id: str, to_id: str, edge_type: str = "Calls", confidence: float = 1.0, line: int = 0) -> GraphEdge:
    """An edge of the graph."""
    return GraphEdge(from_id=from_id, to_id=to_id, edge_type=edge_type, confidence=confidence, line=line)


def place(path: str, start_line: int, end_line: int) -> SourceLocation:
    """Where a text stands."""
    return SourceLocation(path=path, start_line=start_line, end_line=end_line)


def walked(
    nodes: Iterable[tuple[str, int, str]], edges: Iterable[tuple[str, str, str]] = (), index: str = INDEX
) -> ExpandDependencyTreeResponse:
    """An expansion of nodes (id, depth, parent) and edges (from, to, type)."""
    expanded = [reached(*node) for node in nodes]
    dependencies = [depends(*edge) for edge in edges]
    seeds = [node.id for node in expanded if node.depth == 0]
    debug = ExpandDebug(seed_count=len(seeds), expanded_count=len(expanded), edges_count=len(dependencies), reason="ok")
    return ExpandDependencyTreeResponse(seed_ids=seeds, nodes=expanded, edges=dependencies, debug=debug, index=index)


def text(
    node_id: str, content: str = "source", depth: int = 0, parent: str = "", tokens: int = 1, lines: int = 3
) -> NodeText:
    """A node's text at `src/<id>.py:1-<lines>`."""
    return NodeText(
        id=node_id,
        text=content,
        is_seed=depth == 0,
        depth=depth,
        parent_id=parent,
        token_count=tokens,
        location=SourceLocation(path=f"src/{node_id}.py", start_line=1, end_line=lines, content_hash="00"),
        symbol=f"Symbol.{node_id}",
    )


def changed(message: _Message, **fields: Any) -> _Message:
    """A copy of a message with other values of some fields."""
    copy = type(message)()
    copy.CopyFrom(message)
    for name in fields:
        copy.ClearField(name)
    copy.MergeFrom(type(message)(**fields))
    return copy


def shown(handle: int, node_id: str) -> ShownText:
    """A node's text as evidence shows it."""
    node = replace(EvidenceNode.of(text(node_id)), handle=handle)
    return ShownText(handle, node, "source", 1, is_whole=True)


def connected(*ways: str, index: str = INDEX) -> FindPathsResponse:
    """Paths over nodes of one letter; each node depends on the next at line 7, with confidence 0.5."""
    paths = [
        DependencyPath(
            node_ids=list(way),
            hops=[depends(near, far, "Calls", 0.5, 7) for near, far in pairwise(way)],
            confidence=0.5 ** (len(way) - 1),
        )
        for way in ways
    ]
    nodes = [PathNode(id=node) for node in dict.fromkeys("".join(ways))]
    debug = FindPathsDebug(from_count=1, to_count=1, searched_hops=4, reason="ok")
    return FindPathsResponse(paths=paths, nodes=nodes, debug=debug, index=index)


def fetched(
    texts: Iterable[NodeText], skipped: Iterable[SkippedNode] = (), index: str = INDEX
) -> FetchNodeTextsResponse:
    """A fetch's answer, its sums included."""
    kept = list(texts)
    tokens, characters = sum(text.token_count for text in kept), sum(len(text.text) for text in kept)
    return FetchNodeTextsResponse(texts=kept, skipped=skipped, used_tokens=tokens, used_chars=characters, index=index)


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
    return Runtime(client, checked, WordCounter(), PromptFolders(()), model, history)


def make_step(
    step_id: str, action: str, transitions: Mapping[str, str] | None = None, **raw: JsonValue
) -> StepDefinition:
    """A step."""
    return StepDefinition.model_validate({"id": step_id, "action": action, **(transitions or {}), **raw})


def make_definition(*steps: StepDefinition, **settings: Any) -> PipelineDefinition:
    """A pipeline that starts at its first step."""
    checked = PipelineSettings(**{"entry_step_id": steps[0].id, "top_k": 5, "max_context_tokens": 1000, **settings})
    return PipelineDefinition("test", "", checked, {step.id: step for step in steps}, {}, (), ())


def run_action(action: Action[Any], raw: Mapping[str, JsonValue], state: PipelineState, runtime: Runtime) -> Outcome:
    """Runs one step of an action, its keys checked as the engine checks them."""
    step = make_step("step", action.name, None, **raw)
    definition = replace(make_definition(step), settings=runtime.settings)
    bound = bind(definition, {action.name: action})["step"]
    return asyncio.run(_run(bound, state, runtime))


async def _run(step: BoundStep, state: PipelineState, runtime: Runtime) -> Outcome:
    outcome: Outcome = await step.action.run(step.settings, state, runtime)
    return outcome
