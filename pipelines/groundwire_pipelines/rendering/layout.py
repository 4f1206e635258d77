"""The layout of evidence: each text between fences below the row of its node, then the rows of nodes without a text.

[1] src/billing/vat.py:12-30 VatService.rate → Calls [2]:20, ReadsFrom [3]:24~.6
```
12 def rate(self, country):
 ...
```

[2] src/billing/vat.py:40-44 VatService.find
```
40 def find(self, country):
 ...
```

- src/billing/vat.py:50-58 VatService.clear → Calls [2]:52 ← Calls [1]:28
- [4] src/billing/rates.py:3-9 Rates
…and 12 more were found
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import TypeAlias

from groundwire_client import GraphEdge, ServiceContext
from groundwire_pipelines.rendering.shown import EvidenceNode, Selection, ShownText, distinct

_LONGEST_NAME = 60
_LONGEST_PATH = 240
_SURE = 0.8
"""The confidence of less confident edges is shown."""

_Link: TypeAlias = tuple[str, int, int, float, str]
"""An edge as a row writes it, after what it is sorted by: type, handle, line, confidence."""


def blocks(selection: Selection, edges: Iterable[GraphEdge]) -> list[str]:
    """A block for each text, those of one file together, then the block of the other nodes; none without a text."""
    if not selection.texts:
        return []
    texts, others = _rows(selection, edges)
    shown = ((row, fence(one.excerpt.numbered), one.excerpt.numbered) for one, row in texts)
    return [*(f"{row}\n{around}\n{text}\n{around}" for row, around, text in shown), *filter(None, ["\n".join(others)])]


def table(selection: Selection, edges: Iterable[GraphEdge] = ()) -> str:
    """The rows of `blocks`, without the texts."""
    texts, others = _rows(selection, edges)
    return "\n".join([*(row for _, row in texts), *others])


def more_line(count: int) -> str:
    """The line that counts the nodes that are not in the table."""
    return f"…and {count} more were found"


def row(node: EvidenceNode, *, is_shown: bool) -> str:
    """A node's row, without edges: handle, path and lines, and its name without that of the file.

    The row of a node without a text in the evidence begins with a dash; it has a handle if earlier evidence showed the
    text. A node without a path has its id instead.
    """
    name = "" if node.path.endswith(node.symbol) else in_one_line(_short(node))
    mark = "" if node.handle is None else handle(node.handle)
    return " ".join(filter(None, ("" if is_shown else "-", mark, line_start(where(node) or node.id), name)))


def fence(text: str) -> str:
    """The fence around a text, chosen so that no line of the text can close it."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    return "`" * max(3, longest + 1)


def handle(number: int) -> str:
    """The handle of a text as the evidence writes it."""
    return f"[{number}]"


def link(edge: GraphEdge, source: EvidenceNode, target: EvidenceNode, *, to: EvidenceNode) -> str:
    """An edge without its type: the handle of `to`, one of its ends, its line, and its confidence if that is low.

    A line that the target's own row shows, as for a member in its type, is left out.
    """
    is_known = edge.line == target.start_line and source.path == target.path
    line = "" if is_known or not edge.line else f":{edge.line}"
    unsure = "" if edge.confidence >= _SURE else f"~{edge.confidence:.2g}".replace("0.", ".")
    return f"{handle(to.handle or 0)}{line}{unsure}"


def place(path: str, first: int, last: int) -> str:
    """Path and lines, such as `src/a.py:3-9`, as far as they are known."""
    shown = in_one_line(path, _LONGEST_PATH)
    return f"{shown}:{first}{f'-{last}' if last > first else ''}" if shown and first else shown


def where(node: EvidenceNode) -> str:
    """A node's path and lines, after its scope if several were asked; empty without a path."""
    scope, known = in_one_line(node.scope, _LONGEST_PATH), place(node.path, node.start_line, node.end_line)
    return f"{scope} {known}".lstrip() if known else ""


def full_place(node: EvidenceNode) -> str:
    """A node's path, lines and symbol, in one line; else its id."""
    known = where(node)
    return " ".join(filter(None, (line_start(known), in_one_line(node.symbol)))) if known else line_start(node.id)


def service_line(service: ServiceContext) -> str:
    """A service, with the services that it calls after ` → ` and those that call it after ` ← `."""
    calls, callers = (", ".join(map(in_one_line, names)) for names in (service.calls, service.called_by))
    arrows = f"{f' → {calls}' if calls else ''}{f' ← {callers}' if callers else ''}"
    return f"service {in_one_line(service.service_name)}{arrows}"


def line_start(name: str) -> str:
    """A path, id or symbol at the start of a line: quoted if it looks like a row of the table or a fence."""
    line = in_one_line(name, _LONGEST_PATH)
    return f'"{line}"' if line.startswith(("[", "`", "~", "-", "…")) else line


def in_one_line(text: str, longest: int = _LONGEST_NAME) -> str:
    """The text without characters that could begin another line or an edge, shortened in the middle if too long."""
    line = " ".join(text.replace("→", "->").replace("←", "<-").split())
    if len(line) <= longest:
        return line
    half = (longest - 1) // 2
    return f"{line[:half]}…{line[-half:]}"


def _rows(selection: Selection, edges: Iterable[GraphEdge]) -> tuple[list[tuple[ShownText, str]], list[str]]:
    """The texts with their rows, by file in the order of the first text of each; then the rows of the other nodes.

    The row of a text has its edges to shown texts; that of a node without a text also the edges from them.
    """
    shown = {one.node.id: one.place for one in selection.texts}
    links = links_of([*shown.values(), *selection.named], shown, edges)
    files: dict[tuple[str, str], list[ShownText]] = {}
    for one in selection.texts:
        files.setdefault((one.scope, one.node.location.path or one.node.id), []).append(one)
    texts = [
        (one, f"{row(one.place, is_shown=True)}{links[one.node.id]}") for of_file in files.values() for one in of_file
    ]
    others = [f"{row(node, is_shown=False)}{links[node.id]}" for node in selection.named]
    return texts, [*others, *([more_line(selection.more)] if selection.more else [])]


def links_of(
    nodes: Iterable[EvidenceNode], shown: Mapping[str, EvidenceNode], edges: Iterable[GraphEdge]
) -> Mapping[str, str]:
    """By id, the edges at the end of a node's row: ` → ` with its edges to shown texts, ` ← ` with those from them.

    An edge between two shown texts is in the row of the dependent one only, so only a node without a text has edges
    from shown texts.
    """
    by_id = {node.id: node for node in nodes}
    outgoing: dict[str, list[_Link]] = {}
    incoming: dict[str, list[_Link]] = {}
    for edge in distinct(edges):
        if edge.from_id in by_id and edge.to_id in shown:
            source, target = by_id[edge.from_id], shown[edge.to_id]
            outgoing.setdefault(edge.from_id, []).append(_sortable(edge, source, target, to=target))
        elif edge.to_id in by_id and edge.from_id in shown and edge.to_id not in shown:
            source, target = shown[edge.from_id], by_id[edge.to_id]
            incoming.setdefault(edge.to_id, []).append(_sortable(edge, source, target, to=source))
    return {
        node_id: "".join(
            f" {arrow} {_by_type(ends[node_id])}"
            for arrow, ends in (("→", outgoing), ("←", incoming))
            if node_id in ends
        )
        for node_id in by_id
    }


def _sortable(edge: GraphEdge, source: EvidenceNode, target: EvidenceNode, *, to: EvidenceNode) -> _Link:
    return edge.edge_type, to.handle or 0, edge.line, edge.confidence, link(edge, source, target, to=to)


def _by_type(links: Iterable[_Link]) -> str:
    """Edges grouped by type: types by name, other ends by handle."""
    types: dict[str, list[str]] = {}
    for kind, *_, text in sorted(links):
        types.setdefault(in_one_line(kind), []).append(text)
    return ", ".join(f"{name} {' '.join(links)}" for name, links in types.items())


def _short(node: EvidenceNode) -> str:
    """The last two parts of a qualified name, without a first part that is the file's name.

    `Basket.Add(int)` of `Shop.Api.Basket.Add(int)`, `Add(int)` of it in `Basket.cs`.
    """
    name, stem = re.match(r"[^(<\s]*", node.symbol), PurePosixPath(node.path).stem
    assert name is not None
    parts = name[0].split(".")[-2:]
    parts = parts[parts[0] == stem :]
    return ".".join(parts) + node.symbol[name.end() :] if parts else ""
