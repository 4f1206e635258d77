"""How evidence looks: a table of all that is shown or named, by file, and below it each text between fences.

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
"""Of less confident edges the confidence is told."""


def blocks(selection: Selection, edges: Iterable[GraphEdge]) -> list[str]:
    """The table, then the texts in its order; none when nothing is shown."""
    if not selection.texts:
        return []
    return [table(selection, edges), *(_fenced(one) for texts in _by_file(selection.texts).values() for one in texts)]


def table(selection: Selection, edges: Iterable[GraphEdge] = ()) -> str:
    """Each file with what is shown of it, then what is named of it, in the order of its first one.

    At a text stands what it depends on among those shown, at a node without one also what depends on it.
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
    """That there is more than the table tells."""
    return f"…and {count} more were found"


def file_line(node: EvidenceNode) -> str:
    """What a node is found below in the table: its path, or its id where it has none."""
    return line_start(node.path or node.id)


def row(node: EvidenceNode) -> str:
    """A node's line of the table, without its edges: handle or dash, lines, and name as far as the file's tells it not.

    A name alone where that is all there is to tell.
    """
    name = "" if node.path.endswith(node.symbol) else in_one_line(_short(node))
    mark = "-" if node.handle is None else handle(node.handle)
    return " ".join(filter(None, (mark, _lines(node.start_line, node.end_line), name)))


def links_of(node: EvidenceNode, shown: Mapping[str, EvidenceNode], edges: Iterable[GraphEdge]) -> str:
    """What a node depends on among the texts shown, and for a node without a text, what of them depends on it."""
    return _links([node], shown, edges).get(node.id, "")


def fence(text: str) -> str:
    """What stands around a text: a line that closes no fence within it, and that nothing within it closes."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    return "`" * max(3, longest + 1)


def handle(number: int) -> str:
    """What a text is called in the evidence."""
    return f"[{number}]"


def link(edge: GraphEdge, end: EvidenceNode, target: EvidenceNode) -> str:
    """An edge without its type: the handle at its one end, the line where it stands, how sure it is where in doubt.

    A line that the target's own line of the table tells, that of a member in its type, is left out.
    """
    line = "" if edge.line in (0, target.start_line) else f":{edge.line}"
    unsure = "" if edge.confidence >= _SURE else f"~{edge.confidence:.2g}".replace("0.", ".")
    return f"{handle(end.handle or 0)}{line}{unsure}"


def place(location: SourceLocation) -> str:
    """Path and lines, such as `src/a.py:3-9`, as far as they are known."""
    lines, path = _lines(location.start_line, location.end_line), in_one_line(location.path, _LONGEST_PATH)
    return f"{path}:{lines}" if path and lines else path


def full_place(node: EvidenceNode) -> str:
    """Where a node stands and what it is called, in one line: its path and lines, and its symbol; else its id."""
    where = place(SourceLocation(path=node.path, start_line=node.start_line, end_line=node.end_line))
    return " ".join(filter(None, (line_start(where), in_one_line(node.symbol)))) if where else line_start(node.id)


def service_line(service: ServiceContext) -> str:
    """A service, behind ` → ` those that it calls, behind ` ← ` those that call it."""
    calls, callers = (", ".join(map(in_one_line, names)) for names in (service.calls, service.called_by))
    arrows = f"{f' → {calls}' if calls else ''}{f' ← {callers}' if callers else ''}"
    return f"service {in_one_line(service.service_name)}{arrows}"


def line_start(name: str) -> str:
    """A path, id or symbol as a line may begin with it: quoted where it looks like a row of the table or a fence."""
    line = in_one_line(name, _LONGEST_PATH)
    return f'"{line}"' if line.startswith(("[", "`", "~", "-", "…")) else line


def in_one_line(text: str, longest: int = _LONGEST_NAME) -> str:
    """The text without what could begin another line or an edge, its middle left out where it is too long."""
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
    """A text between fences, its handle on the first."""
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
    """By id, what stands behind a node's row: ` → ` with its edges to texts shown, ` ← ` with those from them.

    An edge between two texts stands once, at the one that depends.
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
    """Edges with the nodes at their other ends and their targets: the types by name, the ends by handle."""
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
    """The last two parts of a qualified name, without that by which its file is called.

    `Basket.Add(int)` of `Shop.Api.Basket.Add(int)`, `Add(int)` of it in `Basket.cs`.
    """
    name, stem = re.match(r"[^(<\s]*", node.symbol), PurePosixPath(node.path).stem
    assert name is not None
    parts = name[0].split(".")[-2:]
    parts = parts[parts[0] == stem :]
    return ".".join(parts) + node.symbol[name.end() :] if parts else ""
