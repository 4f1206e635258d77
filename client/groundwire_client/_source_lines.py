"""The lines of a file, put together from the texts of its nodes.

The text of a member is its lines. The text of a type or a file is an outline: its own lines without the blank ones, and
one line for each node within it, or of a short constant its declaration. The lines between two nodes are therefore
those of the outline between their lines.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from groundwire.evidence.layout import text_line
from groundwire.evidence.question_words import has_word

_LIST_START = re.compile(r"[(<\s]")
_ELIDED = re.compile(r"(?<!:) \.\.\.$| { \.\.\. }$")
"""The end of a line that stands for a node with a body."""
_MOST_BLANK = 3
"""The most lines without any text of an outline that are taken for blank ones."""


MOST_LINES_OF_SHORT = 12
"""The most lines of a node that an outline may show as it is written; its comments are not in the outline."""


@dataclass(frozen=True, slots=True)
class FileNode:
    """A node with lines of a file; `text` is empty while it is not read."""

    id: str
    symbol: str
    first: int
    last: int
    text: str = ""

    @property
    def lines(self) -> Sequence[str]:
        """The lines of the text."""
        return self.text.removesuffix("\n").split("\n")

    @property
    def is_outline(self) -> bool:
        """True if the text is not a run of lines of the file."""
        return len(self.lines) != self.last - self.first + 1

    def overlaps(self, first: int, last: int) -> bool:
        """True if it has one of these lines."""
        return self.first <= last and first <= self.last

    def is_around(self, other: "FileNode") -> bool:
        """True if the other one has a part of its lines."""
        return self.first <= other.first and other.last <= self.last and self.size > other.size

    @property
    def size(self) -> int:
        """How many lines it has in the file."""
        return self.last - self.first + 1

    def run(self) -> "Run":
        """All lines of the text; without numbers if they are not lines of the file."""
        known = self.first > 0 and not self.is_outline
        return Run(self.first if known else 0, self.last if known else 0, tuple(self.lines), known)


@dataclass(frozen=True, slots=True)
class Run:
    """Consecutive lines of a file, with the numbers of the first and the last one; 0 for lines of no file.

    Without `is_numbered` the numbers of the lines are unknown: they are those of an outline, or leave blank lines out.
    """

    first: int
    last: int
    lines: tuple[str, ...]
    is_numbered: bool = True

    def rows(self, width: int) -> Iterator[str]:
        """The lines, with numbers for the first one and each fifth; without numbers they begin with a blank."""
        for offset, line in enumerate(self.lines):
            yield text_line(line.rstrip(), self.first + offset if self.is_numbered else 0, width, is_first=offset == 0)


def runs_of(nodes: Sequence[FileNode], first: int, last: int) -> list[Run]:
    """The lines from `first` to `last` that the texts of a file's nodes have, in order.

    A run without line numbers may begin before `first` and end after `last`, by the blank lines that it leaves out.
    """
    known: dict[int, str] = {}
    for node in nodes:
        if not node.is_outline:
            known |= enumerate(node.lines, node.first)
    loose: list[Run] = []
    covered = set(known)
    for outline in sorted((node for node in nodes if node.text and node.is_outline), key=lambda node: node.size):
        for run in _own_runs(outline, [node for node in nodes if outline.is_around(node)]):
            numbers = set(range(run.first, run.last + 1))
            if numbers & covered or not run.first <= last or not first <= run.last:
                continue
            covered |= numbers
            if run.is_numbered:
                known |= enumerate(run.lines, run.first)
            else:
                loose.append(_narrowed(run, first, last))
    wanted = {number: line for number, line in known.items() if first <= number <= last}
    return sorted([*_joined(wanted), *loose], key=lambda run: run.first)


def missing_lines(runs: Iterable[Run], first: int, last: int) -> list[tuple[int, int]]:
    """The lines from `first` to `last` that are in no run, as first and last ones."""
    missing, following = [], first
    for run in runs:
        if run.first > following:
            missing.append((following, run.first - 1))
        following = max(following, run.last + 1)
    return [*missing, (following, last)] if following <= last else missing


def _own_runs(outline: FileNode, inner: Sequence[FileNode]) -> Iterator[Run]:
    """The lines of an outline between the nodes within it; none where these are not those that it names."""
    outermost = [node for node in inner if not any(other.is_around(node) for other in inner)]
    children = sorted({node.first: node for node in outermost}.values(), key=lambda node: node.first)
    lines, following = _without_supplement(outline), outline.first
    for child in children:
        shown = _lines_standing_for(child, lines)
        if shown is None or child.first < following:
            return
        yield from _gap(following, child.first - 1, lines[: shown.start])
        lines, following = lines[shown.stop :], child.last + 1
    while lines and _ELIDED.search(lines[-1]):  # members that are outside of the type
        lines = lines[:-1]
    yield from _gap(following, outline.last, lines)


def _narrowed(run: Run, first: int, last: int) -> Run:
    """The lines of a run without line numbers that may be among those from `first` to `last`."""
    blank = run.last - run.first + 1 - len(run.lines)
    start, end = max(first - run.first - blank, 0), min(last - run.first + 1, len(run.lines))
    return Run(max(run.first, first), min(run.last, last), run.lines[start:end], is_numbered=False)


def _gap(first: int, last: int, lines: Sequence[str]) -> Iterator[Run]:
    size = last - first + 1
    if len(lines) == size > 0:
        yield Run(first, last, tuple(lines))
    elif 0 < len(lines) < size:
        yield Run(first, last, tuple(lines), is_numbered=False)
    elif not lines and 0 < size <= _MOST_BLANK:
        yield Run(first, last, ("",) * size)


def _without_supplement(outline: FileNode) -> Sequence[str]:
    """The lines before the first blank one: imports of the file come after it."""
    lines = outline.lines
    return lines[: lines.index("")] if "" in lines else lines


def _lines_standing_for(node: FileNode, lines: Sequence[str]) -> range | None:
    """The places of the lines of an outline that are there for a node: its signature, or its declaration as written."""
    name = _LIST_START.split(node.symbol, maxsplit=1)[0].rpartition(".")[2]
    if not name:
        return None
    signature = next((place for place, line in enumerate(lines) if _stands_for(line, name)), None)
    return _declaration_in(node, name, lines) if signature is None else range(signature, signature + 1)


def _declaration_in(node: FileNode, name: str, lines: Sequence[str]) -> range | None:
    """The places of the declaration of a short node, which ends its text. One of its lines has the name."""
    written = [line for line in node.lines if line.strip()] if node.size <= MOST_LINES_OF_SHORT else []
    for offset, line in enumerate(written):
        if line not in lines or not has_word(line.partition("=")[0], name):
            continue
        start = lines.index(line)
        end = start + len(written) - offset
        if list(lines[start:end]) == written[offset:]:
            while start and offset and lines[start - 1] == written[offset - 1]:
                start, offset = start - 1, offset - 1
            return range(start, end)
    return None


def _stands_for(line: str, name: str) -> bool:
    """True for a declaration of the name without its body; false for a line of a source such as `x = Add();`."""
    return has_word(line.partition("=")[0], name) and (line.endswith(";") or _ELIDED.search(line) is not None)


def _joined(lines: dict[int, str]) -> Iterator[Run]:
    """Consecutive lines as runs."""
    run: Run | None = None
    for number in sorted(lines):
        if run is not None and number == run.last + 1:
            run = replace(run, last=number, lines=(*run.lines, lines[number]))
        else:
            if run is not None:
                yield run
            run = Run(number, number, (lines[number],))
    if run is not None:
        yield run
