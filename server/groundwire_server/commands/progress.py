"""Progress of a build on the terminal: a bar for each stage with count, rate and time left."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text


class _RateColumn(ProgressColumn):
    def render(self, task: Task) -> Text:
        """Items a second."""
        return Text(f"{task.speed:,.0f}/s" if task.speed else "", style="progress.data.speed")


class TerminalProgress:
    """Implements `ingest.progress.Progress`; prints nothing where stderr is no terminal."""

    def __init__(self) -> None:
        self._console = Console(stderr=True)

    @contextmanager
    def stage(self, name: str) -> Iterator[Callable[[int, int], None]]:
        """See `Progress.stage`."""
        columns = (
            TextColumn(f"{name:16}"),
            BarColumn(),
            MofNCompleteColumn(),
            _RateColumn(),
            TimeRemainingColumn(compact=True),
        )
        with Progress(*columns, console=self._console, disable=not self._console.is_terminal) as bars:
            bar = bars.add_task(name, total=None)
            yield lambda done, total: bars.update(bar, completed=done, total=total or None)
