"""SearchText: the lines that a literal or a regular expression matches."""

from dataclasses import dataclass

from groundwire_server.backends.interface import IndexSnapshot, Snapshot
from groundwire_server.domain.errors import FieldViolation, InvalidRequestError, PreconditionError, Reason
from groundwire_server.domain.search.candidates import as_positions
from groundwire_server.domain.search.search import Declaration, NodeLabel
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
    """Searches lines.

    Raises InvalidRequestError, PermissionDeniedError, NotFoundError, PreconditionError, or what the call's checkpoint
    raises.
    """
    check_text_search(request)
    pattern = _compiled(request)
    snapshot = await indexes.open(request, call)

    def searched() -> TextSearchResult:
        with stage("lines"):
            return _searched(request, pattern, snapshot, call)

    return await call.compute(searched)


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
        rule = f"is no regular expression of RE2: {error}; correct it, or leave out `regex` to look for it as it is"
        raise InvalidRequestError((FieldViolation("pattern", Reason.VALUE_MALFORMED, rule),)) from error


@dataclass(frozen=True, slots=True)
class _LabelledLine:
    """A matching line, the search that it comes from, and the node that holds it."""

    scan: LineScan
    matching: MatchingLine
    node: NodeLabel
    declaration: Declaration


def _searched(request: TextSearchRequest, pattern: LinearPattern, snapshot: Snapshot, call: Call) -> TextSearchResult:
    lines: list[_LabelledLine] = []
    stopped = False
    for part in snapshot.parts:
        lines_of_part, stopped = _lines_of(part, request, pattern, MOST_LINES - len(lines), call)
        lines += lines_of_part
        if stopped:
            break
    return TextSearchResult(
        matches=tuple(_shown(line, request.context_lines) for line in lines[: request.max_matches]),
        files=_by_file(lines),
        stopped=stopped,
        index=snapshot.index,
        scopes=scopes_of(snapshot),
    )


def _lines_of(
    part: IndexSnapshot, request: TextSearchRequest, pattern: LinearPattern, most_lines: int, call: Call
) -> tuple[list[_LabelledLine], bool]:
    """The first matching lines of a version by path and line, each once, and whether there may be more."""
    runs = part.source_runs
    if runs is None:
        message = f"index {part.index!r} has no texts of files; search by words (BM25), or serve it from a folder"
        raise PreconditionError(Reason.SOURCES_MISSING, message, {"active_index": part.index})
    scan = LineScan(runs, pattern, multiline=request.multiline)
    matching_lines: list[MatchingLine] = []
    stopped = False
    for matching in scan.lines(call.checkpoint):
        if len(matching_lines) == most_lines:
            stopped = True
            break
        matching_lines.append(matching)
    rows = as_positions(dict.fromkeys(int(runs.rows[matching.run]) for matching in matching_lines))
    labels = dict(zip(rows.tolist(), part.labels(rows), strict=True))
    declarations = dict(zip(rows.tolist(), part.declarations(rows), strict=True))
    call.checkpoint()
    lines = []
    for matching in matching_lines:
        row = int(runs.rows[matching.run])
        lines.append(_LabelledLine(scan, matching, labels[row], declarations[row]))
    return _each_once(lines), stopped


def _each_once(lines: list[_LabelledLine]) -> list[_LabelledLine]:
    """The lines by path and number. Of nodes that both have a line, the one with the fewest lines holds it."""
    kept: dict[tuple[str, int], _LabelledLine] = {}
    for line in sorted(lines, key=_line_count_of_node):
        kept.setdefault((line.node.location.path or line.node.id, line.matching.number), line)
    return [kept[place] for place in sorted(kept)]


def _line_count_of_node(line: _LabelledLine) -> int:
    return line.node.location.end_line - line.node.location.start_line


def _shown(line: _LabelledLine, context_lines: int) -> LineMatch:
    shown = line.scan.shown(line.matching)
    before, after = line.scan.around(line.matching, context_lines)
    return LineMatch(
        node=line.node,
        kind=line.declaration.kind,
        line=line.matching.number,
        column=shown.match_column,
        length=shown.match_length,
        end_line=line.matching.number + shown.match_breaks,
        shown=ShownLine(shown.text, shown.first_column),
        before=tuple(before),
        after=tuple(after),
    )


def _by_file(lines: list[_LabelledLine]) -> tuple[FileMatches, ...]:
    files: dict[tuple[str, str], FileMatches] = {}
    for line in lines:
        scope, path = line.node.id.rsplit("::", 2)[0], line.node.location.path
        known = files.get((scope, path or line.node.id))
        count = 1 if known is None else known.line_count + 1
        files[scope, path or line.node.id] = FileMatches(known.node_id if known else line.node.id, path, count)
    return tuple(files.values())
