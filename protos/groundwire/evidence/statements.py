"""The statements of a text, by indentation: a line and the lines indented below it."""

from collections.abc import Iterator, Sequence

_CLOSERS = ("}", ")", "]", "</", "end")
"""The beginnings of lines that close a block."""
_CONTINUING = (
    "else",
    "elif",
    "elsif",
    "except",
    "catch",
    "finally",
    "rescue",
    "ensure",
    "} else",
    "} catch",
    "} finally",
)
"""The beginnings of lines that go on with the statement before them."""
_COMMENT_STARTS = ("//", "-- ")


def head_of(lines: Sequence[str]) -> tuple[int, int]:
    """The first and the last line of the head of a text: attributes and the declaration, up to its body.

    A comment before them, such as a documentation comment, is not a part of it.
    """
    first = _after_comments(lines)
    indent = _indent(lines[first])
    for number in range(first + 1, len(lines)):
        if lines[number].strip() and _indent(lines[number]) > indent:
            return first, number - 1
    return first, first


class Statements:
    """The statements of a text. Lines are counted from 0.

    Attributes:
        parents: For each line the one that it is indented below, -1 for none.
        ends: For each line the last one of its statement.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._indents = _indents(lines)
        self.parents, self.ends = _nesting(self._indents)
        for number, end in enumerate(self.ends):
            self.ends[number] = self._with_closers(number, end)
        for number in range(len(lines) - 1, -1, -1):
            after = self.ends[number] + 1
            if after < len(lines) and self._is_sibling(number, after) and self._continues(after):
                self.ends[number] = self.ends[after]

    def outer_lines(self, number: int) -> Iterator[int]:
        """The lines that a line is nested in, innermost first."""
        parent = self.parents[number]
        while parent >= 0:
            yield parent
            parent = self.parents[parent]

    def _with_closers(self, number: int, end: int) -> int:
        after = end + 1
        if end > number and after < len(self._lines) and self._is_sibling(number, after):
            line = self._lines[after].lstrip()
            if line.startswith(_CLOSERS) and not line.startswith(_CONTINUING):
                return after
        return end

    def _continues(self, number: int) -> bool:
        return self._lines[number].lstrip().startswith(_CONTINUING)

    def _is_sibling(self, number: int, after: int) -> bool:
        return self._indents[after] == self._indents[number]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _after_comments(lines: Sequence[str]) -> int:
    """The first line after the comments at the start of a text; 0 for a text of comments alone."""
    in_block = False
    for number, line in enumerate(lines):
        text = line.strip()
        in_block = in_block or text.startswith("/*")
        if in_block:
            in_block = "*/" not in text
        elif text and not text.startswith(_COMMENT_STARTS):
            return number
    return 0


def _indents(lines: Sequence[str]) -> list[int]:
    """The indentation of each line; a blank line has that of the next line that is not blank."""
    indents = [0] * len(lines)
    below = 0
    for number in range(len(lines) - 1, -1, -1):
        stripped = lines[number].lstrip()
        below = len(lines[number]) - len(stripped) if stripped else below
        indents[number] = below
    return indents


def _nesting(indents: Sequence[int]) -> tuple[list[int], list[int]]:
    """For each line the line that it is indented below (-1 for none), and the last line indented below it."""
    parents, ends = [-1] * len(indents), [len(indents) - 1] * len(indents)
    open_lines: list[int] = []
    for number, indent in enumerate(indents):
        while open_lines and indents[open_lines[-1]] >= indent:
            ends[open_lines.pop()] = number - 1
        parents[number] = open_lines[-1] if open_lines else -1
        open_lines.append(number)
    return parents, ends
