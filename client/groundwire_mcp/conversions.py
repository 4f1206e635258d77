"""Converts responses of the server to results of the tools."""

from collections.abc import Collection, Iterable, Sequence
from itertools import groupby
from typing import TypeVar

from groundwire.evidence.best_line import best_line_of, cut_in_view
from groundwire_client import (
    Evidence,
    ExpandDependencyTreeResponse,
    FindPathsResponse,
    GatherEvidenceResponse,
    IndexScope,
    IndexVersion,
    LineMatch,
    NodeText,
    PathNode,
    QueryMatch,
    QueryResponse,
    ReachedNode,
    Reading,
    Resolution,
    Retriever,
    SearchTextResponse,
    is_id,
    left_out_note,
    scope_of_id,
    telling_paths,
)
from groundwire_client import GraphEdge as ServerEdge
from groundwire_client.cli import place, symbol_beside
from groundwire_mcp.scopes import AllowedScope
from groundwire_mcp.tool_results import (
    Graph,
    GraphEdge,
    GraphNode,
    Hit,
    Hits,
    NodeLine,
    Path,
    Paths,
    Quotation,
    RepositoryLine,
    Text,
)

_MOST_CODE = 120
_MOST_LINE_CHARACTERS = 40_000
"""Of the lines of an exact search, some 10,000 tokens: agents cut longer results off, or refuse them."""
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
        links=index.link_template,
        nodes=index.node_count,
        edges=index.edge_count,
        search_types=searches,
    )


def hits_of(response: QueryResponse, query: str, notes: Sequence[str]) -> Hits:
    """The matches of a search, without texts; `notes` are said of the filter and the index.

    A match without a signature has a line of its text.
    """
    hits = [_described(match, Hit, response.scopes, code=_code(match, query)) for match in response.matches]
    nothing = "" if hits else "Nothing matches: try other words, phrasings, another search_type, or fewer conditions."
    return Hits(hits=hits, note=_joined((nothing, *notes, _without_embeddings(response))))


def evidence_of(evidence: Evidence, notes: Sequence[str]) -> Quotation:
    """The evidence as text, which says first if it is weak; `notes` as for `hits_of`."""
    nothing = "" if evidence.rendered else "Nothing matches: try other words, phrasings, or fewer conditions."
    near = f"Words of the index near the question: {', '.join(evidence.near_words)}." if evidence.near_words else ""
    note = _joined((nothing, near, *notes, _without_embeddings(evidence.response)))
    return Quotation(quoted=evidence.rendered, note=note)


def _code(match: QueryMatch, query: str) -> str:
    """The signature; else the first line of a text that is no outline, unless it says what the symbol says.

    Of a text whose first line says nothing, such as `{`, it is the best line for the query.
    """
    lines = match.text.strip().split("\n")
    code = match.signature
    if not code and len(lines) == match.location.end_line - match.location.start_line + 1:
        says_something = any(sign.isalnum() for sign in lines[0])
        code = lines[0 if says_something else best_line_of(lines, query)].strip().lstrip("#").strip()
    return "" if match.symbol.endswith(code) else cut_in_view(code, query, _MOST_CODE)


def _without_embeddings(response: QueryResponse | GatherEvidenceResponse) -> str:
    if not response.scopes and any(left.retriever == Retriever.RETRIEVER_DENSE for left in response.left_out):
        return "Searched by words alone: the index has no embeddings, or not yet."
    note = left_out_note(response)
    return f"{note[0].upper()}{note[1:]}." if note else ""


def lines_of(response: SearchTextResponse, notes: Sequence[str]) -> Quotation:
    """The matching lines below the path of each file, with their numbers; `notes` as for `hits_of`."""
    fitting = _fitting_matches(response.matches)
    rows: list[str] = []
    for file, matches in groupby(fitting, key=_file_of):
        rows.append(file)
        shown: set[int] = set()
        for match in matches:
            rows += [f"{number}{sign} {text}" for number, sign, text in _numbered(match) if number not in shown]
            shown.update(number for number, _, _ in _numbered(match))
    more = ""
    if len(fitting) < response.line_count or response.stopped:
        at_least = "at least " if response.stopped else ""
        counts = f"{at_least}{response.line_count} lines in {response.file_count} files match"
        more = f"{counts}; shown are the first {len(fitting)}: narrow by path_prefixes or languages."
    nothing = "" if rows else "No line matches: try ignore_case, a part of the pattern, or search_code."
    return Quotation(quoted="\n".join(rows), note=_joined((nothing, more, *notes)))


def _fitting_matches(matches: Sequence[LineMatch]) -> list[LineMatch]:
    """The first matches, with the lines around them, that a result has room for."""
    left = _MOST_LINE_CHARACTERS
    fitting: list[LineMatch] = []
    for match in matches:
        left -= sum(len(text) for _, _, text in _numbered(match))
        if left < 0:
            break
        fitting.append(match)
    return fitting


def _file_of(match: LineMatch) -> str:
    """The path of a line's file, with the repository where several were asked."""
    path = match.path or match.node_id
    return f"{scope_of_id(match.node_id)} {path}" if match.HasField("scope") else path


def _numbered(match: LineMatch) -> list[tuple[int, str, str]]:
    """The lines of a match and around it: their numbers, `:` for the match and `-` for others, and their texts."""
    first, last = match.line - len(match.before), match.end_line + 1
    return [
        *((number, "-", text) for number, text in enumerate(match.before, start=first)),
        (match.line, ":", match.text),
        *((number, "-", text) for number, text in enumerate(match.after, start=last)),
    ]


def texts_of(reading: Reading, notes: Sequence[str]) -> Quotation:
    """The texts of names, and the names that mean none; `notes` as for `hits_of`."""
    return Quotation(quoted=reading.rendered, note=_joined(notes))


def text_of(text: NodeText) -> Text:
    """A node with its text."""
    return _described(text, Text, (), text=text.text)


def graph_of(walked: ExpandDependencyTreeResponse, starts: Collection[str], notes: Sequence[str]) -> Graph:
    """The nodes and edges around `starts`, names and ids; `notes` as for `hits_of`."""
    numbers = {node.id: number for number, node in enumerate(walked.nodes, start=1)}
    scopes = walked.scopes
    nodes = [_described(node, GraphNode, scopes, n=numbers[node.id], depth=node.depth) for node in walked.nodes]
    missing = sum(map(is_id, set(starts) - set(walked.seed_ids)))
    all_notes = (
        f"{missing} of the ids are no nodes that are there." if missing else "",
        _WALK_NOTES.get(walked.debug.reason, ""),
        *notes,
    )
    return Graph(nodes=nodes, edges=[_edge(edge, numbers) for edge in walked.edges], note=_joined(all_notes))


def paths_of(
    response: FindPathsResponse, direction: str, ends: Iterable[Resolution], index_notes: Sequence[str]
) -> Paths:
    """The paths, over nodes that are listed once.

    `direction` is the one that was asked for, `ends` what was; `index_notes` are said of the index.
    """
    shown_paths = telling_paths(response)
    passed = {node_id for path in shown_paths for node_id in path.node_ids}
    on_paths = [node for node in response.nodes if node.id in passed]
    numbers = {node.id: number for number, node in enumerate(on_paths, start=1)}
    nodes = [_described(node, GraphNode, response.scopes, n=numbers[node.id]) for node in on_paths]
    paths = [
        Path(nodes=[numbers[node_id] for node_id in path.node_ids], edges=[_edge(hop, numbers) for hop in path.hops])
        for path in shown_paths
    ]
    counts = (("from_nodes", response.debug.from_count), ("to_nodes", response.debug.to_count))
    notes = [f"None of {name} is a node that is there." for name, count in counts if not count]
    if not response.paths and not notes and not response.debug.truncated:
        notes = [_NO_PATH[direction]]
    searched = (
        f"A search took {end.name!r} for {', '.join(node.place for node in end.nodes)}."
        for end in ends
        if end.nodes and not end.match
    )
    if left := len(response.paths) - len(shown_paths):
        notes.append(f"Left out: {left} that differ in one node only, or stay within one file.")
    return Paths(
        nodes=nodes,
        paths=paths,
        note=_joined([*notes, *searched, _PATH_NOTES.get(response.debug.reason, ""), *index_notes]),
    )


def _described(
    node: QueryMatch | ReachedNode | PathNode | NodeText,
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


def _edge(edge: ServerEdge, numbers: dict[str, int]) -> GraphEdge:
    return GraphEdge(
        source=numbers[edge.from_id],
        target=numbers[edge.to_id],
        type=edge.edge_type,
        line=edge.line,
        confidence=round(edge.confidence, 2),
    )


def _joined(notes: Iterable[str]) -> str:
    return " ".join(filter(None, notes))
