"""Parts of the outputs for people."""

import sys
from collections.abc import Iterable, Sequence

from rich.console import Console, Group, RenderableType
from rich.text import Text

from groundwire.printable_text import printable
from groundwire.v1.query_pb2 import QueryResponse
from groundwire.v1.retrieval_pb2 import SearchNodesResponse, SearchTextResponse, SourceLocation
from groundwire.v1.scope_pb2 import IndexScope
from groundwire_client._helpers import scope_name, symbol_beside
from groundwire_client._source_lines import FileNode

_LINE_WIDTH = 160
"""The most characters of a line that is shown of a text."""
_PIPE_WIDTH = 10_000
_TAB_WIDTH = 4
_MOST_NAMES = 5


def line_width() -> int:
    """The most characters of a line of source: the width of the terminal, or less."""
    return min(Console().width, _LINE_WIDTH) if sys.stdout.isatty() else _LINE_WIDTH


def show(parts: Iterable[RenderableType]) -> None:
    """Prints parts with an empty line between.

    Into a pipe without colours, and wide enough to keep every id on one line. A character that the output's encoding
    lacks becomes `?`, as no text may end in a traceback.
    """
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="replace")
    console = Console(width=None if sys.stdout.isatty() else _PIPE_WIDTH, markup=False, emoji=False, highlight=False)
    for number, part in enumerate(parts):
        if number:
            console.print()
        # A text alone would lose its own rules for long lines: rich joins texts into new ones.
        console.print(Group(part), crop=False)


def node_id(scope: IndexScope, name: str) -> Text:
    """The whole id, so that it can be copied, with what the scope says already in the background."""
    prefix = f"{scope.repository}::{scope.branch}::"
    known = prefix if name.startswith(prefix) else ""
    return Text.assemble((printable(known), "dim"), (printable(name[len(known) :]), "bold"), overflow="fold")


def heading(rank: str, name: str, place: str, facts: Iterable[str]) -> Text:
    """A result: its rank, name and facts, and below them its place, whole and on a line of its own to be copied."""
    dim = ((f" · {printable(fact)}", "dim") for fact in facts if fact)
    second = f"\n{' ' * (len(rank) + 1)}{printable(place)}" if name else ""
    return Text.assemble(f"{rank} ", (printable(name or place), "bold"), *dim, second, no_wrap=True, overflow="ignore")


def origin(*, is_test: bool, is_generated: bool) -> str:
    """The marks of a node that is not ordinary code: `test`, `generated`, both or none."""
    return " ".join(word for word, holds in (("test", is_test), ("generated", is_generated)) if holds)


def place(location: SourceLocation, otherwise: str) -> str:
    """Path and lines, as far as they are known; `otherwise` replaces an unknown path."""
    first, last = location.start_line, location.end_line
    lines = f":{first}-{last}" if last > first > 0 else f":{first}" if first else ""
    return f"{location.path or otherwise}{lines}"


def text_block(scope: IndexScope, name: str, text: str, location: SourceLocation, otherwise: str, remark: str) -> Group:
    """A source text below its place and a remark, with line numbers where they are the file's.

    It has its id where that says more than the place, else its symbol.
    """
    run = FileNode(name, otherwise, location.start_line, location.end_line, printable(text)).run()
    source = plain("\n".join(run.rows(len(str(run.last)) if run.is_numbered else 0)))
    head = (printable(place(location, otherwise)), "bold"), f" · {printable(remark)}"
    title = Text.assemble(*head, no_wrap=True, overflow="ignore")
    if not (location.path and location.path in name):
        return Group(title, node_id(scope, name), source)
    symbol = symbol_beside(location.path, otherwise) if otherwise != name else ""
    return Group(title, *([Text(printable(symbol), overflow="fold")] if symbol else []), source)


def plain(text: str) -> Text:
    """Lines of a source: a long one is wrapped by the terminal, not cut into several."""
    return Text(text, no_wrap=True, overflow="ignore", tab_size=_TAB_WIDTH)


def scope_label(scope: IndexScope) -> str:
    """The repository and branch of a result of several; empty for one."""
    return scope_name(scope.repository, scope.branch)


def indexes(result: SearchNodesResponse | QueryResponse | SearchTextResponse) -> str:
    """The versions that answered: all of a few, else how many."""
    return result.index or versions(result.scopes)


def versions(scopes: Sequence[IndexScope]) -> str:
    """The versions of several scopes: all of a few, else how many."""
    names = [scope_name(scope.repository, scope.branch, scope.active_index) for scope in scopes]
    return ", ".join(names) if len(names) <= _MOST_NAMES else f"{len(names)} versions"


def footer(counts: str, index: str, remark: str) -> Text:
    """The size of a result, and the index version that answered."""
    return Text(printable("; ".join(filter(None, (counts, f"index: {index}", remark)))), style="dim")
