"""Finds the lines of source texts that a pattern matches, and the lines around them."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groundwire_index.nodes.source_signatures import BLOCK_BYTES, COVERED_BYTES
from groundwire_index.nodes.source_texts import SourceRuns
from groundwire_server.engine.linear_pattern import LinearPattern, Span
from groundwire_server.execution.call import Checkpoint

SHOWN_CHARACTERS = 400
"""How much of a line is shown."""
_BEFORE_MATCH = 100
"""How many characters of a longer line are shown before its match, where there are as many."""
_STRETCH_BYTES = 4 << 20
"""A search in so many bytes takes some milliseconds; the deadline is looked at between two of them."""
_USUAL_INSTRUCTIONS = 100
"""A pattern of more instructions is searched in as many times less bytes at once."""
MATCH_BYTES = 1 << 16
"""A match of several lines is found if it has no more bytes.

Without a bound, a search that begins anew in each line could read the rest of the file each time.
"""
_WINDOW_BYTES = 1 << 8
_LINE_FEED = b"\n"


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


class LineScan:
    """One search in the runs that a caller may see."""

    def __init__(self, runs: SourceRuns, pattern: LinearPattern, *, multiline: bool) -> None:
        self._runs = runs
        self._pattern = pattern
        self._multiline = multiline
        self._stretch_bytes = _STRETCH_BYTES * _USUAL_INSTRUCTIONS // max(_USUAL_INSTRUCTIONS, pattern.instructions)

    def lines(self, checkpoint: Checkpoint) -> Iterator[MatchingLine]:
        """The matching lines in the order of the runs; with `multiline` the first line of each match."""
        numbers = _LineNumbers(self._runs)
        for stretch in self._stretches_to_read():
            checkpoint()
            position, end = stretch.start, stretch.end - 1  # without the last line feed, behind which is no line
            while position <= end and (match := self._search(position, end, checkpoint)) is not None:
                line = self._line_around(match.start, stretch)
                run, number = numbers.of(line.start)
                yield MatchingLine(run, number, line, match)
                # The next line; of a match over several lines, the one behind its last line.
                position = line.end + 1
                if match.end > position:
                    position = self._line_around(match.end - 1, stretch).end + 1

    def shown(self, matching: MatchingLine) -> LineText:
        """The line as it is shown: all of it, or the part around the match."""
        content, (start, end) = self._runs.content, matching.line
        before = _decoded(content[start : matching.match.start])
        matched = _decoded(content[matching.match.start : matching.match.end])
        text = before + _decoded(content[matching.match.start : end])
        first = max(0, len(before) - _BEFORE_MATCH) if len(text) > SHOWN_CHARACTERS else 0
        first = max(0, min(first, len(text) - SHOWN_CHARACTERS))
        return LineText(
            text=text[first : first + SHOWN_CHARACTERS],
            first_column=first + 1,
            match_column=len(before) + 1,
            match_length=len(matched),
            match_breaks=matched[:-1].count("\n"),
        )

    def around(self, matching: MatchingLine, count: int) -> tuple[list[str], list[str]]:
        """Up to `count` lines before and after a match that the caller may see as well, cut to SHOWN_CHARACTERS."""
        runs, first, last = self._runs, matching.run, matching.run
        while first > 0 and matching.run - first < count and self._follows(first):
            first -= 1
        last_line = matching.line
        if matching.match.end > matching.line.end:
            last_line = self._line_around(matching.match.end - 1, Span(matching.line.start, int(runs.ends[-1])))
            last = int(np.searchsorted(runs.starts, last_line.start, side="right")) - 1
        behind = last
        while behind + 1 < len(runs.starts) and behind - last < count and self._follows(behind + 1):
            behind += 1
        before = self._last_lines(Span(int(runs.starts[first]), matching.line.start), count)
        after = self._first_lines(Span(last_line.end + 1, int(runs.ends[behind])), count)
        return before, after

    def _search(self, position: int, end: int, checkpoint: Checkpoint) -> Span | None:
        """The first match that begins at `position` or later and ends at `end` or before.

        With `multiline`, it is searched for in one window after the other. They overlap by MATCH_BYTES, and are small
        at first, because a match is often near to the one before.
        """
        if not self._multiline:
            return self._pattern.search(self._runs.content, position, end)
        window_bytes = 2 * MATCH_BYTES
        while True:
            checkpoint()
            window_end = min(end, position + window_bytes)
            last_start = window_end - MATCH_BYTES
            match = self._pattern.search(self._runs.content, position, window_end)
            if window_end == end or (match is not None and match.start <= last_start):
                return match
            position = last_start + 1 if match is None else match.start
            window_bytes = max(window_bytes, min(2 * window_bytes, self._stretch_bytes))

    def _follows(self, run: int) -> bool:
        """True if a run comes directly after the one before it in the same file."""
        runs = self._runs
        return bool(runs.starts[run] == runs.ends[run - 1] and runs.files[run] == runs.files[run - 1])

    def _stretches_to_read(self) -> Iterator[Span]:
        """The stretches, or where the signatures leave blocks out, the lines in the other blocks.

        A signature covers hidden texts too. So a block is left out only if all that its signature covers is visible:
        otherwise the time of a search would depend on hidden texts.
        """
        starts, ends = self._stretches()
        matching_blocks = _blocks_with(self._runs, self._pattern)
        if matching_blocks is None:
            yield from map(Span, starts.tolist(), ends.tolist())
            return
        blocks = np.union1d(matching_blocks, _blocks_with_hidden_texts(self._runs))
        block_ends = (blocks + 1) * BLOCK_BYTES
        first = np.searchsorted(block_ends, starts, side="right")
        behind_last = np.searchsorted(block_ends - BLOCK_BYTES, ends, side="left")
        for number in np.flatnonzero(first < behind_last).tolist():
            stretch = Span(int(starts[number]), int(ends[number]))
            yield from self._lines_in_blocks(stretch, blocks[first[number] : behind_last[number]])

    def _lines_in_blocks(self, stretch: Span, blocks: NDArray[np.int64]) -> Iterator[Span]:
        """The whole lines of a stretch that are in some blocks at least in part, put together where they touch."""
        start = end = stretch.start
        for block in blocks.tolist():
            first, last = max(stretch.start, block * BLOCK_BYTES), min(stretch.end, (block + 1) * BLOCK_BYTES) - 1
            if first >= end:
                if start < end:
                    yield Span(start, end)
                start = max(end, _line_start(self._runs.content, first, stretch))
            if last >= end:
                end = _line_end(self._runs.content, last, stretch) + 1
        yield Span(start, end)

    def _stretches(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where the stretches begin, and where they end.

        They are the runs put together where nothing lies between them, each of some megabytes at most.
        A match may hold several lines with `multiline`: then a stretch is within one file, and has any size.
        """
        runs = self._runs
        if not len(runs.starts):
            return runs.starts, runs.ends
        begins = runs.starts[1:] != runs.ends[:-1]
        begins |= np.diff(runs.files) > 0 if self._multiline else np.diff(runs.starts // self._stretch_bytes) > 0
        borders: NDArray[np.int64] = np.flatnonzero(begins) + 1
        starts = runs.starts.take(np.concatenate(([0], borders)))
        ends = runs.ends.take(np.concatenate((borders - 1, [len(runs.ends) - 1])))
        return starts, ends

    def _line_around(self, position: int, within: Span) -> Span:
        """The line that a position is in, without its line feed."""
        return Span(_line_start(self._runs.content, position, within), _line_end(self._runs.content, position, within))

    def _last_lines(self, within: Span, count: int) -> list[str]:
        lines: list[str] = []
        end = within.end - 1
        while len(lines) < count and end >= within.start:
            start = _line_start(self._runs.content, end, within)
            lines.append(self._cut(Span(start, end)))
            end = start - 1
        return lines[::-1]

    def _first_lines(self, within: Span, count: int) -> list[str]:
        lines: list[str] = []
        start = within.start
        while len(lines) < count and start < within.end:
            end = _line_end(self._runs.content, start, within)
            lines.append(self._cut(Span(start, end)))
            start = end + 1
        return lines

    def _cut(self, line: Span) -> str:
        """A line; a character has at most four bytes."""
        return _decoded(self._runs.content[line.start : min(line.end, line.start + 4 * SHOWN_CHARACTERS)])[
            :SHOWN_CHARACTERS
        ]


class _LineNumbers:
    """Numbers lines that come in ascending order; each line feed is counted once."""

    def __init__(self, runs: SourceRuns) -> None:
        self._runs = runs
        self._run = -1
        self._position = 0
        self._number = 0

    def of(self, line_start: int) -> tuple[int, int]:
        """The run that holds the line which begins at a position, and the number of the line."""
        run = int(np.searchsorted(self._runs.starts, line_start, side="right")) - 1
        if run != self._run:
            self._run, self._position = run, int(self._runs.starts[run])
            self._number = int(self._runs.first_lines[run])
        self._number += bytes(self._runs.content[self._position : line_start]).count(_LINE_FEED)
        self._position = line_start
        return run, self._number


def _blocks_with(runs: SourceRuns, pattern: LinearPattern) -> NDArray[np.int64] | None:
    """The numbers of the blocks in which a match may have its required literal, ascending; None where all may."""
    blocks: NDArray[np.int64] = np.empty(0, dtype=np.int64)
    for literal in pattern.required_literals:
        blocks_of_literal = runs.signatures.blocks_with(literal.encode(), ignore_case=pattern.ignore_case)
        if blocks_of_literal is None:
            return None
        blocks = np.union1d(blocks, blocks_of_literal)
    return blocks if pattern.required_literals else None


def _blocks_with_hidden_texts(runs: SourceRuns) -> NDArray[np.int64]:
    """The numbers of the blocks whose signatures cover a text that is in no run, ascending."""
    size = len(runs.content)
    gap_starts = np.concatenate(([0], runs.ends))
    gap_ends = np.concatenate((runs.starts, [size]))
    gaps = np.flatnonzero(gap_starts < gap_ends)
    first = np.maximum(0, -((COVERED_BYTES - 1 - gap_starts[gaps]) // BLOCK_BYTES))
    behind_last = (gap_ends[gaps] - 1) // BLOCK_BYTES + 1
    changes = np.zeros(size // BLOCK_BYTES + 2, dtype=np.int64)
    np.add.at(changes, first, 1)
    np.add.at(changes, behind_last, -1)
    return np.flatnonzero(np.cumsum(changes) > 0)


def _line_start(content: memoryview, position: int, within: Span) -> int:
    """Where the line begins that a position is in; its own line feed belongs to it."""
    end, size = position, _WINDOW_BYTES
    while end > within.start:
        start = max(within.start, end - size)
        place = bytes(content[start:end]).rfind(_LINE_FEED)
        if place >= 0:
            return start + place + 1
        end, size = start, 2 * size
    return within.start


def _line_end(content: memoryview, position: int, within: Span) -> int:
    """Where the line feed of the line is that a position is in."""
    start, size = position, _WINDOW_BYTES
    while start < within.end:
        end = min(within.end, start + size)
        place = bytes(content[start:end]).find(_LINE_FEED)
        if place >= 0:
            return start + place
        start, size = end, 2 * size
    return within.end


def _decoded(content: memoryview) -> str:
    return str(content, "utf-8", "replace")
