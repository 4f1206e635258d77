"""The calls behind the tools: arguments to requests, responses to results."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from groundwire_client import (
    AsyncGroundwireClient,
    EdgeDirection,
    GroundwireError,
    IndexVersion,
    NodeFilter,
    NodeText,
    PathNode,
    PrioritizationMode,
    QueryMatch,
    ReachedNode,
    Retriever,
    SearchHit,
    SearchType,
    SkipReason,
    choices,
    node_filter,
)
from groundwire_client import GraphEdge as ServerEdge
from groundwire_client.cli import place
from groundwire_mcp.arguments import Ask, ExpandGraph, FindPaths, ListRepositories, ReadCode, SearchCode
from groundwire_mcp.errors import ToolError, failure_of
from groundwire_mcp.results import (
    Graph,
    GraphEdge,
    GraphNode,
    Hit,
    Hits,
    LeftOut,
    NodeLine,
    Path,
    Paths,
    Repositories,
    RepositoryLine,
    Text,
    Texts,
)
from groundwire_mcp.scopes import AllowedScope, AllowedScopes

_NONE_AVAILABLE = "No repository is available: tell the user."
_MAX_NODES_BETWEEN = 2_000
_RETRIEVER_WORDS = {Retriever.RETRIEVER_DENSE: "meaning", Retriever.RETRIEVER_BM25_CODE: "words"}
_WALK_NOTES = {
    "limit_reached": "There is more: raise max_nodes, or narrow by edge_types, direction or min_confidence.",
    "response_limit": "There is more than fits: narrow by edge_types, direction or min_confidence.",
    "depth_reached": "There is more beyond max_depth: raise it, or call again with the ids of the outermost nodes.",
}
_PATH_NOTES = {
    "path_limit": "There may be more paths: raise max_paths.",
    "limit_reached": "The search stopped early: narrow by edge_types or min_confidence, or lower max_hops.",
    "response_limit": "There is more than fits: lower max_paths.",
}
_SKIP_WORDS = {
    SkipReason.SKIP_REASON_OVER_BUDGET: "does not fit into budget_tokens",
    SkipReason.SKIP_REASON_UNAVAILABLE: "no such node",
    SkipReason.SKIP_REASON_RESPONSE_LIMIT: "does not fit into the response",
}

_Node = TypeVar("_Node", bound=NodeLine)


class Answers:
    """Answers tools with a client that knows its caller.

    Args:
        connected: Gives the client, whose `access` and token decide what is visible. Raises ToolError.
        scopes: What a model may choose from.
        pending: Why the scope has no index yet; empty when that is not known.

    Methods raise ToolError.
    """

    def __init__(
        self,
        connected: Callable[[], Awaitable[AsyncGroundwireClient]],
        scopes: AllowedScopes,
        pending: Callable[[], str],
    ) -> None:
        self._connected = connected
        self._scopes = scopes
        self._pending = pending

    async def list_repositories(self, _: ListRepositories) -> Repositories:
        """The allowed scopes of which the caller may see something."""
        lines = [_repository_line(scope, index) for scope, index in (await self._visible()).items()]
        note = "" if lines else self._pending() or _NONE_AVAILABLE
        return Repositories(repositories=lines, note=note)

    async def search_code(self, asked: SearchCode) -> Hits:
        """The nodes that match best, without texts."""
        scope = await self._named(asked.repository)
        client = await self._connected()
        with self._failures(scope.name):
            found = await client.search(
                scope.index_scope,
                asked.query,
                search_type=choices(SearchType)[asked.search_type],
                top_k=asked.top_k,
                filter=_narrowing(asked),
                explain=True,
            )
        note = "" if found.hits else "Nothing matches: try other words, another search_type, or fewer conditions."
        return Hits(hits=[_described(hit, Hit, why=_why_found(hit)) for hit in found.hits], note=note)

    async def ask(self, asked: Ask) -> Texts:
        """The texts that match best, within the budget."""
        scope = await self._named(asked.repository)
        client = await self._connected()
        with self._failures(scope.name):
            found = await client.query(
                scope.index_scope,
                asked.query,
                top_k=asked.top_k,
                filter=_narrowing(asked),
                include_parents=False,
                budget_tokens=asked.budget_tokens,
            )
        left_out = [
            _described(match, LeftOut, tokens=match.token_count, why=_SKIP_WORDS[match.omit_reason])
            for match in found.matches
            if match.text_omitted
        ]
        texts = [
            _described(match, Text, tokens=match.token_count, why=_why_matched(match), text=match.text)
            for match in found.matches
            if not match.text_omitted
        ]
        note = _left_out_note(left_out) if found.matches else "Nothing matches: try other words or fewer conditions."
        return Texts(texts=texts, left_out=left_out, used_tokens=found.meta.used_tokens, note=note)

    async def read_code(self, asked: ReadCode) -> Texts:
        """The texts of nodes, in the order asked, within the budget."""
        scope = self._scopes.of_ids(asked.ids)
        client = await self._connected()
        with self._failures(scope.name):
            found = await client.fetch(
                scope.index_scope,
                asked.ids,
                budget_tokens=asked.budget_tokens,
                prioritization_mode=PrioritizationMode.PRIORITIZATION_MODE_SEED_FIRST,
            )
        texts = [_described(text, Text, tokens=text.token_count, text=text.text) for text in found.texts]
        left_out = [LeftOut(id=skipped.id, why=_SKIP_WORDS[skipped.reason]) for skipped in found.skipped]
        return Texts(texts=texts, left_out=left_out, used_tokens=found.used_tokens, note=_left_out_note(left_out))

    async def expand_graph(self, asked: ExpandGraph) -> Graph:
        """What surrounds nodes in the dependency graph."""
        scope = self._scopes.of_ids(asked.ids)
        client = await self._connected()
        with self._failures(scope.name):
            walked = await client.expand(
                scope.index_scope,
                asked.ids,
                max_depth=asked.max_depth,
                max_nodes=asked.max_nodes,
                edge_allowlist=asked.edge_types or ["*"],
                direction=choices(EdgeDirection)[asked.direction],
                min_confidence=asked.min_confidence,
            )
        numbers = {node.id: number for number, node in enumerate(walked.nodes, start=1)}
        nodes = [_described(node, GraphNode, n=numbers[node.id], depth=node.depth) for node in walked.nodes]
        missing = len(set(asked.ids)) - walked.debug.seed_count
        notes = (
            f"{missing} of the ids are no nodes that are there." if missing else "",
            _WALK_NOTES.get(walked.debug.reason, ""),
        )
        return Graph(nodes=nodes, edges=[_edge(edge, numbers) for edge in walked.edges], note=_joined(notes))

    async def find_paths(self, asked: FindPaths) -> Paths:
        """How nodes are connected."""
        scope = self._scopes.of_ids([*asked.from_ids, *asked.to_ids])
        client = await self._connected()
        with self._failures(scope.name):
            found = await client.find_paths(
                scope.index_scope,
                asked.from_ids,
                asked.to_ids,
                max_hops=asked.max_hops,
                max_paths=asked.max_paths,
                max_nodes=_MAX_NODES_BETWEEN,
                edge_allowlist=asked.edge_types or ["*"],
                direction=choices(EdgeDirection)[asked.direction],
                min_confidence=asked.min_confidence,
            )
        numbers = {node.id: number for number, node in enumerate(found.nodes, start=1)}
        nodes = [_described(node, GraphNode, n=numbers[node.id]) for node in found.nodes]
        paths = [
            Path(
                nodes=[numbers[node_id] for node_id in path.node_ids], edges=[_edge(hop, numbers) for hop in path.hops]
            )
            for path in found.paths
        ]
        ends = (("from_ids", found.debug.from_count), ("to_ids", found.debug.to_count))
        notes = [f"None of {name} is a node that is there." for name, count in ends if not count]
        if not found.paths and not notes and not found.debug.truncated:
            notes = ["There is no path: try direction both or incoming, or raise max_hops."]
        return Paths(nodes=nodes, paths=paths, note=_joined([*notes, _PATH_NOTES.get(found.debug.reason, "")]))

    async def node(self, node_id: str) -> Text:
        """One node with its text, whatever its length."""
        scope = self._scopes.of_ids([node_id])
        client = await self._connected()
        with self._failures(scope.name):
            found = await client.fetch(scope.index_scope, [node_id], budget_tokens=10_000_000)
        if not found.texts:
            raise ToolError("there is no such node: copy the whole `id` of a result into the URI, percent-encoded")
        (text,) = found.texts
        return _described(text, Text, tokens=text.token_count, text=text.text)

    async def _visible(self) -> dict[AllowedScope, IndexVersion]:
        """The allowed scopes of which the caller may see something, with the version that answers."""
        repositories = sorted({scope.repository for scope in self._scopes.all})
        client = await self._connected()
        with self._failures(""):
            lists = await asyncio.gather(*map(client.list_indexes, repositories))
        found = {(index.repository, index.branch, index.version): index for made in lists for index in made.indexes}
        active = {(index.repository, index.branch, ""): index for index in found.values() if index.active}
        known = found | active
        keys = {scope: (scope.repository, scope.branch, scope.version) for scope in self._scopes.all}
        return {scope: known[key] for scope, key in keys.items() if key in known}

    async def _named(self, name: str) -> AllowedScope:
        """The scope that a model names; where it names none, the only one that there is for its caller."""
        if name or len(self._scopes.all) == 1:
            return self._scopes.named(name or self._scopes.all[0].name)
        visible = [*await self._visible()]
        if not visible:
            raise ToolError(_NONE_AVAILABLE)
        if len(visible) > 1:
            raise ToolError(f"repository: give one of {', '.join(scope.name for scope in visible)}")
        return visible[0]

    @contextmanager
    def _failures(self, name: str) -> Iterator[None]:
        """Turns what the client raises about the scope of that name into ToolError."""
        try:
            yield
        except GroundwireError as error:
            if error.reason == "SCOPE_NOT_FOUND" and (pending := self._pending()):
                raise ToolError(pending) from None
            raise failure_of(error, name) from None
        except OSError:
            raise ToolError("the file of the token cannot be read: tell the user") from None
        except (ValueError, TypeError):
            raise ToolError("an argument holds characters that cannot be sent: use plain Unicode text") from None


def _repository_line(scope: AllowedScope, index: IndexVersion) -> RepositoryLine:
    searches = [
        *(["hybrid"] if index.dimension and index.lexical else []),
        *(["bm25"] if index.lexical else []),
        *(["semantic"] if index.dimension else []),
    ]
    return RepositoryLine(
        repository=scope.name,
        index=index.version,
        source=index.source,
        nodes=index.node_count,
        edges=index.edge_count,
        search_types=searches,
    )


def _narrowing(asked: SearchCode | Ask) -> NodeFilter | None:
    """The filter; it narrows within what the caller may see, and never widens that."""
    raw: dict[str, object] = {"path_prefixes": asked.path_prefixes, "languages": asked.languages}
    if asked.tests != "include":
        raw["is_test"] = asked.tests == "only"
    return node_filter(raw) if any(value != [] for value in raw.values()) else None


def _described(
    node: SearchHit | QueryMatch | ReachedNode | PathNode | NodeText, kind: type[_Node], **more: object
) -> _Node:
    return kind.model_validate(
        {
            "id": node.id,
            "place": place(node.location, ""),
            "symbol": node.symbol,
            "test": node.is_test,
            "generated": node.is_generated,
            **more,
        }
    )


def _why_found(hit: SearchHit) -> str:
    """Such as `meaning #2, words #1: create invoice`."""
    ranks = ", ".join(f"{_RETRIEVER_WORDS[used.retriever]} #{used.rank}" for used in hit.retrievers)
    return ": ".join(filter(None, (ranks, " ".join(hit.matched_tokens))))


def _why_matched(match: QueryMatch) -> str:
    """Such as `meaning 0.62, words, name`."""
    scores = match.scores
    parts = (
        f"meaning {scores.dense:.2f}" if scores.dense > 0 else "",
        "words" if scores.bm25_code > 0 or scores.bm25_prose > 0 else "",
        "name" if scores.trigram > 0 else "",
    )
    return ", ".join(filter(None, parts))


def _edge(edge: ServerEdge, numbers: dict[str, int]) -> GraphEdge:
    return GraphEdge(
        source=numbers[edge.from_id],
        target=numbers[edge.to_id],
        type=edge.edge_type,
        line=edge.line,
        confidence=round(edge.confidence, 2),
    )


def _left_out_note(left_out: Sequence[LeftOut]) -> str:
    if any(left.why == _SKIP_WORDS[SkipReason.SKIP_REASON_OVER_BUDGET] for left in left_out):
        return "Texts were left out: read_code with their ids, or a larger budget_tokens, returns them."
    return ""


def _joined(notes: Iterable[str]) -> str:
    return " ".join(filter(None, notes))
