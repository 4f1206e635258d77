"""SearchText: the lines that a literal or a regular expression matches."""

from dataclasses import dataclass
from functools import partial
from itertools import islice

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
from groundwire_server.engine.line_scan import LineScan, MatchingLine
from groundwire_server.engine.linear_pattern import LinearPattern, PatternError
from groundwire_server.engine.retrieval import scopes_of
from groundwire_server.execution.call import Call
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


@dataclass(frozen=True, slots=True)
class _PartLines:
    """The matching lines of one version by path and line, each once; `stopped` if there may be more."""

    part: IndexSnapshot
    scan: LineScan
    runs: SourceRuns
    lines: list[MatchingLine]
    stopped: bool

    def shown(self, lines: list[MatchingLine], context_lines: int) -> list[LineMatch]:
        """Some of these lines with what is told of each."""
        rows = as_positions(int(self.runs.rows[line.run]) for line in lines)
        labels, declarations = self.part.labels(rows), self.part.declarations(rows)
        matches = []
        for line, node, declaration in zip(lines, labels, declarations, strict=True):
            text = self.scan.shown(line)
            before, after = self.scan.around(line, context_lines)
            matches.append(
                LineMatch(
                    node=node,
                    kind=declaration.kind,
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

    def files(self) -> list[FileMatches]:
        """The files of the lines, with their counts."""
        counts: dict[int, int] = {}
        first_rows: dict[int, int] = {}
        for line in self.lines:
            path = int(self.runs.paths[line.run])
            counts[path] = counts.get(path, 0) + 1
            first_rows.setdefault(path, int(self.runs.rows[line.run]))
        labels = self.part.labels(as_positions(first_rows.values()))
        return [
            FileMatches(node.id, node.location.path, count, node.location.url_of_lines(0, 0))
            for node, count in zip(labels, counts.values(), strict=True)
        ]


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
            part_lines = self._lines_of(part, part.selected_source_runs(all_runs, self._call.checkpoint))
            self._call.checkpoint()
            self._line_count += len(part_lines.lines)
            shown_lines = part_lines.lines[: self._request.max_matches - len(self._matches)]
            self._matches += part_lines.shown(shown_lines, self._request.context_lines)
            self._files += part_lines.files()
            self.stopped = part_lines.stopped

    def result(self, snapshot: Snapshot) -> TextSearchResult:
        """The lines that were found in the versions."""
        matches, files = tuple(self._matches), tuple(self._files)
        return TextSearchResult(matches, files, self.stopped, snapshot.index, scopes_of(snapshot))

    def _lines_of(self, part: IndexSnapshot, runs: SourceRuns) -> _PartLines:
        """The first matching lines of a version."""
        most_lines = MOST_LINES - self._line_count
        scan = LineScan(runs, self._pattern, multiline=self._request.multiline)
        lines = list(islice(scan.lines(self._call.checkpoint), most_lines + 1))
        stopped = len(lines) > most_lines
        return _PartLines(part, scan, runs, _each_once(lines[:most_lines], runs), stopped)


def _each_once(lines: list[MatchingLine], runs: SourceRuns) -> list[MatchingLine]:
    """The lines by path and number. Of nodes that both have a line, the one that begins last holds it."""
    kept: dict[tuple[int, int], MatchingLine] = {}
    for line in lines:
        place = int(runs.paths[line.run]), line.number
        known = kept.get(place)
        if known is None or runs.first_lines[line.run] > runs.first_lines[known.run]:
            kept[place] = line
    return [kept[place] for place in sorted(kept)]
