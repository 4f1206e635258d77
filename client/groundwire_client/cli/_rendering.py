"""Responses for people (rich) and for programs (`--json`)."""

import json
import sys
from collections.abc import Iterable
from dataclasses import asdict

import typer
from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from groundwire_client._types import (
    DependencyEdge,
    ExpandedNode,
    Expansion,
    FetchResult,
    Hit,
    NodeText,
    Scope,
    SearchDebug,
    SearchResult,
    SkippedNode,
)
from groundwire_client.cli._text import printable

_BAR_WIDTH = 10
_PIPE_WIDTH = 10_000


def print_json(result: SearchResult | Expansion | FetchResult) -> None:
    """One JSON object: the fields of the response in their order, ASCII only so that any pipe carries it."""
    typer.echo(json.dumps(asdict(result), indent=2))


def print_search(scope: Scope, result: SearchResult) -> None:
    """A table of hits; with `explain`, each hit's place in the lists that made it, and how the search was done."""
    parts: list[RenderableType] = [_hits_table(scope, result)]
    if result.debug is not None:
        parts.append(_search_summary(result.debug))
    parts.append(_footer(f"hits: {len(result.hits)}", result.index, "" if result.exact else "approximate"))
    _print(parts)


def print_expansion(scope: Scope, result: Expansion) -> None:
    """A tree of the nodes, each below the one it was reached from, and a table of the edges."""
    parts: list[RenderableType] = [_node_tree(scope, result.nodes)]
    if result.edges:
        parts.append(_edges_table(scope, result.edges))
    debug = result.debug
    counts = f"seeds: {debug.seed_count}; nodes: {debug.expanded_count}; edges: {debug.edges_count}"
    parts.append(_footer(counts, result.index, f"truncated: {debug.reason}" if debug.truncated else ""))
    _print(parts)


def print_texts(scope: Scope, result: FetchResult) -> None:
    """A panel for each text, a table of the ids without one, and what was used of the budget."""
    parts: list[RenderableType] = [_text_panel(scope, text) for text in result.texts]
    if result.skipped:
        parts.append(_skipped_table(scope, result.skipped))
    used = f"texts: {len(result.texts)}; tokens: {result.used_tokens}; characters: {result.used_chars}"
    parts.append(_footer(used, result.index, f"skipped: {len(result.skipped)}" if result.skipped else ""))
    _print(parts)


def _print(parts: Iterable[RenderableType]) -> None:
    """Into a pipe without colours, and wide enough to keep every id on one line.

    A character that the output's encoding lacks becomes `?`, as no text may end in a traceback.
    """
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="replace")
    console = Console(width=None if sys.stdout.isatty() else _PIPE_WIDTH, markup=False, emoji=False, highlight=False)
    for number, part in enumerate(parts):
        if number:
            console.print()
        console.print(part)


def _hits_table(scope: Scope, result: SearchResult) -> Table:
    best = max((hit.score for hit in result.hits), default=0.0)
    table = Table("#", "score", "", "node", box=None, pad_edge=False)
    if result.debug is not None:
        table.add_column("lists")
        table.add_column("matched tokens")
    for hit in result.hits:
        bar = _score_bar(hit.score, best)
        explanation = (_legs(hit), printable(" ".join(hit.matched_tokens))) if result.debug is not None else ()
        table.add_row(str(hit.rank), f"{hit.score:.4f}", bar, _node_id(scope, hit.id), *explanation)
    return table


def _score_bar(score: float, best: float) -> RenderableType:
    """The score as a part of the best one; empty when no score is above 0."""
    if best <= 0:
        return ""
    return ProgressBar(total=best, completed=score, width=_BAR_WIDTH, complete_style="green", finished_style="green")


def _legs(hit: Hit) -> str:
    return "\n".join(f"{leg.leg} #{leg.rank} {leg.score:.4f}" for leg in hit.legs)


def _search_summary(debug: SearchDebug) -> Text:
    facts = [
        f"{debug.visible_count} nodes visible{' after the filter' if debug.filtered else ''}",
        f"semantic list: {debug.path}, {debug.semantic_candidates} candidates" if debug.path else "no semantic list",
        f"bm25 list: {debug.bm25_candidates} candidates",
    ]
    if debug.rrf_k:
        facts.append(f"rrf_k {debug.rrf_k}")
    if debug.query_tokens:
        facts.append("query tokens: " + " ".join(debug.query_tokens))
    return Text(printable("; ".join(facts)), style="dim")


def _node_tree(scope: Scope, nodes: Iterable[ExpandedNode]) -> Tree:
    root = Tree(Text("seeds", style="dim"))
    branches: dict[str, Tree] = {}
    for node in nodes:
        # Nodes come by depth, so a parent stands before its children; a seed has none.
        branches[node.id] = branches.get(node.parent_id, root).add(_node_id(scope, node.id))
    return root


def _edges_table(scope: Scope, edges: Iterable[DependencyEdge]) -> Table:
    table = Table("from", "edge", "to", "confidence", box=None, pad_edge=False)
    for edge in edges:
        ends = _node_id(scope, edge.from_id), _node_id(scope, edge.to_id)
        table.add_row(ends[0], Text(printable(edge.edge_type), style="cyan"), ends[1], f"{edge.confidence:g}")
    return table


def _text_panel(scope: Scope, text: NodeText) -> Panel:
    location = text.location
    lines = f":{location.start_line}" if location.start_line else ""
    if location.end_line > location.start_line:
        lines += f"-{location.end_line}"
    source = Syntax(
        printable(text.text).removesuffix("\n"),
        Syntax.guess_lexer(location.path) if location.path else "text",
        theme="ansi_dark",
        background_color="default",
        line_numbers=location.start_line > 0,
        start_line=location.start_line or 1,
        word_wrap=sys.stdout.isatty(),
    )
    place = f"{location.path or text.symbol}{lines}"
    role = "seed" if text.is_seed else f"depth {text.depth}"
    title = Text.assemble((printable(place), "bold"), f" · {role} · {text.token_count} tokens")
    # The id stands inside, because a border as narrow as a short text would cut it off.
    return Panel.fit(Group(_node_id(scope, text.id), source), title=title, title_align="left")


def _skipped_table(scope: Scope, skipped: Iterable[SkippedNode]) -> Table:
    table = Table("skipped", "reason", box=None, pad_edge=False)
    for node in skipped:
        table.add_row(_node_id(scope, node.id), node.reason)
    return table


def _node_id(scope: Scope, node_id: str) -> Text:
    """The whole id, so that it can be copied, with what the scope says already in the background."""
    prefix = f"{scope.repository}::{scope.branch}::"
    known = prefix if node_id.startswith(prefix) else ""
    name = node_id[len(known) :]
    return Text.assemble((printable(known), "dim"), (printable(name), "bold"), overflow="fold")


def _footer(counts: str, index: str, remark: str) -> Text:
    return Text(printable("; ".join(filter(None, (counts, f"index: {index}", remark)))), style="dim")
