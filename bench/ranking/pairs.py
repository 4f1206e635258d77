"""Pairs of a commit's subject and the nodes whose lines it changed, from clones of public repositories.

A repository is indexed once, as it was before the oldest commit that is used. Changed lines are carried back to that
tree through git's differences, so later changes of other lines do not move them. A commit's subject is therefore never
in what is indexed. Lines that the tree does not have yet count for nothing.
"""

import csv
import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bench.repositories.commits import is_bot, is_source
from bench.repositories.history import Commit, difference, read_commits
from bench.repositories.subjects import question_of

MOST_FILES = 10
_TRAILER = re.compile(r"[A-Za-z-]+: ")
_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Source:
    """A public repository: a commit whose history is used, its licence, and what its pairs are used for.

    `part` is `train`, `develop` or `kept`.
    """

    repository: str
    commit: str
    licence: str
    part: str

    @property
    def name(self) -> str:
        """The name of its folders."""
        return self.repository.replace("/", "+")


@dataclass(frozen=True, slots=True)
class Pair:
    """A question, and the canonical ids of the nodes that answer it, ascending."""

    question: str
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Span:
    """The lines of a node in its file, from 1, the last one included."""

    start: int
    end: int
    id: str


def read_sources(path: Path) -> list[Source]:
    """The rows of a table with a heading: repository, commit, licence, part."""
    with path.open(encoding="utf-8", newline="") as file:
        return [Source(**row) for row in csv.DictReader(file, delimiter="\t")]


def used_changes(git: Path, commit: str, most: int) -> list[Commit]:
    """The newest commits up to `commit` that ask a question about one to ten files, newest first. Raises RuntimeError.

    Merges, reverts, versions, format, documentation and commits of bots are left out, and repeated subjects.
    """
    used: dict[str, Commit] = {}
    for change in read_commits(git, commit):
        text = question_of(change.subject)
        if text and len(change.paths) <= MOST_FILES and any(map(is_source, change.paths)) and not is_bot(change):
            used.setdefault(text.lower(), change)
            if len(used) == most:
                break
    return list(used.values())


def pairs_of(git: Path, base: str, changes: Sequence[Commit], spans: Mapping[str, Sequence[Span]]) -> Iterator[Pair]:
    """The pairs of changes whose lines are in nodes of the tree of `base`; `spans` has its nodes by path."""
    for change in changes:
        changed_ids: set[str] = set()
        for path in filter(is_source, change.paths):
            if path in spans:
                lines = changed_lines(difference(git, f"{change.hash}^", change.hash, path))
                kept = carried_back(lines, difference(git, base, f"{change.hash}^", path))
                changed_ids.update(innermost(spans[path], kept))
        if changed_ids:
            yield Pair(_text_of(change), tuple(sorted(changed_ids)))


def changed_lines(patch: str) -> list[int]:
    """The lines of the old file that a patch without context removes, or after which it inserts."""
    lines: list[int] = []
    for start, count, *_ in _hunks(patch):
        lines += range(start, start + max(count, 1))
    return lines


def carried_back(lines: Iterable[int], patch: str) -> list[int]:
    """The lines of the old file that the given lines of the new file are; those that the patch has added are left out.

    `patch` leads from the old file to the new one and has no context.
    """
    hunks = _hunks(patch)
    # Where each hunk ends in the new file, and the distance of the lines behind it from those of the old file.
    ends = [start + count for *_, start, count in hunks]
    shifts = [0]
    for _, removed, _, added in hunks:
        shifts.append(shifts[-1] + removed - added)
    kept = []
    for line in lines:
        place = bisect_right(ends, line)
        added = place < len(hunks) and hunks[place][3] > 0 and line >= hunks[place][2]
        if not added:
            kept.append(line + shifts[place])
    return kept


def innermost(spans: Sequence[Span], lines: Iterable[int]) -> set[str]:
    """For each line the node with the fewest lines that has it."""
    innermost_ids = set()
    for line in lines:
        around = [span for span in spans if span.start <= line <= span.end]
        if around:
            innermost_ids.add(min(around, key=lambda span: (span.end - span.start, span.id)).id)
    return innermost_ids


def spans_of(nodes: Iterable[tuple[str, Mapping[str, Any]]]) -> dict[str, list[Span]]:
    """The lines of exported nodes, by path; nodes without lines are left out."""
    spans: dict[str, list[Span]] = {}
    for id_, node in nodes:
        if node.get("start_line"):
            spans.setdefault(node["path"], []).append(Span(node["start_line"], node["end_line"], id_))
    return spans


def write_pairs(path: Path, pairs: Iterable[Pair]) -> int:
    """Writes one JSON object a line and returns their number."""
    lines = [json.dumps(asdict(pair), ensure_ascii=False) for pair in pairs]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return len(lines)


def read_pairs(path: Path) -> list[Pair]:
    """What `write_pairs` wrote."""
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [Pair(row["question"], tuple(row["nodes"])) for row in rows]


def _text_of(change: Commit) -> str:
    body = "" if _TRAILER.match(change.body) else question_of(change.body)
    return ". ".join(filter(None, (question_of(change.subject), body)))


def _hunks(patch: str) -> list[tuple[int, int, int, int]]:
    """Of each hunk: first line and number of lines in the old file and in the new file.

    Where a hunk has no lines in a file, git names the line before it; then it is taken to begin after that line.
    """
    hunks = []
    for old, removed, new, added in _HUNK.findall(patch):
        counts = int(removed or 1), int(added or 1)
        hunks.append((int(old), counts[0], int(new) + (not counts[1]), counts[1]))
    return hunks
