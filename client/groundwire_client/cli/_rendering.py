"""Responses for people (rich) and for programs (`--json`)."""

from collections.abc import Iterable, Iterator, Mapping

import typer
from google.protobuf.json_format import MessageToJson
from google.protobuf.message import Message
from rich.console import RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from groundwire.printable_text import printable
from groundwire.v1.evidence_pb2 import GatherEvidenceResponse
from groundwire.v1.query_pb2 import QueryResponse
from groundwire.v1.retrieval_pb2 import (
    DependencyPath,
    ExpandDependencyTreeResponse,
    FetchNodeTextsResponse,
    FindPathsResponse,
    GraphEdge,
    PathNode,
    ReachedNode,
    Retriever,
    SearchDebug,
    SearchHit,
    SearchNodesResponse,
    SearchPath,
    SearchTextResponse,
    SearchType,
)
from groundwire.v1.scope_pb2 import IndexScope
from groundwire_client._helpers import choice, ids, telling_paths
from groundwire_client._reading import Reading
from groundwire_client._resolution import Resolution
from groundwire_client._why_first import why_first_hit
from groundwire_client.cli._parts import (
    footer,
    heading,
    indexes,
    node_id,
    origin,
    place,
    plain,
    scope_label,
    show,
    versions,
)
from groundwire_client.cli._shown_names import ShownNames, shown_names

_BAR_WIDTH = 10
_NO_PATH = {
    "outgoing": "no path leads from --from to --to; --direction incoming searches the other way, both in either",
    "incoming": "no path leads from --to to --from; --direction outgoing searches the other way, both in either",
    "both": "no path connects --from and --to, whichever way edges are followed; --max-hops allows longer ones",
}

_NO_EDGE = {
    "outgoing": "no edge leads from the seeds to other nodes; --direction incoming follows those that lead to them",
    "incoming": "no edge leads to the seeds from other nodes; --direction outgoing follows those that lead from them",
    "both": "no edge connects the seeds with other nodes",
}


def print_json(response: Message) -> None:
    """The response in protobuf's JSON, fields by their names in the contract; ASCII, so that any pipe carries it."""
    text = MessageToJson(response, preserving_proto_field_name=True, always_print_fields_with_no_presence=True)
    typer.echo(text)


def print_ids(
    response: SearchNodesResponse
    | SearchTextResponse
    | GatherEvidenceResponse
    | QueryResponse
    | ExpandDependencyTreeResponse
    | FindPathsResponse
    | FetchNodeTextsResponse,
) -> None:
    """The ids of the nodes of a response, one a line, as `expand -` and `fetch -` read them."""
    if isinstance(response, SearchNodesResponse | QueryResponse | GatherEvidenceResponse):
        node_ids = ids(response)
    elif isinstance(response, SearchTextResponse):
        node_ids = list(dict.fromkeys(match.node_id for match in response.matches))
    else:
        node_ids = [n.id for n in (response.texts if isinstance(response, FetchNodeTextsResponse) else response.nodes)]
    for name in node_ids:
        typer.echo(printable(name))


def print_search(scope: IndexScope, result: SearchNodesResponse) -> None:
    """The hits; with `explain` a table with scores, each hit's place in the retrievers' lists, and how it was done."""
    parts: list[RenderableType]
    names = _names(result.hits)
    if result.HasField("debug"):
        parts = [_hits_table(scope, result, names)]
        if why := why_first_hit(result.hits):
            parts.append(Text(why))
        parts.append(_search_summary(result.debug))
    else:
        parts = [_hit(scope, hit, names) for hit in result.hits]
    counts = f"hits: {len(result.hits)}; search type: {choice(SearchType, result.search_type)}"
    parts.append(footer(counts, indexes(result), "" if result.exact else "approximate"))
    show(parts)


def print_expansion(scope: IndexScope, result: ExpandDependencyTreeResponse, *, direction: str) -> None:
    """A tree of the nodes, each below the one it was reached from, and a table of the edges.

    Where there is no edge, it says which `direction` was asked.
    """
    names = _names(result.nodes)
    parts: list[RenderableType] = [_node_tree(scope, result.nodes, names)]
    if result.edges:
        parts.append(_edges_table(scope, result.edges, {node.id: node for node in result.nodes}, names))
    debug = result.debug
    counts = f"seeds: {debug.seed_count}; nodes: {debug.expanded_count}; edges: {debug.edges_count}"
    remark = "more lies beyond the depth" if debug.reason == "depth_reached" else ""
    if debug.truncated:
        remark = f"truncated: {debug.reason}"
    elif not (result.edges or remark) and debug.seed_count:
        remark = _NO_EDGE[direction]
    parts.append(footer(counts, result.index, remark))
    show(parts)


def print_paths(
    scope: IndexScope, result: FindPathsResponse, *, direction: str, resolved: Mapping[str, Iterable[Resolution]]
) -> None:
    """The meaning of each end; for each telling path its nodes in order, below each the edge to the next.

    Without a path, it says which end no id was found for, or which direction was asked; `direction` is that one.
    `resolved` has by option what its names were resolved to.
    """
    nodes, shown_paths = {node.id: node for node in result.nodes}, telling_paths(result)
    parts: list[RenderableType] = [Text("\n").join(ends)] if (ends := list(_end_lines(resolved))) else []
    names = _names(result.nodes)
    parts += (_path_lines(scope, number, path, nodes, names) for number, path in enumerate(shown_paths, start=1))
    debug = result.debug
    counts = f"paths: {len(shown_paths)}; from: {debug.from_count}; to: {debug.to_count}"
    remark = f"truncated: {debug.reason}, searched up to {debug.searched_hops} hops" if debug.truncated else ""
    counted = (("--from", debug.from_count), ("--to", debug.to_count))
    if unknown := " and ".join(name for name, count in counted if not count):
        remark = f"no node found for {unknown}: give a symbol, a place such as src/a.cs:42, or a whole id"
    elif not (result.paths or debug.truncated):
        remark = _NO_PATH[direction]
    if left := len(result.paths) - len(shown_paths):
        alike = f"left out: {left} that differ in one node only, or stay within one file; --json prints them"
        parts.append(Text(alike, style="dim"))
    parts.append(footer(counts, result.index, remark))
    show(parts)


def print_reading(reading: Reading) -> None:
    """Each text with its place and line numbers, the places without one, and what was used of the budget."""
    rows = list(map(printable, reading.text_rows()))
    parts: list[RenderableType] = [plain("\n".join(rows))] if rows else []
    counts = f"texts: {len(reading.texts)}; {reading.unit}: {reading.used}"
    left = f"left out: {len(reading.left_out)}" if reading.left_out else ""
    show([*parts, footer(counts, reading.index or versions(reading.scopes), left)])


def _names(nodes: Iterable[SearchHit | ReachedNode | PathNode]) -> ShownNames:
    return shown_names((node.location.path, node.symbol) for node in nodes)


def _hits_table(scope: IndexScope, result: SearchNodesResponse, names: ShownNames) -> Table:
    best = max((hit.score for hit in result.hits), default=0.0)
    table = Table("#", "score", "", "node", "retrievers", "matched tokens", box=None, pad_edge=False)
    for hit in result.hits:
        bar, tokens = _score_bar(hit.score, best), printable(" ".join(hit.matched_tokens))
        table.add_row(str(hit.rank), f"{hit.score:.4f}", bar, _node(scope, hit, names), _places(hit), tokens)
    return table


def _hit(scope: IndexScope, hit: SearchHit, names: ShownNames) -> Text:
    where = place(hit.location, "") or node_id(scope, hit.id).plain
    name = names.of(hit.location.path, hit.symbol)
    facts = scope_label(hit.scope), origin(is_test=hit.is_test, is_generated=hit.is_generated)
    return heading(str(hit.rank), name, where, facts)


def _node(scope: IndexScope, node: SearchHit | ReachedNode | PathNode, names: ShownNames) -> Text:
    """The node's name, its path and lines, and what sets it apart."""
    where = place(node.location, "")
    facts = (where if node.symbol else "", origin(is_test=node.is_test, is_generated=node.is_generated))
    dim = ((f"  {printable(fact)}", "dim") for fact in facts if fact)
    return Text.assemble(_name(scope, node, names), *dim, overflow="fold")


def _name(scope: IndexScope, node: SearchHit | ReachedNode | PathNode, names: ShownNames) -> Text:
    """The symbol; path and lines of a node without one, and the id where they are unknown."""
    name = names.of(node.location.path, node.symbol) or place(node.location, "")
    return Text(printable(name), style="bold", overflow="fold") if name else node_id(scope, node.id)


def _score_bar(score: float, best: float) -> RenderableType:
    """The score as a part of the best one; empty when no score is above 0."""
    if best <= 0:
        return ""
    return ProgressBar(total=best, completed=score, width=_BAR_WIDTH, complete_style="green", finished_style="green")


def _places(hit: SearchHit) -> str:
    shown_places = (f"{choice(Retriever, place.retriever)} #{place.rank} {place.score:.4f}" for place in hit.retrievers)
    return "\n".join(shown_places)


def _search_summary(debug: SearchDebug) -> Text:
    facts = [
        f"{debug.visible_count} nodes visible{' after the filter' if debug.filtered else ''}",
        f"dense: {choice(SearchPath, debug.path)}, {debug.dense_candidates} candidates"
        if debug.path
        else "dense: not asked",
        f"bm25: {debug.bm25_candidates} candidates",
    ]
    if debug.rrf_k:
        facts.append(f"rrf_k {debug.rrf_k}")
    if debug.query_tokens:
        facts.append("query tokens: " + " ".join(debug.query_tokens))
    return Text(printable("; ".join(facts)), style="dim")


def _node_tree(scope: IndexScope, nodes: Iterable[ReachedNode], names: ShownNames) -> Tree:
    root = Tree(Text("seeds", style="dim"))
    branches: dict[str, Tree] = {}
    for node in nodes:
        # Nodes come by depth, so a parent comes before its children; a seed has none.
        branches[node.id] = branches.get(node.parent_id, root).add(_node(scope, node, names))
    return root


def _edges_table(
    scope: IndexScope, edges: Iterable[GraphEdge], nodes: Mapping[str, ReachedNode], names: ShownNames
) -> Table:
    table = Table("from", "line", "edge", "to", "confidence", box=None, pad_edge=False)
    for edge in edges:
        from_, to = (_name(scope, nodes[end], names) for end in (edge.from_id, edge.to_id))
        edge_type = Text(printable(edge.edge_type), style="cyan")
        table.add_row(from_, str(edge.line or ""), edge_type, to, f"{edge.confidence:g}")
    return table


def _end_lines(resolved: Mapping[str, Iterable[Resolution]]) -> Iterator[Text]:
    """Below each end that was given by name the nodes that it means."""
    for option, ends in resolved.items():
        for end in ends:
            if end.nodes:
                how = option if end.match else f"{option}-search"
                yield Text(printable(f"{how} {end.name}"), style="dim")
                yield from (Text(printable(f"  {node}"), overflow="fold") for node in end.nodes)


def _path_lines(
    scope: IndexScope, number: int, path: DependencyPath, nodes: Mapping[str, PathNode], names: ShownNames
) -> Text:
    title = f"path {number}: {len(path.hops)} hops, confidence {path.confidence:g}"
    lines = [Text(title, style="dim"), _node(scope, nodes[path.node_ids[0]], names)]
    for near, far, edge in zip(path.node_ids, path.node_ids[1:], path.hops, strict=False):
        place = f" line {edge.line}" if edge.line else ""
        arrow = "↓" if edge.from_id == near else "↑"
        lines.append(Text.assemble(f"  {arrow} ", (printable(edge.edge_type), "cyan"), f" {edge.confidence:g}{place}"))
        lines.append(_node(scope, nodes[far], names))
    return Text("\n", overflow="fold").join(lines)
