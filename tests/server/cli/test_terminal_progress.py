"""What a build shows of its progress where there is no terminal."""

from collections.abc import Callable, Sequence
from io import StringIO

from rich.console import Console

from groundwire_cli.terminal_progress import SECONDS_BETWEEN_LINES, TerminalProgress


def shown(stage: Callable[[TerminalProgress, "Clock"], None]) -> list[str]:
    console, clock = Console(file=StringIO(), force_terminal=False), Clock()
    stage(TerminalProgress(console, clock), clock)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue().splitlines()


class Clock:
    """Stands still unless moved."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


def embedding(
    steps: Sequence[tuple[float, int]], total: int, price: float = 0.0
) -> Callable[[TerminalProgress, Clock], None]:
    """A stage that has so much done after so many seconds."""

    def run(progress: TerminalProgress, clock: Clock) -> None:
        start = clock.seconds
        with progress.stage("Embedding", "texts", price) as report:
            for seconds, done in steps:
                clock.seconds = start + seconds
                report(done, total)

    return run


def test_a_line_every_few_seconds_tells_the_time_left() -> None:
    steps = [(float(second), 300 * second) for second in range(12)]
    assert shown(embedding(steps, 6_000)) == [
        "Embedding: 1,500 of 6,000 texts, 300/s, 0:00:15 left",
        "Embedding: 3,000 of 6,000 texts, 300/s, 0:00:10 left",
    ]


def test_a_stage_that_costs_something_says_at_once_what_is_left_to_pay() -> None:
    steps = [(0.0, 0), (3.0, 300_000), (6.0, 600_000)]
    assert shown(embedding(steps, 2_000_000, price=0.15)) == [
        "Embedding: 0 of 2,000,000 texts, costs 0.30 more",
        "Embedding: 600,000 of 2,000,000 texts, 100,000/s, 0:00:14 left, costs 0.21 more",
    ]


def test_a_stage_of_unknown_length_tells_its_rate() -> None:
    steps = [(float(second), 10 * second) for second in range(6)]
    assert shown(embedding(steps, 0)) == ["Embedding: 50 texts, 10/s"]


def test_a_short_stage_says_nothing() -> None:
    assert shown(embedding([(0.0, 0), (SECONDS_BETWEEN_LINES - 0.1, 10)], 10)) == []
