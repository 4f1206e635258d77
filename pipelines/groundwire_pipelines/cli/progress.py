"""The progress of a run: a line for each step that has ended, and on a terminal the current step."""

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.text import Text

from groundwire_client.cli import printable
from groundwire_pipelines.engine.trace import StepEnded, StepStarted, TraceEvent


class Progress:
    """Shows the events of one run on standard error.

    Use it as a context manager, which clears the line of the current step.
    """

    def __init__(self) -> None:
        self._console = Console(stderr=True, markup=False, emoji=False, highlight=False)
        self._status = self._console.status("")
        self._step = ""
        self._answered = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._status.stop()

    def answering(self, piece: str) -> None:
        """Shows how much of an answer has arrived, but not its text."""
        self._answered += len(piece)
        self._status.update(Text(f"{self._step}  {self._answered} characters"))

    def __call__(self, event: TraceEvent) -> None:
        """Shows one event."""
        match event:
            case StepStarted():
                self._step, self._answered = printable(f"{event.step_id} ({event.action})"), 0
                self._status.update(Text(self._step))
                self._status.start()
            case StepEnded():
                self._status.stop()
                self._console.print(_line(event), soft_wrap=True)
            case _:
                pass


def _line(event: StepEnded) -> Text:
    sign, style = {"ok": ("+", "green"), "failed": ("!", "red"), "cancelled": ("x", "yellow")}[event.ending]
    facts = [f"{name} {value}" for name, value in event.detail.items()]
    if event.prompt_tokens or event.completion_tokens:
        facts.append(f"model tokens {event.prompt_tokens} in, {event.completion_tokens} out")
    way = f" -> {event.transition}" if event.transition not in ("", "next") else ""
    return Text.assemble(
        (sign, style),
        " ",
        (printable(event.step_id), "bold"),
        printable(way),
        (printable(f"  {', '.join(facts)}"), "dim"),
        f"  {event.duration_seconds:.2f} s",
    )
