"""`grep`: the lines that a text or a regular expression matches."""

import sys
from collections.abc import Iterator
from typing import Annotated

import typer

from groundwire.printable_text import printable
from groundwire.v1.retrieval_pb2 import LineMatch, SearchTextResponse
from groundwire.v1.scope_pb2 import IndexScope
from groundwire_client import _defaults as defaults
from groundwire_client._helpers import scope_name
from groundwire_client.cli._call_options import CallOptions
from groundwire_client.cli._command_signatures import with_options
from groundwire_client.cli._filter_options import FilterOptions
from groundwire_client.cli._parts import footer, indexes, show


@with_options(FilterOptions, CallOptions)
def grep(
    narrowing: FilterOptions,
    options: CallOptions,
    pattern: Annotated[str, typer.Argument(help="The text to look for, or with --regex a regular expression (RE2).")],
    regex: Annotated[bool, typer.Option("--regex", "-e", help="The pattern is a regular expression.")] = False,
    ignore_case: Annotated[bool, typer.Option("--ignore-case", "-i", help="Letters match in either case.")] = False,
    whole_words: Annotated[bool, typer.Option("--words", "-w", help="A match begins and ends with a word.")] = False,
    multiline: Annotated[bool, typer.Option("--multiline", "-U", help="A match may hold line breaks.")] = False,
    max_matches: Annotated[int, typer.Option("--max-matches", "-m", help="The most lines.")] = defaults.MAX_LINES,
    context: Annotated[int, typer.Option("--context", "-C", help="The lines before and after each match.")] = 0,
) -> None:
    """Find the lines that a text or a regular expression matches, in all files, by path and line."""
    options.answer(
        lambda client, scopes: client.search_text(
            scopes,
            pattern,
            regex=regex,
            ignore_case=ignore_case,
            whole_words=whole_words,
            multiline=multiline,
            max_matches=max_matches,
            context_lines=context,
            filter=narrowing.filter,
            lifecycle=narrowing.lifecycle,
        ),
        print_lines,
        narrowing.filter,
    )


def print_lines(_: IndexScope, response: SearchTextResponse) -> None:
    """Each matching line as `PATH:LINE:COLUMN:TEXT`, which editors read, and those around it as `PATH-LINE-TEXT`."""
    for match in response.matches:
        for line in _lines(match):
            sys.stdout.write(f"{printable(line)}\n")
    counts = f"lines: {response.line_count}; files: {response.file_count}"
    nothing = "" if response.line_count else "nothing matches; --ignore-case and a shorter pattern match more"
    remark = nothing if response.complete else f"shown are the first {len(response.matches)}; --max-matches shows more"
    if response.stopped:
        remark = f"{remark}; the search ended there, narrow it by --path or --language"
    show([footer(counts, indexes(response), remark)])


def _lines(match: LineMatch) -> Iterator[str]:
    place = match.path or match.node_id
    if match.HasField("scope"):
        place = f"{scope_name(match.scope.repository, match.scope.branch)}/{place}"
    for number, text in enumerate(match.before, start=match.line - len(match.before)):
        yield f"{place}-{number}-{text}"
    yield f"{place}:{match.line}:{match.column}:{_with_marks(match)}"
    first_after = match.end_line + 1
    for number, text in enumerate(match.after, start=first_after):
        yield f"{place}-{number}-{text}"


def _with_marks(match: LineMatch) -> str:
    """The line, with `…` where its beginning was cut."""
    return f"…{match.text}" if match.text_column > 1 else match.text
