"""The report of `groundwire index` on a build."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from groundwire.printable_text import one_line
from groundwire_index.storage import Storage
from groundwire_ingest.repositories.indexing import Unchanged

if TYPE_CHECKING:
    from groundwire_ingest.build.build import BuildReport
    from groundwire_ingest.records import SkippedFile

_PATHS_SHOWN = 3
_ROWS_SHOWN = 50
"""Of kinds, of types of edges, and of reasons: the most frequent ones."""
_AT_LINE = re.compile(r" at line (\d+)")
_OF_SUFFIX = re.compile(r" \(\.[^()]+\)$")


def print_outcome(outcome: "BuildReport | Unchanged", storage: Storage) -> None:
    """Prints what was built, or that nothing was."""
    if isinstance(outcome, Unchanged):
        print(unchanged_line(outcome))
    else:
        _print_report(outcome, storage.skipped_file(outcome.scope))


def unchanged_line(outcome: Unchanged) -> str:
    """That a version stays active."""
    scope = outcome.scope
    return one_line(f"{scope.repository} {scope.branch}: unchanged, {scope.active_index} stays active")


def _print_report(report: "BuildReport", skipped_file: Path | None) -> None:
    console = Console(markup=False)  # names of a source are no markup
    scope = report.scope
    state = "active" if report.activated else "published, not active"
    names = one_line(f"{scope.repository} {scope.branch} {scope.active_index}")
    console.print(Text.assemble((names, "bold"), f" ({state}) from {one_line(str(report.source))}"))
    table = Table("what", "count", show_header=True)
    table.columns[1].justify = "right"
    table.add_row("nodes", f"{report.node_count:,}")
    _add_rows(table, report.kinds)
    table.add_row("edges", f"{sum(count for _, count in report.edge_types):,}")
    _add_rows(table, report.edge_types)
    if report.dropped_edges:
        table.add_row("dangling edges dropped", f"{report.dropped_edges:,}")
    table.add_row("texts embedded", f"{report.embedded:,}")
    table.add_row("embeddings reused", f"{report.reused:,}")
    table.add_row("files skipped, in whole or part", f"{len(report.skipped):,}")
    console.print(table)
    for pattern in report.unused_patterns:
        _print_line(console, f"--exclude {pattern}: no path matches this pattern")
    by_reason: dict[str, list[str]] = {}
    for skipped in report.skipped:
        reason, place = _reason(skipped)
        by_reason.setdefault(reason, []).append(place)
    frequent = sorted(by_reason.items(), key=lambda item: (-len(item[1]), item[0]))
    for why, paths in sorted(frequent[:_ROWS_SHOWN]):
        # Where there is no such file, this is the only list.
        shown = len(paths) if skipped_file is None else _PATHS_SHOWN
        named = ", ".join(paths[:shown]) + (", ..." if len(paths) > shown else "")
        _print_line(console, f"skipped {len(paths):,}: {why}: {named}")
    if len(frequent) > _ROWS_SHOWN:
        other = sum(len(paths) for _, paths in frequent[_ROWS_SHOWN:])
        console.print(f"skipped for {len(frequent) - _ROWS_SHOWN:,} other reasons: {other:,}", highlight=False)
    if report.skipped and skipped_file is not None:
        _print_line(console, f"all of them, by name: {skipped_file}")


def _reason(skipped: "SkippedFile") -> tuple[str, str]:
    """The reason without what differs from file to file, and the place: with the line, if the reason names one."""
    line = _AT_LINE.search(skipped.why)
    if line is None:
        return _OF_SUFFIX.sub("", skipped.why), skipped.path
    return skipped.why[: line.start()] + skipped.why[line.end() :], f"{skipped.path}:{line[1]}"


def _add_rows(table: Table, counts: Sequence[tuple[str, int]]) -> None:
    """The counts in their order; of many the largest."""
    largest = sorted(counts, key=lambda item: (-item[1], item[0]))[:_ROWS_SHOWN]
    shown = {name for name, _ in largest}
    for name, count in counts:
        if name in shown:
            table.add_row(f"  {one_line(name)}", f"{count:,}")
    if len(counts) > len(shown):
        rest = sum(count for name, count in counts if name not in shown)
        table.add_row(f"  {len(counts) - len(shown):,} others", f"{rest:,}")


def _print_line(console: Console, line: str) -> None:
    console.print(one_line(line), highlight=False, soft_wrap=True)
