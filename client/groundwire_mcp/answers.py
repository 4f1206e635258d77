"""The calls behind the tools: arguments to requests; `responses` makes results of what the server answers."""

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
from groundwire_mcp.arguments import ALL, Ask, ExpandGraph, FindPaths, ListRepositories, ReadCode, SearchCode
from groundwire_mcp.errors import ToolError, failure_of
from groundwire_mcp.responses import evidence_of, graph_of, hits_of, paths_of, repository_line, text_of, texts_of
from groundwire_mcp.results import Graph, Hits, Paths, Quotation, Repositories, Text
from groundwire_mcp.scopes import AllowedScope, AllowedScopes

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
class Answers:
    """Answers tools with a client that knows its caller. Methods raise ToolError.

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
        lines = [repository_line(scope, index) for scope, index in (await self._visible()).items()]
        note = "" if lines else self.pending() or _NONE_AVAILABLE
        return Repositories(repositories=lines, note=note)

    async def search_code(self, asked: SearchCode) -> Hits:
        """The nodes that match best, without texts."""
        name, scope = await self._searched(asked.repository)
        async with self._asking(name) as client:
            found = await client.query(
                scope,
                "\n".join([asked.query, *asked.phrasings]),
                retrievers=_RETRIEVERS[asked.search_type],
                top_k=asked.top_k,
                filter=_narrowing(asked),
                cap_top_k=True,
                include_parents=False,
            )
            unknown = await self._unknown(client, scope, asked, found.index, found.matches)
        return hits_of(found, asked.query, [*unknown, *self.notes()])

    async def ask(self, asked: Ask) -> Quotation:
        """The passages that answer best, within the budget."""
        name, scope = await self._searched(asked.repository)
        async with self._asking(name) as client:
            found = await client.evidence(
                scope,
                asked.query,
                asked.budget_tokens,
                phrasings=asked.phrasings,
                shown_ids=await _shown_ids(client, scope, asked.shown),
                filter=_narrowing(asked),
            )
            unknown = await self._unknown(client, scope, asked, found.response.index, found.texts)
        return evidence_of(found, [*unknown, *self.notes()])

    async def read_code(self, asked: ReadCode) -> Quotation:
        """The texts of names, in the order asked, as many as fit the budget."""
        name, scope = await self._of_nodes(asked.nodes, asked.repository)
        async with self._asking(name) as client:
            found = await client.read(scope, asked.nodes, budget_tokens=asked.budget_tokens)
        if found.unread and not found.texts and not any(unread.occurrences for unread in found.unread):
            raise ToolError(found.rendered.removesuffix("\n"))
        return texts_of(found, self.notes())

    async def expand_graph(self, asked: ExpandGraph) -> Graph:
        """The neighbourhood of nodes in the dependency graph."""
        name, scope = await self._of_nodes(asked.nodes, asked.repository)
        async with self._asking(name) as client:
            walked = await client.expand(
                scope,
                asked.nodes,
                max_depth=asked.max_depth,
                max_nodes=asked.max_nodes,
                edge_allowlist=asked.edge_types or ["*"],
                direction=choices(EdgeDirection)[asked.direction],
                min_confidence=asked.min_confidence,
            )
        return graph_of(walked, asked.nodes, self.notes())

    async def find_paths(self, asked: FindPaths) -> Paths:
        """How nodes are connected."""
        name, scope = await self._of_nodes([*asked.from_nodes, *asked.to_nodes], asked.repository)
        async with self._asking(name) as client:
            ends: dict[str, list[Resolution]] = {}
            given = (("from", asked.from_nodes, asked.from_query), ("to", asked.to_nodes, asked.to_query))
            for end, nodes, query in given:
                if not nodes and not query:
                    raise ToolError(f"{end}_nodes: name a node, or give {end}_query")
                ends[end] = await client.resolve(scope, nodes)
                if query:
                    ends[end].append(searched(query, await client.search(scope, query, top_k=END_TOP_K)))
                scope = read_at(scope, ends[end])
            found = await client.find_paths(
                scope,
                ids_of(ends["from"]),
                ids_of(ends["to"]),
                max_hops=asked.max_hops,
                max_paths=asked.max_paths,
                max_nodes=_MAX_NODES_BETWEEN,
                edge_allowlist=asked.edge_types or ["*"],
                direction=choices(EdgeDirection)[asked.direction],
                min_confidence=asked.min_confidence,
            )
        return paths_of(found, asked.direction, [*ends["from"], *ends["to"]], self.notes())

    async def node(self, node_id: str) -> Text:
        """One node with its text, whatever its length."""
        name, scope = await self._of_nodes([node_id], "")
        async with self._asking(name) as client:
            found = await client.fetch(scope, [node_id], budget_tokens=10_000_000)
        if not found.texts:
            raise ToolError("there is no such node: give the place or the `id` of a result, percent-encoded")
        return text_of(found.texts[0])

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
        self, client: AsyncGroundwireClient, scope: Scopes, asked: SearchCode | Ask, index: str, found: Sized
    ) -> list[str]:
        """The hint about languages that the one index does not have, when nothing is found."""
        if found or not asked.languages or not isinstance(scope, IndexScope):
            return []
        known = await client.get_index(pinned(scope, index))
        return value_notes(known, NodeFilter(languages=asked.languages), ())

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
        try:
            yield client
        except GroundwireError as error:
            if error.reason == "SCOPE_NOT_FOUND" and (pending := self.pending()):
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


def _narrowing(asked: SearchCode | Ask) -> NodeFilter | None:
    """The filter; it narrows within what the caller may see, and never widens that."""
    raw: dict[str, object] = {"path_prefixes": asked.path_prefixes, "languages": asked.languages}
    if asked.tests != "include":
        raw["is_test"] = asked.tests == "only"
    return node_filter(raw) if any(value != [] for value in raw.values()) else None
