"""Responses of the server as results of the tools."""

from collections.abc import Collection, Iterable, Sequence
from typing import TypeVar

from groundwire_client import (
    ExpandDependencyTreeResponse,
    FetchNodeTextsResponse,
    FindPathsResponse,
    IndexScope,
    IndexVersion,
    NodeText,
    PathNode,
    QueryMatch,
    QueryResponse,
    ReachedNode,
    Resolution,
    SearchHit,
    SearchNodesResponse,
    SearchType,
    SkipReason,
    is_id,
    left_out_note,
    scope_of_id,
    telling_paths,
)
from groundwire_client import GraphEdge as ServerEdge
from groundwire_client.cli import place, symbol_beside
from groundwire_mcp.results import (
    Graph,
    GraphEdge,
    GraphNode,
    Hits,
    LeftOut,
    NodeLine,
    Path,
    Paths,
    RepositoryLine,
    Text,
    Texts,
)
from groundwire_mcp.scopes import AllowedScope

_AUTO_NOTES = {
    SearchType.SEARCH_TYPE_BM25: "Searched by words alone: the index has no embeddings, or not yet.",
    SearchType.SEARCH_TYPE_SEMANTIC: "Searched by meaning alone: the index has no word statistics.",
}
_WALK_NOTES = {
    "limit_reached": "There is more: raise max_nodes, or narrow by edge_types, direction or min_confidence.",
    "response_limit": "There is more than fits: narrow by edge_types, direction or min_confidence.",
    "depth_reached": "There is more beyond max_depth: raise it, or call again with the outermost nodes.",
}
_NO_PATH = {
    "outgoing": "No path leads from from_nodes to to_nodes: direction incoming searches the other way, both searches "
    "either way; or raise max_hops.",
    "incoming": "No path leads from to_nodes to from_nodes: direction outgoing searches the other way, both searches "
    "either way; or raise max_hops.",
    "both": "No path connects from_nodes and to_nodes, whichever way edges are followed: raise max_hops.",
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


def repository_line(scope: AllowedScope, index: IndexVersion) -> RepositoryLine:
    """The repository, as models choose it."""
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


def hits_of(found: SearchNodesResponse, search_type: str, unknown: Sequence[str]) -> Hits:
    """The hits of a search of the type that was asked for; `unknown` is said of values that the index does not have."""
    notes = (
        "" if found.hits else "Nothing matches: try other words, another search_type, or fewer conditions.",
        *unknown,
        _AUTO_NOTES.get(found.search_type, "") if search_type == "auto" and not found.scopes else "",
        _without_embeddings(found),
    )
    return Hits(hits=[_described(hit, NodeLine, found.scopes) for hit in found.hits], note=_joined(notes))


def matches_of(found: QueryResponse, unknown: Sequence[str]) -> Texts:
    """The texts of matches, and the matches whose texts did not fit; `unknown` as for `hits_of`."""
    left_out = [
        _described(match, LeftOut, found.scopes, tokens=match.token_count, why=_SKIP_WORDS[match.omit_reason])
        for match in found.matches
        if match.text_omitted
    ]
    texts = [
        _described(match, Text, found.scopes, tokens=match.token_count, why=_why_matched(match), text=match.text)
        for match in found.matches
        if not match.text_omitted
    ]
    note = _left_out_note(left_out) if found.matches else "Nothing matches: try other words or fewer conditions."
    return Texts(
        texts=texts,
        left_out=left_out,
        used_tokens=found.meta.used_tokens,
        note=_joined((note, *unknown, _without_embeddings(found))),
    )


def _without_embeddings(found: SearchNodesResponse | QueryResponse) -> str:
    note = left_out_note(found)
    return f"{note[0].upper()}{note[1:]}." if note else ""


def texts_of(found: FetchNodeTextsResponse) -> Texts:
    """The texts of nodes, and why others are missing."""
    texts = [text_of(text, found.scopes) for text in found.texts]
    left_out = [LeftOut(id=skipped.id, why=_SKIP_WORDS[skipped.reason]) for skipped in found.skipped]
    return Texts(texts=texts, left_out=left_out, used_tokens=found.used_tokens, note=_left_out_note(left_out))


def text_of(text: NodeText, scopes: Collection[IndexScope] = ()) -> Text:
    """A node with its text; `scopes` are the several ones that were asked, if any."""
    return _described(text, Text, scopes, tokens=text.token_count, text=text.text)


def graph_of(walked: ExpandDependencyTreeResponse, starts: Collection[str]) -> Graph:
    """The nodes and edges around `starts`, names and ids."""
    numbers = {node.id: number for number, node in enumerate(walked.nodes, start=1)}
    scopes = walked.scopes
    nodes = [_described(node, GraphNode, scopes, n=numbers[node.id], depth=node.depth) for node in walked.nodes]
    missing = sum(map(is_id, set(starts) - set(walked.seed_ids)))
    notes = (
        f"{missing} of the ids are no nodes that are there." if missing else "",
        _WALK_NOTES.get(walked.debug.reason, ""),
    )
    return Graph(nodes=nodes, edges=[_edge(edge, numbers) for edge in walked.edges], note=_joined(notes))


def paths_of(found: FindPathsResponse, direction: str, ends: Iterable[Resolution]) -> Paths:
    """The paths, over nodes that are listed once; `direction` is the one that was asked for, `ends` what was."""
    told = telling_paths(found)
    passed = {node_id for path in told for node_id in path.node_ids}
    on_paths = [node for node in found.nodes if node.id in passed]
    numbers = {node.id: number for number, node in enumerate(on_paths, start=1)}
    nodes = [_described(node, GraphNode, found.scopes, n=numbers[node.id]) for node in on_paths]
    paths = [
        Path(nodes=[numbers[node_id] for node_id in path.node_ids], edges=[_edge(hop, numbers) for hop in path.hops])
        for path in told
    ]
    counts = (("from_nodes", found.debug.from_count), ("to_nodes", found.debug.to_count))
    notes = [f"None of {name} is a node that is there." for name, count in counts if not count]
    if not found.paths and not notes and not found.debug.truncated:
        notes = [_NO_PATH[direction]]
    searched = (
        f"A search took {end.name!r} for {', '.join(node.place for node in end.nodes)}."
        for end in ends
        if end.nodes and not end.match
    )
    if left := len(found.paths) - len(told):
        notes.append(f"Left out: {left} that differ in one node only, or stay within one file.")
    return Paths(nodes=nodes, paths=paths, note=_joined([*notes, *searched, _PATH_NOTES.get(found.debug.reason, "")]))


def _described(
    node: SearchHit | QueryMatch | ReachedNode | PathNode | NodeText,
    kind: type[_Node],
    scopes: Collection[IndexScope],
    **more: object,
) -> _Node:
    """A node as tools return it; its repository is named where several scopes were asked."""
    return kind.model_validate(
        {
            "id": "" if node.location.path and node.location.start_line else node.id,
            "place": place(node.location, ""),
            "symbol": ""
            if node.location.path.endswith(node.symbol)
            else symbol_beside(node.location.path, node.symbol),
            "repository": scope_of_id(node.id) if scopes else "",
            "test": node.is_test,
            "generated": node.is_generated,
            **more,
        }
    )


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
        return "Texts were left out: read_code of them, or a larger budget_tokens, returns them."
    return ""


def _joined(notes: Iterable[str]) -> str:
    return " ".join(filter(None, notes))
