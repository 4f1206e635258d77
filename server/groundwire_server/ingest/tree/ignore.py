"""What a tree's .gitignore files leave out, each with force below its own folder."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pathspec import GitIgnoreSpec

from groundwire_server.ingest.records import SkippedFile


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The patterns of one .gitignore and, through `outer`, of those in the folders around it.

    `folder` is the path of the .gitignore's folder with a trailing slash, empty for the tree's root.
    """

    folder: str
    spec: GitIgnoreSpec
    outer: "IgnoreRules | None"

    def ignores(self, path: str) -> bool:
        """Whether `path` is left out; a folder's path ends with a slash. The innermost match decides, as in git."""
        rules: IgnoreRules | None = self
        while rules is not None:
            verdict = rules.spec.check_file(path.removeprefix(rules.folder)).include
            if verdict is not None:
                return verdict
            rules = rules.outer
        return False


def read_rules(folder: str, text: str, outer: IgnoreRules | None) -> tuple[IgnoreRules, tuple[SkippedFile, ...]]:
    """The rules of a .gitignore's text, and a note for each line that is no pattern (git passes over those too)."""
    lines = text.splitlines()
    bad_lines = frozenset(_bad_lines(lines))
    spec = GitIgnoreSpec.from_lines(line for number, line in enumerate(lines, 1) if number not in bad_lines)
    notes = tuple(
        SkippedFile(f"{folder}.gitignore", f"line {number} is not a pattern and is passed over: {lines[number - 1]!r}")
        for number in sorted(bad_lines)
    )
    return IgnoreRules(folder, spec, outer), notes


def _bad_lines(lines: list[str]) -> Iterator[int]:
    for number, line in enumerate(lines, 1):
        try:
            GitIgnoreSpec.from_lines([line])
        except (ValueError, re.error):
            yield number
