"""A scan finds the lines that a search in each line finds, and reads no blocks whose signatures leave them out."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from groundwire_index.nodes.source_signatures import BLOCK_BYTES, open_signatures, write_signatures
from groundwire_index.nodes.source_texts import SourceRuns
from groundwire_server.engine.line_scan import MATCH_BYTES, LineScan
from groundwire_server.engine.linear_pattern import LinearPattern, Span
from groundwire_server.engine.matching_lines import MatchingLines

_DRAW = random.Random(11)


@dataclass
class Checkpoints:
    """Counts how often the deadline was looked at, which is once for each stretch that was read."""

    count: int = 0

    def __call__(self) -> None:
        self.count += 1


def runs_of(texts: Sequence[str], folder: Path) -> SourceRuns:
    """One run for each text, which is a file and a node as well."""
    contents = [text.encode() for text in texts]
    content = np.frombuffer(b"".join(contents), dtype=np.uint8)
    write_signatures(folder, content)
    borders = np.concatenate(([0], np.cumsum([len(text) for text in contents])))
    numbers = np.arange(len(texts), dtype=np.int32)
    first_lines = np.ones(len(texts), dtype=np.int32)
    signatures = open_signatures(folder, len(content))
    return SourceRuns(content.data, signatures, borders[:-1], borders[1:], numbers, first_lines, numbers, numbers)


def pattern_of(text: str, *, is_literal: bool = False, ignore_case: bool = False) -> LinearPattern:
    return LinearPattern(text, is_literal=is_literal, ignore_case=ignore_case, whole_words=False, multiline=False)


def found_lines(runs: SourceRuns, pattern: LinearPattern, checkpoints: Checkpoints) -> list[tuple[int, int]]:
    """The row and the number of each line."""
    matches = list(LineScan(runs, pattern, multiline=False).matches(checkpoints))
    return [(int(runs.rows[line.run]), line.number) for line in MatchingLines.of(matches, runs).lines()]


def test_only_the_block_of_a_literal_is_read(tmp_path: Path) -> None:
    texts = ["the same line in every block\n" * 4_000] * 10
    texts[6] = f"{texts[6]}the needle is here\n{texts[6]}"
    runs, checkpoints = runs_of(texts, tmp_path), Checkpoints()
    for needle in ("needle", "need(le| is)"):
        checkpoints.count = 0
        assert found_lines(runs, pattern_of(needle), checkpoints) == [(6, 4_001)]
        assert checkpoints.count == 1
    checkpoints.count = 0
    assert found_lines(runs, pattern_of("absent", is_literal=True), checkpoints) == []
    assert checkpoints.count == 0


class RecordingPattern(LinearPattern):
    """A pattern that keeps where it was searched for."""

    searched: list[tuple[int, int]]

    @classmethod
    def of(cls, text: str, *, is_literal: bool = False, multiline: bool = False) -> "RecordingPattern":
        pattern = cls(text, is_literal=is_literal, ignore_case=False, whole_words=False, multiline=multiline)
        pattern.searched = []
        return pattern

    def search(self, content: memoryview, start: int, end: int) -> tuple[int, int] | None:
        self.searched.append((start, end))
        return super().search(content, start, end)


@pytest.mark.parametrize("hidden_text", ["the needle", "the noodle", "a needle and a needle"])
@pytest.mark.parametrize("lines_between", [1, 600, 700, 1_300, 5_000])
def test_what_is_read_does_not_depend_on_hidden_texts(hidden_text: str, lines_between: int, tmp_path: Path) -> None:
    searched = []
    for text in (hidden_text, "x" * len(hidden_text)):
        visible_text = "the same line everywhere\n" * lines_between
        texts = [visible_text, f"{text}\n", visible_text, f"{text}\n" * 2_000, visible_text]
        runs = runs_of(texts, tmp_path).selected(np.asarray([True, False, True, False, True]))
        pattern = RecordingPattern.of("needle", is_literal=True)
        assert found_lines(runs, pattern, Checkpoints()) == []
        searched.append(pattern.searched)
    assert searched[0] == searched[1]


def _texts() -> list[str]:
    """Texts of lines of every length, some of which are over the borders of blocks, or hold whole blocks."""
    words = ["alpha", "Beta", "gamma_delta", "épsilon", "x" * 40, "needle", "Needle_2"]
    texts = []
    for _ in range(60):
        lines = [" ".join(_DRAW.choices(words, (9, 9, 9, 9, 9, 1, 1), k=_DRAW.randint(0, 40))) for _ in range(40)]
        if _DRAW.random() < 0.2:
            lines.insert(
                _DRAW.randrange(40), f"{'y' * 3 * BLOCK_BYTES} needle {'z' * _DRAW.randint(0, 3 * BLOCK_BYTES)}"
            )
        texts.append("".join(f"{line}\n" for line in lines))
    return texts


@pytest.mark.parametrize("visible_share", [1.0, 0.5])
@pytest.mark.parametrize("ignore_case", [False, True])
@pytest.mark.parametrize("expression", ["needle", "needle|gamma_d.*épsilon$", "^(alpha )?Beta", "[Nn]eedle_2", "y{30}"])
def test_a_scan_finds_what_a_search_in_each_line_finds(
    expression: str, ignore_case: bool, visible_share: float, tmp_path: Path
) -> None:
    texts = _texts()
    is_visible = np.asarray([_DRAW.random() < visible_share for _ in texts])
    runs = runs_of(texts, tmp_path).selected(is_visible)
    pattern = pattern_of(expression, ignore_case=ignore_case)
    expected = [
        (row, number)
        for row in np.flatnonzero(is_visible).tolist()
        for number, line in enumerate(texts[row].encode().splitlines(), start=1)
        if pattern.search(memoryview(line), 0, len(line)) is not None
    ]
    assert found_lines(runs, pattern, Checkpoints()) == expected


@pytest.mark.parametrize("visible_share", [1.0, 0.5])
@pytest.mark.parametrize("literal", ["needle", "Needle_2", "alpha alpha", " ", "é", "epsilon", "y" * 30, "y" * 1_900])
def test_a_scan_for_a_text_finds_its_first_place_in_each_line(
    literal: str, visible_share: float, tmp_path: Path
) -> None:
    texts = _texts()
    is_visible = np.asarray([_DRAW.random() < visible_share for _ in texts])
    runs = runs_of(texts, tmp_path).selected(is_visible)
    pattern = pattern_of(literal, is_literal=True)
    matches = list(LineScan(runs, pattern, multiline=False).matches(Checkpoints()))
    expected, sought = [], literal.encode()
    for row in np.flatnonzero(is_visible).tolist():
        for number, line in enumerate(texts[row].encode().splitlines(), start=1):
            if sought in line:
                expected.append((row, number, line.index(sought), line.index(sought) + len(sought)))
    lines = MatchingLines.of(matches, runs).lines()
    assert [
        (int(runs.rows[line.run]), line.number, line.match.start - line.line.start, line.match.end - line.line.start)
        for line in lines
    ] == expected


@pytest.mark.parametrize("literal", ["needle", "line", "e"])
@pytest.mark.parametrize("width", [10, 5_000, 300_000])
def test_large_texts_are_read_in_pieces_of_whole_lines(literal: str, width: int, tmp_path: Path) -> None:
    text = "".join(f"{'x' * (width - 30)} line {number} {'needle' if number % 3 else ''}\n" for number in range(30))
    text += "another line\n" * 60_000
    runs, checkpoints = runs_of([text], tmp_path), Checkpoints()
    expected = [(0, number) for number, line in enumerate(text.splitlines(), start=1) if literal in line]
    assert found_lines(runs, pattern_of(literal, is_literal=True), checkpoints) == expected
    assert literal == "needle" or checkpoints.count >= len(text) // 500_000


def test_a_search_for_several_lines_does_not_read_the_rest_of_a_file_for_each_of_them(tmp_path: Path) -> None:
    runs, checkpoints = runs_of(["a line\n" * 50_000], tmp_path), Checkpoints()
    pattern = RecordingPattern.of("a[^z]*z|a", multiline=True)
    matches = list(islice(LineScan(runs, pattern, multiline=True).matches(checkpoints), 100))
    assert [line.number for line in MatchingLines.of(matches, runs).lines()] == [*range(1, 101)]
    assert max(end - start for start, end in pattern.searched) <= 2 * MATCH_BYTES
    assert checkpoints.count >= 100, "a call that nobody waits for ends between two matches"


@pytest.mark.parametrize("length", [3, 1_000, MATCH_BYTES - 1, MATCH_BYTES])
@pytest.mark.parametrize("before", [0, MATCH_BYTES - 2, 2 * MATCH_BYTES - 2, 5 * MATCH_BYTES + 7])
def test_a_match_of_several_lines_is_found_wherever_it_begins(before: int, length: int, tmp_path: Path) -> None:
    inner_lines = "x\n" * length
    match = f"<{inner_lines[: length - 2]}>"
    lines_behind = "\n-" * 200_000
    runs = runs_of([f"{'-' * before}{match}{lines_behind}\n"], tmp_path)
    pattern = RecordingPattern.of("<[^>]*>", multiline=True)
    matches = list(LineScan(runs, pattern, multiline=True).matches(Checkpoints()))
    (line,) = MatchingLines.of(matches, runs).lines()
    assert line.match == Span(before, before + length)
    assert line.number == 1
