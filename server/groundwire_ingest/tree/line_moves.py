"""Whether two readings of one file differ only in the texts of its nodes and in the lines where things are.

Then the edges of the file lead to where they led before, from other lines: names are resolved by what files state, and
of lines only their order within the file counts. Such an edit is one of a comment, or of an expression without names.
"""

from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from itertools import pairwise

from groundwire_ingest.records import LineMoves, SourceEdge, SourceNode
from groundwire_ingest.tree.code_facts import CodeAnalysis, Definition
from groundwire_ingest.tree.file_analysis import FileAnalysis
from groundwire_ingest.tree.single_file import FileReport

_LINE = "line"
_NOT_COMPARED: Mapping[type, frozenset[str]] = {
    SourceNode: frozenset(("text", "start_line", "end_line", "origin")),
    SourceEdge: frozenset(("origin", "line")),
    FileAnalysis: frozenset(("text",)),
    FileReport: frozenset(("text",)),
}
"""The fields of each type that no edges of names follow from.

The edges of a FileReport are those from nodes to nodes in them, whose lines are where these begin.
"""


def line_moves(before: FileReport, now: FileReport) -> LineMoves | None:
    """How the lines of a file moved; None if more than texts and lines differ, or if lines changed their order.

    Only code, and files that nothing leads to but their path, are compared: others are read by their lines.
    """
    if not isinstance(now.content, CodeAnalysis | FileAnalysis):
        return None
    new_lines: dict[int, int] = {}
    if not _differ_in_lines_only(before, now, new_lines):
        return None
    in_order = [new_lines[line] for line in sorted(new_lines)]
    keeps_order = all(line < following for line, following in pairwise(in_order))
    return LineMoves(new_lines) if keeps_order else None


def _differ_in_lines_only(before: object, now: object, new_lines: dict[int, int]) -> bool:
    """Compares two values, and notes the new line of each line in them."""
    if type(before) is not type(now):
        return False
    if isinstance(before, tuple) and isinstance(now, tuple):
        pairs = zip(before, now, strict=False)
        return len(before) == len(now) and all(_differ_in_lines_only(old, new, new_lines) for old, new in pairs)
    kind: type = type(before)
    names = _compared_fields(kind)
    if not names:
        return before == now
    is_file = isinstance(before, Definition) and before.construct == "module"
    for name in names:
        old, new = getattr(before, name), getattr(now, name)
        if name == _LINE and isinstance(old, int) and isinstance(new, int):
            if is_file and old == new == 1:
                continue
            if (old == 0) != (new == 0) or new_lines.setdefault(old, new) != new:
                return False
        elif not _differ_in_lines_only(old, new, new_lines):
            return False
    return True


@cache
def _compared_fields(kind: type) -> tuple[str, ...]:
    """The fields of a dataclass that are compared; none for another type, whose values are compared as they are."""
    names = [item.name for item in fields(kind)] if hasattr(kind, "__dataclass_fields__") else []
    return tuple(name for name in names if name not in _NOT_COMPARED.get(kind, ()))
