"""The layout of evidence as text for a prompt: passages by file, then the nodes that are only named.

src/billing/vat.py
[1] 12-30 VatService → ReadsFrom Rates:24~.6
12 def rate(self, country):
       known = self.find(country)
…14-29
30     return known.rate
[2]
40 def find(self, country):
       return self.rates[country]
[3] 46-49 def forget(self, country):
not shown:
- src/billing/vat.py:50-58 VatService.clear → Calls find:52
…and 12 more match

A line of a text begins with its number or with a blank, so no text can imitate a line of another kind. Numbers have the
first line of each part, and lines whose number can be divided by 5. A row has the lines of a node that is not shown
whole, and the container of the node unless the passage before is in the same one. Of a node that is shown by one line,
the row has that line. An edge has the name of the node at its other end, and the line that states it.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from groundwire.evidence.evidence_nodes import EvidenceEdge, EvidenceNode, Excerpt, Part, PassageForm

_LONGEST_NAME = 80
_LONGEST_LINE = 200
_LONGEST_PATH = 240
_SURE = 0.8
"""The confidence of less confident edges is shown."""
_NUMBERED = 5
_MOST_LINKS = 3
"""The most edges of a row."""
_ROW_STARTS = tuple("[/`~-…0123456789")
"""How a line begins that is no path."""
_OTHER_BREAKS = dict.fromkeys(map(ord, "\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"), " ")
"""Characters that some programs show as a line break."""
NAMED_HEADING = "not shown:"


@dataclass(frozen=True, slots=True)
class RowNotes:
    """What the row of a passage says besides its place: its container, how many nodes say the same, and its edges."""

    container: str = ""
    copies: int = 0
    links: str = ""


@dataclass(frozen=True, slots=True)
class Numbered:
    """A node with its number in the evidence, by which edges are written."""

    number: int
    node: EvidenceNode


def file_line(node: EvidenceNode) -> str:
    """The line above the passages of one file: its scope if several were asked, and its path, or the node's id."""
    path = in_one_line(node.path, _LONGEST_PATH) or in_one_line(node.id, _LONGEST_PATH)
    line = f"{in_one_line(node.scope, _LONGEST_PATH)} {path}" if node.scope else path
    return f'"{line}"' if line.startswith(_ROW_STARTS) or line == NAMED_HEADING else line


def passage_block(number: int, node: EvidenceNode, excerpt: Excerpt, notes: RowNotes) -> str:
    """The row of a passage and its lines, with a line break at the end; a single line of several is in the row."""
    handle, repeats = f"[{number}]", f" (+{notes.copies} alike)" if notes.copies else ""
    if excerpt.line_count == 1 and len(node.lines) > 1:
        line = in_one_line(excerpt.parts[0].lines[0], _LONGEST_LINE)
        row = " ".join(filter(None, (handle, line_span(node), notes.container, line)))
        return f"{row}{repeats}{notes.links}\n"
    name = "" if _declares_name(node, excerpt) else in_one_line(short_name(node))
    is_numbered = excerpt.form is PassageForm.WHOLE and node.first_line > 0
    span = "" if is_numbered else line_span(node)
    row = " ".join(filter(None, (handle, span, name or notes.container)))
    return "\n".join([f"{row}{repeats}{notes.links}", *text_lines(node, excerpt), ""])


def text_lines(node: EvidenceNode, excerpt: Excerpt) -> list[str]:
    """The shown lines with their numbers, and marks for lines between them that are left out."""
    first, lines = node.first_line, []
    width = len(str(first + len(node.lines) - 1)) if first else 0
    following: int | None = None
    for part in excerpt.parts:
        if following is not None and not node.is_outline:
            lines.append(_mark(following, part.first - 1, first))
        lines += _part_lines(part, first, width)
        following = part.first + len(part.lines)
    return lines


def text_line(line: str, number: int, width: int, *, is_first: bool) -> str:
    """A line of a text behind its number, or behind a blank, so that it cannot imitate a line of another kind.

    Args:
        line: The line, without a line break; characters that some programs show as one become blanks.
        number: Its number in the file; 0 if it is unknown.
        width: The digits of the highest number of the text.
        is_first: True for the first line of a part, which has its number in any case.
    """
    label = str(number) if number and (is_first or number % _NUMBERED == 0) else ""
    return f"{label:<{width}} {line.translate(_OTHER_BREAKS)}" if line.strip() else label


def links_of(edges: Iterable[EvidenceEdge], shown: Mapping[str, Numbered], shown_lines: str = "") -> str:
    """The edges from one node to shown nodes, at the end of its row, with an arrow before them; "" if there are none.

    An edge to a node whose name stands in the shown lines is left out: the lines say it.
    """
    links: dict[str, list[str]] = {}
    count = 0
    for edge in edges:
        target = shown.get(edge.to_id)
        if target is None or edge.to_id == edge.from_id or count >= _MOST_LINKS:
            continue
        name = last_name(target.node)
        if name and name in shown_lines:
            continue
        count += 1
        links.setdefault(in_one_line(edge.edge_type), []).append(_link(edge, target))
    return _after_arrow("→", links)


def links_from(node_id: str, edges: Iterable[EvidenceEdge], shown: Mapping[str, Numbered]) -> str:
    """The edges from shown nodes to a node that is not shown, at the end of its row."""
    links: dict[str, list[str]] = {}
    count = 0
    for edge in edges:
        source = shown.get(edge.from_id)
        if edge.to_id != node_id or source is None or edge.from_id == node_id or count >= _MOST_LINKS:
            continue
        count += 1
        links.setdefault(in_one_line(edge.edge_type), []).append(_link(edge, source))
    return _after_arrow("←", links)


def named_row(node: EvidenceNode, number: int, links: str) -> str:
    """The row of a node that is not shown; it has a number if earlier evidence showed it."""
    known = f"[{number}] " if number else ""
    name = in_one_line(short_name(node))
    return f"- {known}{' '.join(filter(None, (place(node), name)))}{links}\n"


def more_line(count: int) -> str:
    """The line that counts the matches that are neither shown nor named."""
    return f"…and {count} more match{'es' if count == 1 else ''}\n"


def place(node: EvidenceNode) -> str:
    """A node's scope, path and lines, as far as they are known; else its id."""
    if not node.path:
        return in_one_line(node.id, _LONGEST_PATH)
    path = in_one_line(node.path, _LONGEST_PATH)
    span = line_span(node)
    line = f"{path}:{span}" if span else path
    return f"{in_one_line(node.scope, _LONGEST_PATH)} {line}" if node.scope else line


def line_span(node: EvidenceNode) -> str:
    """The lines of a node, such as `3-9`; empty when unknown."""
    if not node.start_line:
        return ""
    return f"{node.start_line}-{node.end_line}" if node.end_line > node.start_line else str(node.start_line)


def short_name(node: EvidenceNode) -> str:
    """The last two parts of a qualified name, without a first part that is the file's name; empty for a file.

    `Basket.Add(int)` of `Shop.Api.Basket.Add(int)`, `Add(int)` of it in `Basket.cs`.
    """
    if node.path.endswith(node.symbol):
        return ""
    qualified = re.match(r"[^(<\s]*", node.symbol)
    assert qualified is not None
    parts = qualified[0].split(".")[-2:]
    if len(parts) > 1 and parts[0] == PurePosixPath(node.path).stem:
        parts = parts[1:]
    return ".".join(parts) + node.symbol[qualified.end() :]


def container_name(node: EvidenceNode) -> str:
    """The part of a name before the last one, such as `Basket` of `Shop.Basket.Add`; "" for the file's name."""
    parts = re.split(r"[(<\s]", node.symbol, maxsplit=1)[0].split(".")
    if len(parts) < 2 or node.path.endswith(node.symbol) or parts[-2] == PurePosixPath(node.path).stem:
        return ""
    return in_one_line(parts[-2])


def last_name(node: EvidenceNode) -> str:
    """The last part of a node's name, without parameters; the file's name for a file."""
    if node.path.endswith(node.symbol):
        return PurePosixPath(node.path).name
    return re.split(r"[(<\s]", node.symbol, maxsplit=1)[0].rpartition(".")[2]


def in_one_line(text: str, longest: int = _LONGEST_NAME) -> str:
    """The text without characters that could begin another line or an edge, shortened in the middle if too long."""
    line = " ".join(text.replace("→", "->").replace("←", "<-").split())
    if len(line) <= longest:
        return line
    half = (longest - 1) // 2
    return f"{line[:half]}…{line[-half:]}"


def by_file(nodes: Sequence[EvidenceNode]) -> list[int]:
    """The places of nodes, those of one file together, by the first node of each file; within a file in their order."""
    files: dict[tuple[str, str], list[int]] = {}
    for position, node in enumerate(nodes):
        files.setdefault(node.file, []).append(position)
    return [position for positions in files.values() for position in positions]


def joined(nodes: Sequence[EvidenceNode], blocks: Sequence[str]) -> list[str]:
    """Blocks of passages with the lines of their files.

    The result has one text for each block. Each ends with a line break and the next one begins with a letter, `"` or
    `[`, so the tokens of the whole are those of the texts together.
    """
    texts = []
    for place, (node, block) in enumerate(zip(nodes, blocks, strict=True)):
        is_first = place == 0 or nodes[place - 1].file != node.file
        texts.append(f"{file_line(node)}\n{block}" if is_first else block)
    return texts


def _after_arrow(arrow: str, links: Mapping[str, Sequence[str]]) -> str:
    listed = ", ".join(f"{edge_type} {' '.join(ends)}" for edge_type, ends in links.items())
    return f" {arrow} {listed}" if listed else ""


def _link(edge: EvidenceEdge, other: Numbered) -> str:
    line = f":{edge.line}" if edge.line else ""
    unsure = "" if edge.confidence >= _SURE else f"~{edge.confidence:.2g}".replace("0.", ".")
    name = in_one_line(last_name(other.node), 40) or f"[{other.number}]"
    return f"{name}{line}{unsure}"


def _declares_name(node: EvidenceNode, excerpt: Excerpt) -> bool:
    """True if the first shown lines have the node's own name."""
    name = last_name(node)
    return bool(name) and any(name in line for line in excerpt.parts[0].lines[:3])


def _part_lines(part: Part, first: int, width: int) -> list[str]:
    shown = []
    for offset, line in enumerate(part.lines):
        number = first + part.first + offset
        shown.append(text_line(line, number if first else 0, width, is_first=offset == 0))
    return shown


def _mark(start: int, end: int, first: int) -> str:
    if not first:
        return f"…{end - start + 1} line{'s' if end > start else ''}"
    return f"…{first + start}-{first + end}" if end > start else f"…{first + start}"
