"""How evidence looks: a table of all that is shown, by file, and below it each text between fences.

src/billing/vat.py
[1] 12-30 VatService.rate → Calls [2]:20, ReadsFrom [3]:24~.6
[2] 40-44 VatService.find

```[1]
...
```
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from groundwire_client import DependencyEdge, Location, NodeText
from groundwire_pipelines.rendering.shown import ShownText

_LONGEST_NAME = 60
_LONGEST_PATH = 240
_SURE = 0.8
"""Of less confident edges the confidence is told."""


def blocks(shown: Sequence[ShownText], edges: Iterable[DependencyEdge]) -> list[str]:
    """The table, then the texts in its order; none when nothing is shown."""
    if not shown:
        return []
    return [table(shown, edges), *(_fenced(one) for texts in _by_file(shown).values() for one in texts)]


def table(shown: Sequence[ShownText], edges: Iterable[DependencyEdge] = ()) -> str:
    """Each file with the texts that it holds below it, in the order of its first one; at a text what it depends on."""
    links = _links(shown, edges)

    def lines() -> Iterator[str]:
        for texts in _by_file(shown).values():
            yield file_line(texts[0].node)
            for one in texts:
                ends = links.get(one.node.id)
                yield row(one.handle, one.node) + (f" → {ends}" if ends else "")

    return "\n".join(lines())


def _fenced(one: ShownText) -> str:
    """A text between fences, its handle on the first."""
    around = fence(one.excerpt.text)
    return f"{around}{handle(one.handle)}\n{one.excerpt.text}\n{around}"


def fence(text: str) -> str:
    """What stands around a text: a line that closes no fence within it, and that nothing within it closes."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    return "`" * max(3, longest + 1)


def handle(number: int) -> str:
    """What a text is called in the evidence."""
    return f"[{number}]"


def file_line(node: NodeText) -> str:
    """What a text is found below in the table: its path, or its id where it has none."""
    return line_start(node.location.path or node.id)


def row(number: int, node: NodeText) -> str:
    """A text's line of the table, without its edges: handle, lines, and name as far as the file's does not tell it."""
    name = "" if node.location.path.endswith(node.symbol) else in_one_line(_short(node))
    return " ".join(filter(None, (handle(number), _lines(node.location), name)))


def link(edge: DependencyEdge, target: ShownText) -> str:
    """An edge to a text, without its type: the handle, the line where it stands, how sure it is where that is doubtful.

    A line that the target's own line of the table tells, that of a member in its type, is left out.
    """
    line = "" if edge.line in (0, target.node.location.start_line) else f":{edge.line}"
    unsure = "" if edge.confidence >= _SURE else f"~{edge.confidence:.2g}".replace("0.", ".")
    return f"{handle(target.handle)}{line}{unsure}"


def place(location: Location) -> str:
    """Path and lines, such as `src/a.py:3-9`, as far as they are known."""
    lines, path = _lines(location), in_one_line(location.path, _LONGEST_PATH)
    return f"{path}:{lines}" if path and lines else path


def line_start(name: str) -> str:
    """A path, id or symbol as a line may begin with it: quoted where it looks like a handle or a fence."""
    line = in_one_line(name, _LONGEST_PATH)
    return f'"{line}"' if line.startswith(("[", "`", "~")) else line


def in_one_line(text: str, longest: int = _LONGEST_NAME) -> str:
    """The text without what could begin another line or an edge, its middle left out where it is too long."""
    line = " ".join(text.replace("→", "->").split())
    if len(line) <= longest:
        return line
    half = (longest - 1) // 2
    return f"{line[:half]}…{line[-half:]}"


def _by_file(shown: Sequence[ShownText]) -> dict[str, list[ShownText]]:
    files: dict[str, list[ShownText]] = {}
    for one in shown:
        files.setdefault(one.node.location.path or one.node.id, []).append(one)
    return files


def _links(shown: Sequence[ShownText], edges: Iterable[DependencyEdge]) -> Mapping[str, str]:
    """What each text depends on among those shown, by its id: the types by name, their targets by handle."""
    by_id = {one.node.id: one for one in shown}
    among = {edge for edge in edges if edge.from_id in by_id and edge.to_id in by_id}
    by_type: dict[str, dict[str, list[str]]] = {}
    for edge in sorted(among, key=lambda edge: (edge.edge_type, by_id[edge.to_id].handle, edge.line, edge.confidence)):
        types = by_type.setdefault(edge.from_id, {})
        types.setdefault(in_one_line(edge.edge_type), []).append(link(edge, by_id[edge.to_id]))
    return {
        from_id: ", ".join(f"{name} {' '.join(targets)}" for name, targets in types.items())
        for from_id, types in by_type.items()
    }


def _lines(location: Location) -> str:
    first, last = location.start_line, location.end_line
    if not first:
        return ""
    return f"{first}-{last}" if last > first else str(first)


def _short(node: NodeText) -> str:
    """The last two parts of a qualified name, without that by which its file is called.

    `Basket.Add(int)` of `Shop.Api.Basket.Add(int)`, `Add(int)` of it in `Basket.cs`.
    """
    name, stem = re.match(r"[^(<\s]*", node.symbol), PurePosixPath(node.location.path).stem
    assert name is not None
    parts = name[0].split(".")[-2:]
    parts = parts[parts[0] == stem :]
    return ".".join(parts) + node.symbol[name.end() :] if parts else ""
