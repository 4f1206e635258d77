"""Matching lines are numbered, ordered and shown as an oracle says that cuts whole texts into lines."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_index.nodes.source_signatures import open_signatures, write_signatures
from groundwire_index.nodes.source_texts import SourceRuns
from groundwire_server.engine.line_scan import LineScan
from groundwire_server.engine.linear_pattern import LinearPattern, Span
from groundwire_server.engine.matching_lines import (
    SHOWN_CHARACTERS,
    LineText,
    MatchingLine,
    MatchingLines,
    around,
    shown,
)
from support.calls import never_stop


@dataclass(frozen=True)
class Part:
    """The text of one run: lines of a path, the first of them by its number."""

    path: int
    first_line: int
    text: str


def runs_of(parts: Sequence[Part], folder: Path) -> SourceRuns:
    """One run for each part, which is a file and a node as well."""
    contents = [part.text.encode() for part in parts]
    content = np.frombuffer(b"".join(contents), dtype=np.uint8)
    write_signatures(folder, content)
    borders = np.concatenate(([0], np.cumsum([len(text) for text in contents])))
    numbers = np.arange(len(parts), dtype=np.int32)
    first_lines = np.asarray([part.first_line for part in parts], dtype=np.int32)
    paths = np.asarray([part.path for part in parts], dtype=np.int32)
    signatures = open_signatures(folder, len(content))
    return SourceRuns(content.data, signatures, borders[:-1], borders[1:], numbers, first_lines, numbers, paths)


def matching_lines(runs: SourceRuns, literal: str) -> MatchingLines:
    pattern = LinearPattern(literal, is_literal=True, ignore_case=False, whole_words=False, multiline=False)
    return MatchingLines.of(LineScan(runs, pattern, multiline=False).matches(never_stop), runs)


words = st.sampled_from(["tax", "rate", "x tax", ""])
texts = st.lists(words, min_size=1, max_size=5).map(lambda lines: "".join(f"{line}\n" for line in lines))
lists_of_parts = st.lists(st.builds(Part, st.integers(0, 2), st.integers(1, 4), texts), min_size=1, max_size=8)


@given(parts=lists_of_parts)
def test_a_line_that_several_nodes_have_is_of_the_one_that_begins_last(
    parts: list[Part], tmp_path_factory: pytest.TempPathFactory
) -> None:
    parts = sorted(parts, key=lambda part: (part.path, part.first_line))
    lines = matching_lines(runs_of(parts, tmp_path_factory.mktemp("lines")), "tax").each_once()
    expected: dict[tuple[int, int], int] = {}
    for number, part in enumerate(parts):
        for line_number, line in enumerate(part.text.splitlines(), start=part.first_line):
            known = expected.get((part.path, line_number))
            if "tax" in line and (known is None or part.first_line > parts[known].first_line):
                expected[part.path, line_number] = number
    assert [(parts[line.run].path, line.number, line.run) for line in lines.lines()] == [
        (path, line_number, number) for (path, line_number), number in sorted(expected.items())
    ]
    assert lines.paths.tolist() == [path for path, _ in sorted(expected)]


@given(
    before=st.integers(0, 3 * SHOWN_CHARACTERS),
    behind=st.integers(0, 3 * SHOWN_CHARACTERS),
    letter=st.sampled_from("aä語😀"),
)
def test_the_part_around_a_match_is_shown(before: int, behind: int, letter: str) -> None:
    line = f"{letter * before}tax{letter * behind}"
    content = line.encode()
    start = len((letter * before).encode())
    text = shown(MatchingLine(0, 1, Span(0, len(content)), Span(start, start + 3)), memoryview(content))
    first = max(0, min(before - 100, len(line) - SHOWN_CHARACTERS)) if len(line) > SHOWN_CHARACTERS else 0
    assert text == LineText(line[first : first + SHOWN_CHARACTERS], first + 1, before + 1, 3, 0)


@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_lines_around_a_match_end_where_the_file_does(count: int, tmp_path: Path) -> None:
    runs = runs_of([Part(0, 1, "a\nb\n"), Part(1, 1, "c\nd\ntax\ne\nf\n"), Part(2, 1, "g\n")], tmp_path)
    (line,) = matching_lines(runs, "tax").lines()
    before, after = around(line, runs, count)
    assert before == ["c", "d"][2 - min(2, count) :]
    assert after == ["e", "f"][:count]


def test_nodes_without_a_path_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    """They come in the order of their lines, and each has a number in place of that of a path."""
    parts = [Part(2, 5, "tax\nrate\ntax\n"), Part(3, 50, "tax\n"), Part(1, 90, "tax\n")]
    lines = matching_lines(runs_of(parts, tmp_path), "tax").each_once()
    assert [(int(path), line.number) for path, line in zip(lines.paths, lines.lines(), strict=True)] == [
        (1, 90),
        (2, 5),
        (2, 7),
        (3, 50),
    ]
