"""`groundwire diff`: what one index version has that another has not, or has otherwise."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from itertools import islice
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from groundwire.printable_text import one_line
from groundwire_cli.options import EXIT_USAGE, Branch, Repository, checked_scope, fail, pinned_scope, reporting_failures
from groundwire_cli.storage_options import Place, with_storage

if TYPE_CHECKING:
    from groundwire_index.difference.difference import ChangeName, Difference

_PATHS_SHOWN = 20
_NODES_SHOWN = 20
_SIGNS = {"added": "+", "removed": "-", "changed": "~"}


@with_storage
def diff(
    repository: Repository,
    branch: Branch,
    old: Annotated[str, typer.Argument(help="The older version; the active one unless given.")] = "",
    new: Annotated[str, typer.Argument(help="The newer version; the active one unless given.")] = "",
    to_branch: Annotated[str, typer.Option(help="The branch of NEW, if it is another one.")] = "",
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a line of JSON for each change, and one with the counts.")
    ] = False,
    *,
    place: Place,
) -> None:
    """Compare two index versions, or two branches: nodes and edges, whatever their access."""
    scopes = checked_scope(repository, branch, old), checked_scope(repository, to_branch or branch, new)
    with reporting_failures():
        from groundwire_index.difference.difference import Difference

        storage = place.open()
        older, newer = (pinned_scope(storage, scope) for scope in scopes)
        if older == newer:
            fail(f"both are {older.active_index} of {repository} {branch}; name another OLD", EXIT_USAGE)
        with storage.opened(older) as before, storage.opened(newer) as after:
            difference = Difference(before, after)
            if as_json:
                _print_json(difference)
            else:
                _print_text(difference)


def _print_json(difference: "Difference") -> None:
    """A line for each change, without what is empty, and one with the counts."""
    for kind, changes in (("node", difference.node_changes()), ("edge", difference.edge_changes())):
        for change in changes:
            given_fields = {key: value for key, value in asdict(change).items() if value}
            print(json.dumps({"type": kind} | given_fields, ensure_ascii=False))
    nodes, edges = difference.node_counts(), difference.edge_counts()
    node_totals: dict[str, object] = {name: counts.total() for name, counts in nodes.by_kind.items()}
    summary = {
        "type": "summary",
        "old": difference.old.scope.names,
        "new": difference.new.scope.names,
        "nodes": node_totals | {"fields": nodes.fields},
        "edges": {name: counts.total() for name, counts in edges.items()},
    }
    print(json.dumps(summary, ensure_ascii=False))


def _print_text(difference: "Difference") -> None:
    console = Console(markup=False, highlight=False, soft_wrap=True)
    old, new = difference.old.scope, difference.new.scope
    heading = f"{old.repository}: from {old.branch} {old.active_index} to {new.branch} {new.active_index}"
    console.print(one_line(heading))
    nodes, edges = difference.node_counts(), difference.edge_counts()
    _print_counts(console, "nodes by kind", nodes.by_kind)
    _print_counts(console, "nodes by path", nodes.by_path)
    _print_counts(console, "edges by type", edges)
    if nodes.fields:
        fields = ", ".join(f"{name} {count:,}" for name, count in nodes.fields.most_common())
        console.print(f"changed nodes differ in: {fields}")
    for change in islice(difference.node_changes(), _NODES_SHOWN):
        differs = f" ({', '.join(change.fields)})" if change.fields else ""
        console.print(one_line(f"{_SIGNS[change.change]} {change.id}{differs}"))
    count = sum(counts.total() for counts in nodes.by_kind.values())
    if count > _NODES_SHOWN:
        console.print(f"... and {count - _NODES_SHOWN:,} more nodes; --json lists all, and the edges")


def _print_counts(console: Console, heading: str, counts: Mapping["ChangeName", Counter[str]]) -> None:
    """A row for each name, the most changed first, and the sums."""
    sums = sum(counts.values(), Counter[str]())  # without what is 0 in all
    table = Table(heading, *counts)
    for column in table.columns[1:]:
        column.justify = "right"
    names = sorted(sums, key=lambda name: (-sums[name], name))
    for name in names[:_PATHS_SHOWN]:
        table.add_row(Text(one_line(name) or "(none)"), *(f"{each[name]:,}" for each in counts.values()))
    if len(names) > _PATHS_SHOWN:
        table.add_row(f"... {len(names) - _PATHS_SHOWN:,} more")
    table.add_row("all", *(f"{each.total():,}" for each in counts.values()))
    console.print(table)
