"""The lines that a text or a regular expression matches, by file and by the node that holds them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from groundwire_client import (
    AsyncGroundwireClient,
    IndexScope,
    LineMatch,
    SearchTextResponse,
    SourceLocation,
    scope_name,
)
from groundwire_client.cli import indexes
from groundwire_explore import describing
from groundwire_explore.parameters import ExactSearch, one_or_several


@dataclass(frozen=True, slots=True)
class MatchingLine:
    """A line as it is shown.

    Attributes:
        number: Its number in the file.
        before: What is before the match.
        match: The match.
        after: What is behind the match.
    """

    number: int
    before: str
    match: str
    after: str


@dataclass(frozen=True, slots=True)
class LinesOfNode:
    """Matching lines that follow each other and belong to one node.

    Attributes:
        id: The node's canonical id.
        version: The index version that it is in, as in an address.
        name: The symbol, or another name of the node.
        badges: Words that set it apart, such as `test`.
        lines: The lines.
        url: The address of the first line at its host; empty without one.
    """

    id: str
    version: str
    name: str
    badges: tuple[str, ...]
    lines: tuple[MatchingLine, ...]
    url: str


@dataclass(frozen=True, slots=True)
class LinesOfFile:
    """The matching lines of a file.

    Attributes:
        path: The path.
        repository: The repository and branch, where several indexes were searched.
        nodes: The lines by node.
    """

    path: str
    repository: str
    nodes: tuple[LinesOfNode, ...]


@dataclass(frozen=True, slots=True)
class ExactMatches:
    """The lines that a pattern matches.

    Attributes:
        files: The shown lines, by file.
        shown: How many lines are shown.
        line_count: How many lines match.
        file_count: The files that these lines are in.
        stopped: True if the search ended before all files were read.
        index: The index versions that answered.
    """

    files: tuple[LinesOfFile, ...]
    shown: int
    line_count: int
    file_count: int
    stopped: bool
    index: str


async def find_lines(
    client: AsyncGroundwireClient, scopes: Sequence[IndexScope], pattern: str, search: ExactSearch
) -> ExactMatches:
    """Searches the lines of one index, or of several. Raises one of `problems.FAILURES`."""
    scope = one_or_several(scopes)
    response = await client.search_text(
        scope,
        pattern,
        regex=search.regex,
        ignore_case=search.ignore_case,
        whole_words=search.whole_words,
        max_matches=search.lines,
        filter=search.filter,
    )
    versions = _Versions(scopes[0], response)
    files = groupby(response.matches, key=lambda match: (versions.repository_of(match), match.path or match.node_id))
    return ExactMatches(
        files=tuple(
            LinesOfFile(path, repository, _by_node(list(matches), versions)) for (repository, path), matches in files
        ),
        shown=len(response.matches),
        line_count=response.line_count,
        file_count=response.file_count,
        stopped=response.stopped,
        index=indexes(response),
    )


@dataclass(frozen=True, slots=True)
class _Versions:
    """Names the index version of each match.

    Attributes:
        scope: The index that was searched, if it was one.
        response: The answer.
    """

    scope: IndexScope
    response: SearchTextResponse

    def repository_of(self, match: LineMatch) -> str:
        """The repository and branch of a match; empty where one index was searched."""
        return scope_name(match.scope.repository, match.scope.branch) if match.HasField("scope") else ""

    def version_of(self, match: LineMatch) -> str:
        """The index version of a match, as in an address."""
        if match.HasField("scope"):
            return scope_name(match.scope.repository, match.scope.branch, match.scope.active_index)
        return scope_name(self.scope.repository, self.scope.branch, self.response.index)


def _by_node(matches: Sequence[LineMatch], versions: _Versions) -> tuple[LinesOfNode, ...]:
    nodes = []
    for id_, matches_of_node in groupby(matches, key=lambda match: match.node_id):
        lines = list(matches_of_node)
        first = lines[0]
        location = SourceLocation(path=first.path, start_line=first.line)
        nodes.append(
            LinesOfNode(
                id=id_,
                version=versions.version_of(first),
                name=describing.name_of(first.symbol, location, id_),
                badges=describing.badges(is_test=first.is_test, is_generated=first.is_generated),
                lines=tuple(map(_line, lines)),
                url=first.url,
            )
        )
    return tuple(nodes)


def _line(match: LineMatch) -> MatchingLine:
    """The line with its match apart; `…` stands for a beginning that was cut."""
    start = match.column - match.text_column
    end = start + match.length
    cut = "…" if match.text_column > 1 else ""
    return MatchingLine(match.line, cut + match.text[:start], match.text[start:end], match.text[end:])
