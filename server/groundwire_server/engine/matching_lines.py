"""The matching lines of a search: the run and the number of each, and what is shown of it."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from groundwire_index.files.spans import is_first_of_pair
from groundwire_index.nodes.source_texts import SourceRuns
from groundwire_server.engine.line_borders import LINE_FEED, line_around, line_end, line_start
from groundwire_server.engine.linear_pattern import Span

SHOWN_CHARACTERS = 400
"""How much of a line is shown."""
_BEFORE_MATCH = 100
"""How many characters of a longer line are shown before its match, where there are as many."""


@dataclass(frozen=True, slots=True)
class MatchingLine:
    """A line with a match: the run that holds it, its number, its bytes without the line feed, and the first match."""

    run: int
    number: int
    line: Span
    match: Span


@dataclass(frozen=True, slots=True)
class LineText:
    """The shown part of a line: the number of its first character, and that of the match, both 1-based.

    The match has `match_length` characters, and `match_breaks` line feeds before its last character.
    """

    text: str
    first_column: int
    match_column: int
    match_length: int
    match_breaks: int


@dataclass(frozen=True, slots=True, eq=False)
class MatchingLines:
    """Lines with a match [n], in the order of the runs; those that `each_once` returns are by path and number.

    Attributes:
        runs: All runs that were searched.
        run: The run that holds each line.
        starts: Where in the content the first match of each begins.
        ends: Where it ends.
    """

    runs: SourceRuns
    run: NDArray[np.int64]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]

    @staticmethod
    def of(matches: Iterable[tuple[int, int]], runs: SourceRuns) -> "MatchingLines":
        """The lines whose first matches begin and end at these places, which ascend."""
        starts, ends = np.fromiter(chain.from_iterable(matches), dtype=np.int64).reshape(-1, 2).T
        return MatchingLines(runs, np.searchsorted(runs.starts, starts, side="right") - 1, starts, ends)

    def __len__(self) -> int:
        return len(self.run)

    @property
    def paths(self) -> NDArray[np.int32]:
        """The number of each line's path."""
        return self.runs.paths.take(self.run)

    @property
    def rows(self) -> NDArray[np.int32]:
        """The node that holds each line."""
        return self.runs.rows.take(self.run)

    def each_once(self) -> "MatchingLines":
        """The lines by path and number. Of nodes that both have a line, the one that begins last holds it."""
        paths, files = self.paths, self.runs.files.take(self.run)
        # Nodes without a path are in the order of their lines, and each has a path's number of its own.
        is_out_of_order = (paths[1:] < paths[:-1]) | ((paths[1:] == paths[:-1]) & (files[1:] != files[:-1]))
        if not is_out_of_order.any():
            return self
        numbers = np.asarray([line.number for line in self.lines()], dtype=np.int64)
        in_order = np.lexsort((-self.runs.first_lines.take(self.run), numbers, paths))
        return self._taken(in_order[is_first_of_pair(paths.take(in_order), numbers.take(in_order))])

    def first(self, count: int) -> "MatchingLines":
        """The first `count` lines."""
        return self._taken(np.arange(min(count, len(self))))

    def lines(self) -> list[MatchingLine]:
        """The lines one by one. They are numbered in the order of the content, so each line feed is counted once."""
        content, known_run, position, number = self.runs.content, -1, 0, 0
        run_starts, run_ends = self.runs.starts.take(self.run).tolist(), self.runs.ends.take(self.run).tolist()
        first_lines = self.runs.first_lines.take(self.run).tolist()
        columns = self.run.tolist(), self.starts.tolist(), self.ends.tolist(), first_lines, run_starts, run_ends
        fields = list(zip(*columns, strict=True))
        lines: dict[int, MatchingLine] = {}
        for place in np.argsort(self.starts, kind="stable").tolist():
            run, start, end, first_line, run_start, run_end = fields[place]
            if run != known_run:
                known_run, position, number = run, run_start, first_line
            before = bytes(content[position:start])
            number += before.count(LINE_FEED)
            position += before.rfind(LINE_FEED) + 1
            line = Span(position, line_end(content, start, Span(position, run_end)))
            lines[place] = MatchingLine(run, number, line, Span(start, end))
        return [lines[place] for place in range(len(lines))]

    def _taken(self, places: NDArray[np.int64]) -> "MatchingLines":
        return MatchingLines(self.runs, self.run.take(places), self.starts.take(places), self.ends.take(places))


def shown(line: MatchingLine, content: memoryview) -> LineText:
    """The line as it is shown: all of it, or the part around the match."""
    before = _decoded(content[line.line.start : line.match.start])
    matched = _decoded(content[line.match.start : line.match.end])
    # This is at least as much as can be shown of the rest: a character has at most four bytes.
    rest = _decoded(content[line.match.start : min(line.line.end, line.match.start + 4 * SHOWN_CHARACTERS)])
    length = len(before) + len(rest)
    first = max(0, min(len(before) - _BEFORE_MATCH, length - SHOWN_CHARACTERS)) if length > SHOWN_CHARACTERS else 0
    return LineText(
        text=(before[first:] + rest)[:SHOWN_CHARACTERS],
        first_column=first + 1,
        match_column=len(before) + 1,
        match_length=len(matched),
        match_breaks=matched[:-1].count("\n"),
    )


def around(line: MatchingLine, runs: SourceRuns, count: int) -> tuple[list[str], list[str]]:
    """Up to `count` lines before and after a match that the caller may see as well, cut to SHOWN_CHARACTERS."""
    if not count:
        return [], []
    first, last = line.run, line.run
    while first > 0 and line.run - first < count and _follows(runs, first):
        first -= 1
    last_line = line.line
    if line.match.end > line.line.end:
        last_line = line_around(runs.content, line.match.end - 1, Span(line.line.start, int(runs.ends[-1])))
        last = int(np.searchsorted(runs.starts, last_line.start, side="right")) - 1
    behind = last
    while behind + 1 < len(runs.starts) and behind - last < count and _follows(runs, behind + 1):
        behind += 1
    before = _last_lines(runs.content, Span(int(runs.starts[first]), line.line.start), count)
    after = _first_lines(runs.content, Span(last_line.end + 1, int(runs.ends[behind])), count)
    return before, after


def _follows(runs: SourceRuns, run: int) -> bool:
    """True if a run comes directly after the one before it in the same file."""
    return bool(runs.starts[run] == runs.ends[run - 1] and runs.files[run] == runs.files[run - 1])


def _last_lines(content: memoryview, within: Span, count: int) -> list[str]:
    lines: list[str] = []
    end = within.end - 1
    while len(lines) < count and end >= within.start:
        start = line_start(content, end, within)
        lines.append(_cut(content, Span(start, end)))
        end = start - 1
    return lines[::-1]


def _first_lines(content: memoryview, within: Span, count: int) -> list[str]:
    lines: list[str] = []
    start = within.start
    while len(lines) < count and start < within.end:
        end = line_end(content, start, within)
        lines.append(_cut(content, Span(start, end)))
        start = end + 1
    return lines


def _cut(content: memoryview, line: Span) -> str:
    """A line; a character has at most four bytes."""
    return _decoded(content[line.start : min(line.end, line.start + 4 * SHOWN_CHARACTERS)])[:SHOWN_CHARACTERS]


def _decoded(content: memoryview) -> str:
    return str(content, "utf-8", "replace")
