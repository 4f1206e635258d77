"""Finds the lines of source texts that a pattern matches."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from groundwire_index.nodes.source_signatures import BLOCK_BYTES, COVERED_BYTES
from groundwire_index.nodes.source_texts import SourceRuns
from groundwire_server.engine.line_borders import LINE_FEED, line_end, line_start
from groundwire_server.engine.linear_pattern import LinearPattern, Span
from groundwire_server.execution.call import Checkpoint

_PIECE_BYTES = 1 << 18
"""The size of a piece, but for long lines. The deadline is looked at between two pieces."""
_COPIED_BYTES = 1 << 12
"""The size of the copy behind a match of a plain text."""
_LARGEST_WINDOW_BYTES = 4 << 20
"""The most bytes that a search for a match of several lines reads at once."""
_USUAL_INSTRUCTIONS = 100
"""For a pattern of more instructions, these sizes are smaller by the same factor."""
MATCH_BYTES = 1 << 16
"""A match of several lines is found if it has no more bytes.

Without a bound, a search that begins anew in each line could read the rest of the file each time.
"""


class LineScan:
    """One search in the runs that a caller may see."""

    def __init__(self, runs: SourceRuns, pattern: LinearPattern, *, multiline: bool) -> None:
        self._runs = runs
        self._content = runs.content
        self._pattern = pattern
        self._multiline = multiline
        share = max(1.0, pattern.instructions / _USUAL_INSTRUCTIONS)
        self._piece_bytes = int(_PIECE_BYTES / share)
        self._largest_window_bytes = int(_LARGEST_WINDOW_BYTES / share)

    def matches(self, checkpoint: Checkpoint) -> Iterator[tuple[int, int]]:
        """Where the first match of each matching line begins and ends, in the order of the runs.

        With `multiline`, each match begins behind the last line of the match before it.
        """
        literal = self._pattern.literal
        for piece in self._pieces():
            checkpoint()
            if self._multiline:
                yield from self._matches_of_several_lines(piece, checkpoint)
            elif literal:
                yield from self._literals(literal, piece)
            else:
                yield from self._matches(piece)

    def _literals(self, literal: bytes, piece: Span) -> Iterator[tuple[int, int]]:
        """As `_matches`, for a pattern that is plain text: yields the first place of the literal in each line.

        A call of RE2 takes as long as reading some KiB. So behind a match, the next ones are looked for in a copy.
        """
        content, length, position, end = self._content, len(literal), piece.start, piece.end - 1
        while position <= end and (match := self._pattern.search(content, position, end)) is not None:
            start = match[0]
            copy = bytes(content[start : min(piece.end, start + _COPIED_BYTES)])
            place, line_feed = 0, 0
            while place >= 0 and line_feed >= 0:
                yield start + place, start + place + length
                line_feed = copy.find(LINE_FEED, place + length)
                place = copy.find(literal, line_feed)
            if line_feed < 0:
                position = line_end(content, start + len(copy), piece) + 1
            else:
                position = start + max(line_feed, len(copy) - length) + 1

    def _matches(self, piece: Span) -> Iterator[tuple[int, int]]:
        """As `matches`, of a piece of whole lines."""
        content, position, end = self._content, piece.start, piece.end - 1  # behind the last line feed is no line
        while position <= end and (match := self._pattern.search(content, position, end)) is not None:
            yield match
            position = line_end(content, match[0], piece) + 1

    def _matches_of_several_lines(self, piece: Span, checkpoint: Checkpoint) -> Iterator[tuple[int, int]]:
        """As `matches`, of a piece that is within one file, and holds all its lines that follow each other."""
        content, position, end = self._content, piece.start, piece.end - 1
        while position <= end and (match := self._search_in_windows(position, end, checkpoint)) is not None:
            yield match
            position = line_end(content, max(match[0], match[1] - 1), piece) + 1

    def _search_in_windows(self, position: int, end: int, checkpoint: Checkpoint) -> tuple[int, int] | None:
        """The first match that begins at `position` or later and ends at `end` or before.

        It is searched for in one window after the other. They overlap by MATCH_BYTES, and are small at first, because
        a match is often near to the one before.
        """
        window_bytes = 2 * MATCH_BYTES
        while True:
            checkpoint()
            window_end = min(end, position + window_bytes)
            last_start = window_end - MATCH_BYTES
            match = self._pattern.search(self._content, position, window_end)
            if window_end == end or (match is not None and match[0] <= last_start):
                return match
            position = last_start + 1 if match is None else match[0]
            window_bytes = max(window_bytes, min(2 * window_bytes, self._largest_window_bytes))

    def _pieces(self) -> Iterator[Span]:
        """The lines to read, in pieces of whole lines; with `multiline` in pieces of any size."""
        starts, ends = self._stretches()
        if self._multiline:
            yield from map(Span, starts.tolist(), ends.tolist())
            return
        for span in self._lines_to_read(starts, ends):
            start = span.start
            while start < span.end:
                end = span.end
                if start + self._piece_bytes < end:
                    end = line_end(self._content, start + self._piece_bytes - 1, span) + 1
                yield Span(start, end)
                start = end

    def _lines_to_read(self, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> Iterator[Span]:
        """The stretches, or where the signatures leave blocks out, the lines in the other blocks.

        A signature covers hidden texts too. So a block is left out only if all that its signature covers is visible:
        otherwise the time of a search would depend on hidden texts.
        """
        is_read = _blocks_with(self._runs, self._pattern)
        if is_read is None:
            yield from map(Span, starts.tolist(), ends.tolist())
            return
        is_read |= _blocks_with_hidden_texts(len(self._content), starts, ends)
        changes = np.flatnonzero(np.diff(is_read, prepend=False, append=False))
        group_starts, group_ends = changes[::2] * BLOCK_BYTES, changes[1::2] * BLOCK_BYTES
        first = np.searchsorted(group_ends, starts, side="right")
        behind_last = np.searchsorted(group_starts, ends, side="left")
        for number in np.flatnonzero(first < behind_last).tolist():
            groups = slice(first[number], behind_last[number])
            stretch = Span(int(starts[number]), int(ends[number]))
            group_spans = map(Span, group_starts[groups].tolist(), group_ends[groups].tolist())
            yield from self._lines_of_groups(stretch, group_spans)

    def _lines_of_groups(self, stretch: Span, groups: Iterator[Span]) -> Iterator[Span]:
        """The whole lines of a stretch that are in groups of blocks at least in part; none comes twice."""
        behind = stretch.start
        for group in groups:
            first, last = max(behind, group.start), min(stretch.end, group.end) - 1
            if first <= last:
                start = line_start(self._content, first, Span(behind, stretch.end))
                behind = line_end(self._content, last, stretch) + 1
                yield Span(start, behind)

    def _stretches(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where the stretches begin, and where they end: the runs put together where nothing lies between them.

        A match may hold several lines with `multiline`: then a stretch is within one file.
        """
        runs = self._runs
        if not len(runs.starts):
            return runs.starts, runs.ends
        begins = runs.starts[1:] != runs.ends[:-1]
        if self._multiline:
            begins |= runs.files[1:] != runs.files[:-1]
        borders: NDArray[np.int64] = np.flatnonzero(begins) + 1
        starts = runs.starts.take(np.concatenate(([0], borders)))
        ends = runs.ends.take(np.concatenate((borders - 1, [len(runs.ends) - 1])))
        return starts, ends


def _blocks_with(runs: SourceRuns, pattern: LinearPattern) -> NDArray[np.bool_] | None:
    """For each block, whether a match may have its required literal there; None where all may."""
    blocks: NDArray[np.bool_] | None = None
    for literal in pattern.required_literals:
        blocks_of_literal = runs.signatures.blocks_with(literal.encode(), ignore_case=pattern.ignore_case)
        if blocks_of_literal is None:
            return None
        blocks = blocks_of_literal if blocks is None else blocks | blocks_of_literal
    return blocks


def _blocks_with_hidden_texts(size: int, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.bool_]:
    """For each block of `size` bytes, whether its signature covers a text that is in no stretch."""
    gap_starts = np.concatenate(([0], ends))
    gap_ends = np.concatenate((starts, [size]))
    gaps = np.flatnonzero(gap_starts < gap_ends)
    first = np.maximum(0, -((COVERED_BYTES - 1 - gap_starts[gaps]) // BLOCK_BYTES))
    behind_last = (gap_ends[gaps] - 1) // BLOCK_BYTES + 1
    block_count = -(-size // BLOCK_BYTES)
    changes = np.zeros(block_count + 1, dtype=np.int64)
    np.add.at(changes, first, 1)
    np.add.at(changes, behind_last, -1)
    return np.cumsum(changes[:block_count]) > 0
