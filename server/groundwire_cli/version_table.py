"""The table of index versions that commands print."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from groundwire.printable_text import printable
from groundwire_index.store.version_entry import VersionEntry

_WIDE = 10_000
"""Columns that hold any name on one line, whatever the terminal's width: a name is there to be copied."""


def print_version_table(entries: Sequence[VersionEntry]) -> None:
    """Prints one line for each version."""
    table = Table(box=None, pad_edge=False)
    for heading in ("repository", "branch", "version", "active", "nodes", "edges", "created"):
        table.add_column(heading, justify="right" if heading in ("nodes", "edges") else "left", no_wrap=True)
    for entry in entries:
        names = (entry.repository, entry.branch, entry.version, "yes" if entry.active else "")
        counts = ("", "") if entry.damage else (f"{entry.node_count:,}", f"{entry.edge_count:,}")
        cells = (*names, *counts, f"damaged: {entry.damage}" if entry.damage else entry.created[:16])
        table.add_row(*map(printable, cells))
    Console(width=_WIDE).print(table, markup=False)
