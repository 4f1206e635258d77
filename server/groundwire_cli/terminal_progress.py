"""Progress of a build: count, rate and time left of each stage, as a bar on a terminal and in lines elsewhere."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

SECONDS_BETWEEN_LINES = 5.0
"""Between two lines of a stage where there is no terminal; shorter stages say nothing unless they cost something."""

_RATE_OVER_SECONDS = 120.0
"""The time over which the rate is computed: some stages report progress only every few seconds."""


class _CountColumn(ProgressColumn):
    def render(self, task: Task) -> Text:
        """How much of what is done."""
        return Text(_count(task), style="progress.download")


class _RateColumn(ProgressColumn):
    def render(self, task: Task) -> Text:
        """Items a second."""
        return Text(f"{task.speed:,.0f}/s" if task.speed else "", style="progress.data.speed")


class _CostColumn(ProgressColumn):
    def render(self, task: Task) -> Text:
        """The price of what is left."""
        return Text(_cost_left(task))


class TerminalProgress:
    """Implements `groundwire_index.progress.Progress` on a console, stderr unless given.

    It shows bars where the console is a terminal, else a line every SECONDS_BETWEEN_LINES. `clock` gives seconds.
    """

    def __init__(self, console: Console | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._console = console or Console(stderr=True)
        self._clock = clock

    @contextmanager
    def stage(self, name: str, unit: str, price: float = 0.0) -> Iterator[Callable[[int, int], None]]:
        """Yields what is told how much of the stage is done, and of how much."""
        columns = (
            TextColumn(f"{name:16}"),
            BarColumn(),
            _CountColumn(),
            _RateColumn(),
            TimeRemainingColumn(compact=True),
            _CostColumn(),
        )
        has_bars = self._console.is_terminal
        with Progress(
            *columns,
            console=self._console,
            speed_estimate_period=_RATE_OVER_SECONDS,
            get_time=self._clock,
            disable=not has_bars,
        ) as bars:
            bar = bars.add_task(name, total=None, price=price, unit=unit)
            last_line = self._clock() - (SECONDS_BETWEEN_LINES if price else 0.0)

            def report(done: int, total: int) -> None:
                nonlocal last_line
                bars.update(bar, completed=done, total=total or None)
                if not has_bars and self._clock() - last_line >= SECONDS_BETWEEN_LINES:
                    last_line = self._clock()
                    self._console.print(_line(bars.tasks[0]), markup=False, highlight=False, soft_wrap=True)

            yield report


def _cost_left(task: Task) -> str:
    price: float = task.fields["price"]
    return f"costs {task.remaining * price / 1e6:,.2f} more" if price and task.remaining is not None else ""


def _count(task: Task) -> str:
    """How much of what is done: `1,200 of 7,451 files`, or `1,200 records` where the total is unknown."""
    total = "" if task.total is None else f" of {task.total:,.0f}"
    return f"{task.completed:,.0f}{total} {task.fields['unit']}"


def _line(task: Task) -> str:
    """How far a stage is, in words: `Embedding: 512 of 1,904 tokens, 300/s, 0:00:05 left, costs 0.10 more`."""
    parts = [_count(task)]
    if task.speed:
        parts.append(f"{task.speed:,.0f}/s")
    if task.time_remaining:
        parts.append(f"{timedelta(seconds=round(task.time_remaining))} left")
    if cost := _cost_left(task):
        parts.append(cost)
    return f"{task.description}: {', '.join(parts)}"
