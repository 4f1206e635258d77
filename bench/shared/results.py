"""Results as tables on the terminal and in Markdown, and as JSON; and errors."""

import json
import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

ABSENT = "-"
"""The text of an empty cell."""
MEBIBYTE = 1 << 20
_PACKAGES = ("groundwire", "numpy", "faiss-cpu", "sentence-transformers", "torch", "pystemmer", "grpcio")
# Tables keep their columns where the output is no terminal or a narrow one.
console = Console(width=max(150, Console().width))


@dataclass(frozen=True, slots=True)
class Grid:
    """A table of texts; the first column names the rows."""

    title: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]


@contextmanager
def explained(*errors: type[Exception]) -> Iterator[None]:
    """Ends with a message, without a traceback, on these errors, and on OSError and RuntimeError."""
    mendable: tuple[type[Exception], ...] = (OSError, RuntimeError, *errors)
    try:
        yield
    except mendable as error:
        console.print(f"[red]error:[/red] {escape(str(error))}")
        raise typer.Exit(1) from None


def markdown(tables: Sequence[Grid]) -> str:
    """Tables in Markdown."""
    lines = []
    for grid in tables:
        lines += [f"**{grid.title}**", "", _line(grid.headings), _line(["---", *["---:"] * (len(grid.headings) - 1)])]
        lines += [*map(_line, grid.rows), ""]
    return "\n".join(lines)


def write_results(out: Path, name: str, tables: Sequence[Grid], content: Mapping[str, object], notes: str = "") -> None:
    """Prints tables; writes them with `notes` as `NAME.md`, and `content`, machine, versions, date as `NAME.json`."""
    out.mkdir(parents=True, exist_ok=True)
    for grid in tables:
        table = Table(title=grid.title, box=SIMPLE_HEAD)
        for position, heading in enumerate(grid.headings):
            table.add_column(heading, justify="right" if position else "left", no_wrap=True)
        for row in grid.rows:
            table.add_row(*row)
        console.print(table)
    (out / f"{name}.md").write_text(f"{markdown(tables)}{notes}", encoding="utf-8")
    whole = {**content, "environment": _environment()}
    (out / f"{name}.json").write_text(json.dumps(whole, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _environment() -> dict[str, object]:
    """The date in UTC, the machine, and the versions of what decides scores and times."""
    processors = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "processor": next((line.partition(": ")[2] for line in processors if line.startswith("model name")), ""),
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "versions": {"python": platform.python_version(), **{name: version(name) for name in _PACKAGES}},
    }


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
