"""The statements of a text in any language, found by indentation."""

from collections.abc import Sequence

_CLOSERS = ("}", ")", "]", "</", "end")
"""The beginnings of lines that close a block."""


class Statements:
    """The statements of a text: a line and the lines indented below it. Lines are counted from 0."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._indents = _indents(lines)
        self._after_comments = _after_comments(lines)
        self._parents, self._ends = _nesting(self._indents)
        for number, end in enumerate(self._ends):
            after = end + 1
            if end > number and after < len(lines) and self._indents[after] == self._indents[number]:
                self._ends[number] = after if lines[after].lstrip().startswith(_CLOSERS) else end

    def end(self, number: int) -> int:
        """The last line of the statement that begins at a line; the line itself if nothing is indented below it."""
        return self._ends[number]

    def parent(self, number: int) -> int:
        """The line that a line is indented below; -1 for none."""
        return self._parents[number]

    def head(self) -> tuple[int, int]:
        """The first and the last line of the head: attributes, and the declaration up to its body.

        A comment before them, such as a documentation comment, is not a part of it.
        """
        first = self._after_comments
        deeper = (number for number in range(first, len(self._indents)) if self._indents[number] > self._indents[first])
        return first, max(next(deeper, first + 1) - 1, first)


def _after_comments(lines: Sequence[str]) -> int:
    """The first line after the comments (`/* */`, `//`) at the start of a text; 0 for a text of comments alone."""
    in_block = False
    for number, line in enumerate(lines):
        text = line.strip()
        in_block = in_block or text.startswith("/*")
        if in_block:
            in_block = "*/" not in text
        elif text and not text.startswith("//"):
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
