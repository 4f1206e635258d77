"""The calls of the tools: arguments to requests; `conversions` makes results of what the server answers."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence, Sized
from contextlib import asynccontextmanager
from dataclasses import dataclass

from groundwire_client import (
    AsyncGroundwireClient,
    EdgeDirection,
    GroundwireError,
    IndexScope,
    IndexVersion,
    NameResolutionError,
    NodeFilter,
    Resolution,
    Retriever,
    Scopes,
    choices,
    is_id,
    node_filter,
    pinned,
)
from groundwire_client.cli import END_TOP_K, MOST_NAMES, ids_of, is_id_of, read_at, searched, value_notes
from groundwire_mcp.conversions import (
    evidence_of,
    graph_of,
    hits_of,
    lines_of,
    paths_of,
    repository_line,
    text_of,
    texts_of,
)
from groundwire_mcp.scopes import AllowedScope, AllowedScopes
from groundwire_mcp.tool_arguments import (
    ALL,
    Ask,
    ExpandGraph,
    FindPaths,
    GrepCode,
    ListRepositories,
    ReadCode,
    SearchCode,
)
from groundwire_mcp.tool_errors import ToolError, failure_of
from groundwire_mcp.tool_results import Graph, Hits, Paths, Quotation, Repositories, Text

_NONE_AVAILABLE = "No repository is available: tell the user."
_MAX_NODES_BETWEEN = 2_000
_MOST_ALIKE = 5
"""The most nodes that one place means, such as overloads in one line."""
_RETRIEVERS: Mapping[str, Sequence[Retriever.ValueType]] = {
    "auto": (),
    "hybrid": (Retriever.RETRIEVER_DENSE, Retriever.RETRIEVER_BM25_CODE, Retriever.RETRIEVER_BM25_PROSE),
    "bm25": (Retriever.RETRIEVER_BM25_CODE, Retriever.RETRIEVER_BM25_PROSE),
    "semantic": (Retriever.RETRIEVER_DENSE,),
}


@dataclass(frozen=True, slots=True)
class ToolCalls:
    """Calls the server for each tool, with a client that knows its caller. Methods raise ToolError.

    Attributes:
        connected: Gives the client, whose `access` and token decide what is visible. Raises ToolError.
        scopes: What a model may choose from; None for the active version of all that the server lists for the caller.
        pending: Why the scope has no index yet; empty when that is not known.
        notes: What a reader of results needs to know of the index: sentences.
    """

    connected: Callable[[], Awaitable[AsyncGroundwireClient]]
    scopes: AllowedScopes | None
    pending: Callable[[], str] = str
    notes: Callable[[], Sequence[str]] = tuple

    async def list_repositories(self, _: ListRepositories) -> Repositories:
        """The allowed scopes with at least one node visible to the caller."""
        pending = self.pending()  # before the list, as the first build may end between the two
        lines = [repository_line(scope, index) for scope, index in (await self._visible()).items()]
        note = "" if lines else pending or _NONE_AVAILABLE
        return Repositories(repositories=lines, note=note)

    async def search_code(self, request: SearchCode) -> Hits:
        """The nodes that match best, without texts."""
        name, scope = await self._searched(request.repository)
        async with self._asking(name) as client:
            response = await client.query(
                scope,
                "\n".join([request.query, *request.phrasings]),
                retrievers=_RETRIEVERS[request.search_type],
                top_k=request.top_k,
                filter=_narrowing(request),
                cap_top_k=True,
                include_parents=False,
            )
            unknown = await self._unknown(client, scope, request, response.index, response.matches)
        return hits_of(response, request.query, [*unknown, *self.notes()])

    async def grep_code(self, request: GrepCode) -> Quotation:
        """The lines that match, by path."""
        name, scope = await self._searched(request.repository)
        async with self._asking(name) as client:
            response = await client.search_text(
                scope,
                request.pattern,
                regex=request.regex,
                ignore_case=request.ignore_case,
                max_matches=request.max_matches,
                context_lines=request.context_lines,
                filter=_narrowing(request),
            )
            unknown = await self._unknown(client, scope, request, response.index, response.matches)
        return lines_of(response, [*unknown, *self.notes()])

    async def ask(self, request: Ask) -> Quotation:
        """The passages that answer best, within the budget."""
        name, scope = await self._searched(request.repository)
        async with self._asking(name) as client:
            evidence = await client.evidence(
                scope,
                request.query,
                request.budget_tokens,
                phrasings=request.phrasings,
                shown_ids=await _shown_ids(client, scope, request.shown),
                filter=_narrowing(request),
            )
            unknown = await self._unknown(client, scope, request, evidence.response.index, evidence.texts)
        return evidence_of(evidence, [*unknown, *self.notes()])

    async def read_code(self, request: ReadCode) -> Quotation:
        """The texts of names, in the order asked, as many as fit the budget."""
        name, scope = await self._of_nodes(request.nodes, request.repository)
        async with self._asking(name) as client:
            reading = await client.read(scope, request.nodes, budget_tokens=request.budget_tokens)
        if reading.unread and not reading.texts and not any(unread.occurrences for unread in reading.unread):
            raise ToolError(reading.rendered.removesuffix("\n"))
        return texts_of(reading, self.notes())

    async def expand_graph(self, request: ExpandGraph) -> Graph:
        """The neighbourhood of nodes in the dependency graph."""
        name, scope = await self._of_nodes(request.nodes, request.repository)
        async with self._asking(name) as client:
            walked = await client.expand(
                scope,
                request.nodes,
                max_depth=request.max_depth,
                max_nodes=request.max_nodes,
                edge_allowlist=request.edge_types or ["*"],
                direction=choices(EdgeDirection)[request.direction],
                min_confidence=request.min_confidence,
            )
        return graph_of(walked, request.nodes, self.notes())

    async def find_paths(self, request: FindPaths) -> Paths:
        """How nodes are connected."""
        name, scope = await self._of_nodes([*request.from_nodes, *request.to_nodes], request.repository)
        async with self._asking(name) as client:
            ends: dict[str, list[Resolution]] = {}
            given = (("from", request.from_nodes, request.from_query), ("to", request.to_nodes, request.to_query))
            for end, nodes, query in given:
                if not nodes and not query:
                    raise ToolError(f"{end}_nodes: name a node, or give {end}_query")
                ends[end] = await client.resolve(scope, nodes)
                if query:
                    ends[end].append(searched(query, await client.search(scope, query, top_k=END_TOP_K)))
                scope = read_at(scope, ends[end])
            response = await client.find_paths(
                scope,
                ids_of(ends["from"]),
                ids_of(ends["to"]),
                max_hops=request.max_hops,
                max_paths=request.max_paths,
                max_nodes=_MAX_NODES_BETWEEN,
                edge_allowlist=request.edge_types or ["*"],
                direction=choices(EdgeDirection)[request.direction],
                min_confidence=request.min_confidence,
            )
        return paths_of(response, request.direction, [*ends["from"], *ends["to"]], self.notes())

    async def node(self, node_id: str) -> Text:
        """One node with its text, whatever its length."""
        name, scope = await self._of_nodes([node_id], "")
        async with self._asking(name) as client:
            response = await client.fetch(scope, [node_id], budget_tokens=10_000_000)
        if not response.texts:
            raise ToolError("there is no such node: give the place or the `id` of a result, percent-encoded")
        return text_of(response.texts[0])

    async def _visible(self) -> dict[AllowedScope, IndexVersion]:
        """The allowed scopes with at least one node visible to the caller, with the version that answers."""
        repositories = [""] if self.scopes is None else sorted({scope.repository for scope in self.scopes.all})
        async with self._asking("") as client:
            lists = await asyncio.gather(*map(client.list_indexes, repositories))
        indexes = [index for listed in lists for index in listed.indexes]
        versions = {AllowedScope(index.repository, index.branch, index.version): index for index in indexes}
        active = {AllowedScope(index.repository, index.branch): index for index in indexes if index.active}
        if self.scopes is None:
            return active
        known = versions | active
        return {scope: known[scope] for scope in self.scopes.all if scope in known}

    async def _allowed(self) -> AllowedScopes:
        """What a model may choose from."""
        return AllowedScopes(await self._visible()) if self.scopes is None else self.scopes

    async def _unknown(
        self,
        client: AsyncGroundwireClient,
        scope: Scopes,
        request: SearchCode | GrepCode | Ask,
        index: str,
        results: Sized,
    ) -> list[str]:
        """The hint about languages that the one index does not have, when nothing is found."""
        if results or not request.languages or not isinstance(scope, IndexScope):
            return []
        known = await client.get_index(pinned(scope, index))
        return value_notes(known, NodeFilter(languages=request.languages), ())

    async def _of_nodes(self, nodes: Sequence[str], repository: str) -> tuple[str, Scopes]:
        """The name and the scopes of the ids among `nodes`; without an id those that a model names."""
        scopes = (await self._allowed()).of_ids(nodes) if any(map(is_id, nodes)) else []
        if not scopes:
            return await self._searched(repository)
        if len(scopes) == 1:
            return scopes[0].name, scopes[0].index_scope
        return ", ".join(scope.name for scope in scopes), [scope.index_scope for scope in scopes]

    async def _searched(self, name: str) -> tuple[str, Scopes]:
        """The name and the scopes of a search: the scope that a model names, or all that its caller sees."""
        if name != ALL:
            scope = await self._named(name)
            return scope.name, scope.index_scope
        visible = await self._visible()
        if not visible:
            raise ToolError(_NONE_AVAILABLE)
        if self.scopes is None:  # of any number
            return name, [IndexScope(repository="*", branch="*")]
        return name, [scope.index_scope for scope in visible]

    async def _named(self, name: str) -> AllowedScope:
        """The scope that a model names; where it names none, the only one that there is for its caller."""
        if name:
            return (await self._allowed()).named(name)
        if self.scopes is not None and len(self.scopes.all) == 1:
            return self.scopes.all[0]
        visible = [*await self._visible()]
        if not visible:
            raise ToolError(_NONE_AVAILABLE)
        if len(visible) > 1:
            raise ToolError(f"repository: give one of {', '.join(scope.name for scope in visible)}")
        return visible[0]

    @asynccontextmanager
    async def _asking(self, name: str) -> AsyncIterator[AsyncGroundwireClient]:
        """Gives the client, and turns what it raises about the scope of that name into ToolError."""
        client = await self.connected()
        pending = self.pending()  # before the call, as the first build may end during it
        try:
            yield client
        except GroundwireError as error:
            if error.reason == "SCOPE_NOT_FOUND" and pending:
                raise ToolError(pending) from None
            raise failure_of(error, name) from None
        except NameResolutionError as error:
            raise ToolError(str(error)) from None
        except OSError:
            raise ToolError("the file of the token cannot be read: tell the user") from None
        except (ValueError, TypeError):
            raise ToolError("an argument holds characters that cannot be sent: use plain Unicode text") from None


async def _shown_ids(client: AsyncGroundwireClient, scope: Scopes, shown: Sequence[str]) -> list[str]:
    """The ids of the nodes that places and ids name; a name that means none, or several, is left out."""
    ids = {name: [name] for name in shown if is_id_of(name, scope)}
    named = [name for name in dict.fromkeys(shown) if name not in ids and name.strip()]
    for first in range(0, len(named), MOST_NAMES):
        response = await client.resolve_nodes(scope, named[first : first + MOST_NAMES], max_nodes=_MOST_ALIKE)
        ids |= {name.name: [node.id for node in name.nodes] for name in response.names if not name.ambiguous}
    return list(dict.fromkeys(id_ for name in shown for id_ in ids.get(name, ())))


def _narrowing(request: SearchCode | GrepCode | Ask) -> NodeFilter | None:
    """The filter; it narrows within what the caller may see, and never widens that."""
    raw: dict[str, object] = {"path_prefixes": request.path_prefixes, "languages": request.languages}
    if request.tests != "include":
        raw["is_test"] = request.tests == "only"
    return node_filter(raw) if any(value != [] for value in raw.values()) else None
