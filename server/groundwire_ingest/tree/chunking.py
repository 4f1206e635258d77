"""Cuts a long text into parts between lines. Lines end at a line feed only, as they do for tree-sitter."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

MAX_CHUNK_CHARACTERS = 6000


@dataclass(frozen=True, slots=True)
class Span:
    """Whole source lines: 1-based inclusive line numbers and their exact text, without the end of the last line."""

    text: str
    start_line: int
    end_line: int


def lines_of(text: str) -> list[str]:
    """The lines of `text`, each with its line feed; none for an empty text."""
    lines = text.split("\n")
    last = lines.pop()
    kept = [line + "\n" for line in lines]
    return [*kept, last] if last else kept


def trimmed_span(lines: Sequence[str], first: int, end: int, start_line: int) -> Span | None:
    """The span of `lines[first:end]` without blank lines at either end; None when all are blank.

    `start_line` is the number of `lines[0]`.
    """
    while first < end and not lines[first].strip():
        first += 1
    while first < end and not lines[end - 1].strip():
        end -= 1
    if first == end:
        return None
    text = "".join(lines[first:end]).removesuffix("\n").removesuffix("\r")
    return Span(text, start_line + first, start_line + end - 1)


def split_lines(text: str, start_line: int, boundaries: Sequence[int] = ()) -> tuple[Span, ...]:
    """Cuts `text`, whose first line is number `start_line`, into parts of at most MAX_CHUNK_CHARACTERS.

    A part ends as late as the limit allows: before a line of `boundaries` (1-based line numbers of the file, in any
    order), else after a blank line, else after any line. A single line longer than the limit is a part of its own.
    Blank lines at either end of a part are left out, so a blank text has no parts.
    """
    lines = lines_of(text)
    offsets = [0, *accumulate(len(line) for line in lines)]
    preferred = sorted({line - start_line for line in boundaries})
    after_blank = [index + 1 for index, line in enumerate(lines) if not line.strip()]
    parts: list[Span] = []
    first = 0
    while first < len(lines):
        end = max(bisect_right(offsets, offsets[first] + MAX_CHUNK_CHARACTERS) - 1, first + 1)
        if end < len(lines):
            end = _last_within(preferred, first, end) or _last_within(after_blank, first, end) or end
        part = trimmed_span(lines, first, end, start_line)
        if part is not None:
            parts.append(part)
        first = end
    return tuple(parts)


def _last_within(candidates: Sequence[int], first: int, end: int) -> int | None:
    """The greatest of the sorted `candidates` in (first, end]; None when there is none."""
    position = bisect_right(candidates, end) - 1
    return candidates[position] if position >= 0 and candidates[position] > first else None
