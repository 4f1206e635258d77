"""SearchText: what is asked and what is answered."""

from collections.abc import Hashable
from dataclasses import dataclass

from groundwire_index.scope import Scope
from groundwire_server.domain.search.search import NodeLabel, NodesRequest

MOST_LINES = 10_000
"""How many matching lines are counted: a pattern that matches most lines of a large tree costs no more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextSearchRequest(NodesRequest):
    """A search for lines as the caller asked it; see `groundwire.v1.SearchTextRequest`."""

    pattern: str
    regex: bool = False
    ignore_case: bool = False
    whole_words: bool = False
    multiline: bool = False
    max_matches: int
    context_lines: int = 0

    @property
    def extent(self) -> tuple[int, ...]:
        return len(self.pattern), self.max_matches, self.context_lines

    @property
    def choices(self) -> tuple[Hashable, ...]:
        # The pattern decides whether a few blocks are read, or all lines several hundred times as slowly.
        return self.pattern, self.regex, self.ignore_case, self.whole_words, self.multiline


@dataclass(frozen=True, slots=True)
class ShownLine:
    """A part of a line: it begins with the character number `column` of the line, 1-based."""

    text: str
    column: int = 1


@dataclass(frozen=True, slots=True)
class LineMatch:
    """A line that matches, or the first of the lines of one match.

    `node` holds the line. `column` is that of the first match in the line, 1-based, and `length` how many characters
    it has, line feeds included. `end_line` is the line that the match ends in. `before` and `after` are the lines
    around the match, in the order of the file.
    """

    node: NodeLabel
    kind: str
    line: int
    column: int
    length: int
    end_line: int
    shown: ShownLine
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FileMatches:
    """A file, its link, and how many of its lines match."""

    scope: Scope
    path: str
    line_count: int
    url: str


@dataclass(frozen=True, slots=True)
class TextSearchResult:
    """The matching lines by scope, path and line.

    `files` have the counts of all matching lines, also of those beyond `max_matches`. With `stopped`, the search ended
    at MOST_LINES, so there may be more. `index` is "" for several versions, which `scopes` has.
    """

    matches: tuple[LineMatch, ...]
    files: tuple[FileMatches, ...]
    stopped: bool
    index: str
    scopes: tuple[Scope, ...] = ()
