"""SearchText: the lines that a literal or a regular expression matches."""

from functools import partial
from itertools import islice

import numpy as np

from groundwire_index.nodes.source_texts import SourceRuns
from groundwire_server.backends.interface import IndexSnapshot, Snapshot
from groundwire_server.domain.errors import FieldViolation, InvalidRequestError, PreconditionError, Reason
from groundwire_server.domain.search.candidates import as_positions
from groundwire_server.domain.text_search.text_search import (
    MOST_LINES,
    FileMatches,
    LineMatch,
    ShownLine,
    TextSearchRequest,
    TextSearchResult,
)
from groundwire_server.domain.text_search.text_search_validation import check_text_search
from groundwire_server.engine.indexes import Indexes
from groundwire_server.engine.line_scan import LineScan
from groundwire_server.engine.linear_pattern import LinearPattern, PatternError
from groundwire_server.engine.matching_lines import MatchingLines, around, shown
from groundwire_server.engine.retrieval import scopes_of
from groundwire_server.execution.call import Call, Checkpoint
from groundwire_server.execution.observation import stage


async def search_text(request: TextSearchRequest, indexes: Indexes, call: Call) -> TextSearchResult:
    """Searches lines, in one version after the other, each as soon as its texts are there.

    Raises InvalidRequestError, PermissionDeniedError, NotFoundError, PreconditionError, BackendUnavailableError, or
    what the call's checkpoint raises.
    """
    check_text_search(request)
    snapshot = await indexes.open(request, call)
    pattern = await call.compute(partial(_compiled, request))
    search = _TextSearch(request, pattern, call)
    for part in snapshot.parts:
        all_runs = part.all_source_runs()
        if all_runs is None:
            message = f"index {part.index!r} has no texts of files; build it anew, or search by words (BM25)"
            raise PreconditionError(Reason.SOURCES_MISSING, message, {"active_index": part.index})
        await call.compute(partial(search.add_lines_of, part, await call.wait_until_done(all_runs)))
        if search.stopped:
            break
    return search.result(snapshot)


def _compiled(request: TextSearchRequest) -> LinearPattern:
    try:
        return LinearPattern(
            request.pattern,
            is_literal=not request.regex,
            ignore_case=request.ignore_case,
            whole_words=request.whole_words,
            multiline=request.multiline,
        )
    except PatternError as error:
        rule = f"is no regular expression of RE2: {error}; correct it, or look for it as a text"
        raise InvalidRequestError((FieldViolation("pattern", Reason.VALUE_MALFORMED, rule),)) from error


class _TextSearch:
    """One search in one version after the other. `stopped` if there may be more lines than were found."""

    def __init__(self, request: TextSearchRequest, pattern: LinearPattern, call: Call) -> None:
        self._request = request
        self._pattern = pattern
        self._call = call
        self._matches: list[LineMatch] = []
        self._files: list[FileMatches] = []
        self._line_count = 0
        self.stopped = False

    def add_lines_of(self, part: IndexSnapshot, all_runs: SourceRuns) -> None:
        """Searches one version."""
        with stage("lines"):
            lines = self._lines_of(part.selected_source_runs(all_runs, self._call.checkpoint))
            self._call.checkpoint()
            self._line_count += len(lines)
            shown_lines = lines.first(self._request.max_matches - len(self._matches))
            self._matches += _described(part, shown_lines, self._request.context_lines, self._call.checkpoint)
            self._files += _files_of(part, lines)

    def result(self, snapshot: Snapshot) -> TextSearchResult:
        """The lines that were found in the versions."""
        matches, files = tuple(self._matches), tuple(self._files)
        return TextSearchResult(matches, files, self.stopped, snapshot.index, scopes_of(snapshot))

    def _lines_of(self, runs: SourceRuns) -> MatchingLines:
        """The first matching lines of a version by path and line, each once."""
        most_lines = MOST_LINES - self._line_count
        scan = LineScan(runs, self._pattern, multiline=self._request.multiline)
        lines = MatchingLines.of(islice(scan.matches(self._call.checkpoint), most_lines + 1), runs)
        self.stopped = len(lines) > most_lines
        return lines.first(most_lines).each_once()


def _described(
    part: IndexSnapshot, lines: MatchingLines, context_lines: int, checkpoint: Checkpoint
) -> list[LineMatch]:
    """Some lines with all that a response says of each."""
    rows, nodes = np.unique(lines.rows, return_inverse=True)
    labels, declarations = part.labels(as_positions(rows)), part.declarations(as_positions(rows))
    matches = []
    for line, node in zip(lines.lines(), nodes.tolist(), strict=True):
        checkpoint()
        text = shown(line, lines.runs.content)
        before, after = around(line, lines.runs, context_lines)
        matches.append(
            LineMatch(
                node=labels[node],
                kind=declarations[node].kind,
                line=line.number,
                column=text.match_column,
                length=text.match_length,
                end_line=line.number + text.match_breaks,
                shown=ShownLine(text.text, text.first_column),
                before=tuple(before),
                after=tuple(after),
            )
        )
    return matches


def _files_of(part: IndexSnapshot, lines: MatchingLines) -> list[FileMatches]:
    """The files of lines by path and number, with their counts."""
    _, first_places, counts = np.unique(lines.paths, return_index=True, return_counts=True)
    paths = part.paths(as_positions(lines.rows[first_places]))
    scope, links = part.scope, part.links
    return [
        FileMatches(scope, path, count, "" if links is None else links.link(path, 0, 0))
        for path, count in zip(paths, counts.tolist(), strict=True)
    ]
