"""The layout of evidence: a table of all nodes that are shown or named, by file, and below it each text between fences.

src/billing/vat.py
[1] 12-30 VatService.rate → Calls [2]:20, ReadsFrom [3]:24~.6
[2] 40-44 VatService.find
- 50-58 VatService.clear → Calls [2]:52 ← Calls [1]:28
…and 12 more were found

```[1]
...
```
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from groundwire_client import GraphEdge, ServiceContext, SourceLocation
from groundwire_pipelines.messages import distinct
from groundwire_pipelines.rendering.shown import EvidenceNode, Selection, ShownText

_LONGEST_NAME = 60
_LONGEST_PATH = 240
_SURE = 0.8
"""The confidence of less confident edges is shown."""


def blocks(selection: Selection, edges: Iterable[GraphEdge]) -> list[str]:
    """The table, then the texts in its order; no block if nothing is shown."""
    if not selection.texts:
        return []
    return [table(selection, edges), *(_fenced(one) for texts in _by_file(selection.texts).values() for one in texts)]


def table(selection: Selection, edges: Iterable[GraphEdge] = ()) -> str:
    """The files in the order of their first nodes, each with its shown texts, then its named nodes.

    The row of a text has its edges to shown texts; that of a node without text also the edges from them.
    """
    edges = tuple(edges)
    handles = {one.node.id: one.place for one in selection.texts}
    nodes = [*handles.values(), *selection.named]
    files: dict[str, list[EvidenceNode]] = {}
    for node in nodes:
        files.setdefault(node.path or node.id, []).append(node)
    links = _links(nodes, handles, edges)
    lines = [line for of_file in files.values() for line in _file_lines(of_file, links)]
    return "\n".join([*lines, *([more_line(selection.more)] if selection.more else [])])


def more_line(count: int) -> str:
    """The line that counts the nodes that are not in the table."""
    return f"…and {count} more were found"


def file_line(node: EvidenceNode) -> str:
    """The line of the table that a node is listed under: its path, or its id if it has no path."""
    return line_start(node.path or node.id)


def row(node: EvidenceNode) -> str:
    """A node's row of the table, without edges: handle or dash, lines, and its name without that of the file.

    Only the name if nothing else is known.
    """
    name = "" if node.path.endswith(node.symbol) else in_one_line(_short(node))
    mark = "-" if node.handle is None else handle(node.handle)
    return " ".join(filter(None, (mark, _lines(node.start_line, node.end_line), name)))


def links_of(node: EvidenceNode, shown: Mapping[str, EvidenceNode], edges: Iterable[GraphEdge]) -> str:
    """A node's edges to shown texts, and for a node without a text also the edges from them."""
    return _links([node], shown, edges).get(node.id, "")


def fence(text: str) -> str:
    """The fence around a text, chosen so that no line of the text can close it."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    return "`" * max(3, longest + 1)


def handle(number: int) -> str:
    """The handle of a text as the evidence writes it."""
    return f"[{number}]"


def link(edge: GraphEdge, end: EvidenceNode, target: EvidenceNode) -> str:
    """An edge without its type: the handle of its other end, its line, and its confidence if that is low.

    A line that the target's own row shows, as for a member in its type, is left out.
    """
    line = "" if edge.line in (0, target.start_line) else f":{edge.line}"
    unsure = "" if edge.confidence >= _SURE else f"~{edge.confidence:.2g}".replace("0.", ".")
    return f"{handle(end.handle or 0)}{line}{unsure}"


def place(location: SourceLocation) -> str:
    """Path and lines, such as `src/a.py:3-9`, as far as they are known."""
    lines, path = _lines(location.start_line, location.end_line), in_one_line(location.path, _LONGEST_PATH)
    return f"{path}:{lines}" if path and lines else path


def full_place(node: EvidenceNode) -> str:
    """A node's path, lines and symbol, in one line; else its id."""
    where = place(SourceLocation(path=node.path, start_line=node.start_line, end_line=node.end_line))
    return " ".join(filter(None, (line_start(where), in_one_line(node.symbol)))) if where else line_start(node.id)


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


def _file_lines(nodes: Sequence[EvidenceNode], links: Mapping[str, str]) -> Iterator[str]:
    yield file_line(nodes[0])
    for node in nodes:
        yield f"{row(node)}{links.get(node.id, '')}"


def _fenced(one: ShownText) -> str:
    """A text between fences, with its handle on the first."""
    around = fence(one.excerpt.text)
    return f"{around}{handle(one.handle)}\n{one.excerpt.text}\n{around}"


def _by_file(shown: Sequence[ShownText]) -> dict[str, list[ShownText]]:
    files: dict[str, list[ShownText]] = {}
    for one in shown:
        files.setdefault(one.node.location.path or one.node.id, []).append(one)
    return files


def _links(
    nodes: Iterable[EvidenceNode], shown: Mapping[str, EvidenceNode], edges: Iterable[GraphEdge]
) -> Mapping[str, str]:
    """By id, the edges at the end of a node's row: ` → ` with its edges to shown texts, ` ← ` with those from them.

    An edge between two shown texts is in the row of the dependent one only.
    """
    by_id = {node.id: node for node in nodes}
    outgoing: dict[str, list[tuple[GraphEdge, EvidenceNode, EvidenceNode]]] = {}
    incoming: dict[str, list[tuple[GraphEdge, EvidenceNode, EvidenceNode]]] = {}
    for edge in distinct(edges):
        if edge.from_id in by_id and edge.to_id in shown:
            target = shown[edge.to_id]
            outgoing.setdefault(edge.from_id, []).append((edge, target, target))
        elif edge.to_id in by_id and edge.from_id in shown and edge.to_id not in shown:
            incoming.setdefault(edge.to_id, []).append((edge, shown[edge.from_id], by_id[edge.to_id]))
    return {
        node_id: "".join(
            f" {arrow} {_by_type(ends[node_id])}"
            for arrow, ends in (("→", outgoing), ("←", incoming))
            if node_id in ends
        )
        for node_id in by_id
    }


def _by_type(ends: Iterable[tuple[GraphEdge, EvidenceNode, EvidenceNode]]) -> str:
    """Edges, each with the node at its other end and its target, grouped by type: types by name, ends by handle."""
    types: dict[str, list[str]] = {}
    for edge, end, target in sorted(
        ends, key=lambda one: (one[0].edge_type, one[1].handle or 0, one[0].line, one[0].confidence)
    ):
        types.setdefault(in_one_line(edge.edge_type), []).append(link(edge, end, target))
    return ", ".join(f"{name} {' '.join(links)}" for name, links in types.items())


def _lines(first: int, last: int) -> str:
    if not first:
        return ""
    return f"{first}-{last}" if last > first else str(first)


def _short(node: EvidenceNode) -> str:
    """The last two parts of a qualified name, without a first part that is the file's name.

    `Basket.Add(int)` of `Shop.Api.Basket.Add(int)`, `Add(int)` of it in `Basket.cs`.
    """
    name, stem = re.match(r"[^(<\s]*", node.symbol), PurePosixPath(node.path).stem
    assert name is not None
    parts = name[0].split(".")[-2:]
    parts = parts[parts[0] == stem :]
    return ".".join(parts) + node.symbol[name.end() :] if parts else ""
